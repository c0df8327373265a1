// csr.hpp - a read-only compressed row view of a graph; neighbors are sorted within each row.
#pragma once
#include <cstdint>
#include <span>

#include "graphlode/memory.hpp"
#include "graphlode/prefetch.hpp"

namespace graphlode {

template <class Vertex>
struct csr_view {
  const std::int64_t* offsets;
  const Vertex* neighbors;
  std::int64_t num_vertices;

  std::int64_t num_entries() const { return offsets[num_vertices]; }
  std::int64_t degree(std::int64_t v) const { return offsets[v + 1] - offsets[v]; }
  std::span<const Vertex> row(std::int64_t v) const {
    return {neighbors + offsets[v], static_cast<std::size_t>(degree(v))};
  }
  // Loops over rows in scattered order wait for memory unless they prefetch: first the offset, later the row.
  void prefetch_offset(std::int64_t v) const { prefetch(offsets + v); }
  void prefetch_row(std::int64_t v) const { prefetch(neighbors + offsets[v]); }
};

template <class Vertex>
struct csr {
  buffer<std::int64_t> offsets;
  buffer<Vertex> neighbors;
};

}  // namespace graphlode
