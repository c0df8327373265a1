// supports.hpp - the graph that motifs and orbits are counted on: both directions of every edge in the ranks of the
// degree order, edge ids, and the number of triangles at each edge.
//
// Ranks ascend by (degree, vertex), so the first neighbors of a row are those of smallest degree and the last ranks
// are the hubs. Edge ids run through the lower neighbors of row 0, row 1 and so on.
#pragma once
#include <cstdint>
#include <span>

#include "graphlode/control.hpp"
#include "graphlode/csr.hpp"
#include "graphlode/memory.hpp"

namespace graphlode::mining::motifs {

using rank = std::int32_t;

struct supported_view {
  const std::int64_t* offsets;
  const rank* neighbors;
  const std::int32_t* lower;      // neighbors below the row's own rank; they come first
  const std::int32_t* edges;      // edge id of each entry
  const std::int32_t* triangles;  // by edge id
  std::int64_t num_vertices;

  std::int64_t num_entries() const { return offsets[num_vertices]; }
  std::int64_t num_edges() const { return num_entries() / 2; }
  std::int64_t degree(std::int64_t u) const { return offsets[u + 1] - offsets[u]; }
  std::span<const rank> row(std::int64_t u) const {
    return {neighbors + offsets[u], static_cast<std::size_t>(degree(u))};
  }
};

struct supported {
  buffer<std::int64_t> offsets;
  buffer<rank> neighbors;
  buffer<std::int32_t> lower, edges, triangles;
  buffer<rank> vertices;  // the vertex of each rank
};

// Of a symmetric graph with sorted rows and fewer than 2^31 edges.
supported build_supported(const csr_view<std::int32_t>& graph, int threads, const control& ctl);

}  // namespace graphlode::mining::motifs
