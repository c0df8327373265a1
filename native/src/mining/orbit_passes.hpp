// orbit_passes.hpp - the passes that fill the raw arrays of orbits.
#pragma once
#include "graphlode/mining/orbits.hpp"
#include "motif_graph.hpp"
#include "motif_neighborhoods.hpp"

namespace graphlode::mining::motifs {

// Everything about pairs with common neighbours, and about 4-cliques: e5, e11, o36, o46, .. o71, e30, e42, .. e66.
void add_pair_orbits(const motif_graph& graph, const neighborhoods& around, raw_arrays& found, int threads,
                     const control& ctl);

// e5 alone.
void add_squares(const motif_graph& graph, raw_arrays& found, int threads, const control& ctl);

// Sums over triangles of degrees and of triangles at edges.
void add_triangle_orbits(const motif_graph& graph, raw_arrays& found, int threads, const control& ctl);

// Sums over triangles of what other passes found: o52, o59, o65, e39, e45, e52, e53, e59.
void add_composed_orbits(const motif_graph& graph, raw_arrays& found, int threads, const control& ctl);

// 5-cycles at each edge, or at each vertex.
void add_five_cycles(const motif_graph& graph, raw_arrays& found, int threads, const control& ctl);

// k-cliques at each edge, if `of_edges` is wanted, or else at each vertex.
void add_cliques(const motif_graph& graph, int k, raw of_edges, raw of_vertices, raw_arrays& found, int threads,
                 const control& ctl);

// Calls visit(i, v, each) for every edge of u and a lower v that is in triangles; v is neighbour i of u. each(common)
// calls common(w, at_u, at_v) for every common neighbour w; at_u and at_v are its entries in both rows. `marks` is 0
// for every vertex, before and after.
template <class Visit>
void visit_triangles(const motif_graph& graph, std::int64_t u, std::int32_t* marks, const Visit& visit) {
  if (graph.triangles_of(u) == 0) return;
  const auto row = graph.row(u);
  for (std::size_t i = 0; i < row.size(); ++i) marks[row[i]] = static_cast<std::int32_t>(i + 1);
  for (std::int64_t i = 0; i < graph.lower[u]; ++i)
    if (const auto count = graph.supports(u)[i]) {
      const auto v = row[static_cast<std::size_t>(i)];
      visit(i, v, [&](const auto& common) {
        const auto first = graph.offsets[v];
        auto left = count;
        for (auto e = first; left > 0; ++e)
          if (const auto mark = marks[graph.neighbors[e]]) {
            common(graph.neighbors[e], graph.offsets[u] + mark - 1, e);
            --left;
          }
      });
    }
  for (const auto v : row) marks[v] = 0;
}

}  // namespace graphlode::mining::motifs
