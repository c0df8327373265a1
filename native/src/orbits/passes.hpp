// orbits/passes.hpp - the passes that fill the raw arrays of orbits, for some rows at a time.
//
// Which row a number belongs to is the same on every device, so that any partition of the rows among them adds up: a
// walk u-x-v and what is found around it to u; a triangle to u, if it is looked at from the edge ux; a 5-cycle to its
// highest vertex, a 5-clique to its lowest.
#pragma once
#include <vector>

#include "graphlode/mining/orbits.hpp"
#include "motifs/cliques.hpp"
#include "motifs/graph.hpp"
#include "motifs/neighborhoods.hpp"
#include "motifs/queue.hpp"

namespace graphlode::mining::motifs {

// Everything about pairs with common neighbors, and about 4-cliques: e5, e11, o36, o46, .. o71, e30, e42, .. e66.
// Twice e11, o71, e60 and e65.
void add_pair_orbits(const motif_graph& graph, const neighborhoods& around, row_range rows, raw_arrays& found,
                     int threads, const control& ctl);

// Sums over triangles of degrees and of triangles at edges; twice o25 and o61. `ahead` has what lies beyond all
// neighbors.
void add_triangle_orbits(const motif_graph& graph, const buffer<std::int64_t>& ahead, row_range rows, raw_arrays& found,
                         int threads, const control& ctl);

// Sums over triangles of what other passes found for all rows: o52, o59, o65, e39, e45, e52, e53, e59.
void add_composed_orbits(const motif_graph& graph, raw_arrays& found, int threads, const control& ctl);

// k-cliques whose lowest vertex is in the rows, at each edge, if `of_edges` is wanted, or else at each vertex.
void add_cliques(const motif_graph& graph, const upper_rows& upper, row_range rows, int k, raw of_edges,
                 raw of_vertices, raw_arrays& found, int threads, const control& ctl);

// 4- or 5-cycles at each edge, from their highest vertices. Threads count into arrays of their own.
class cycle_counts {
 public:
  // 5-cycles, and what is taken for them.
  void add_five_cycles(const motif_graph& graph, row_range rows, int threads, const control& ctl);
  void add_squares(const motif_graph& graph, row_range rows, int threads, const control& ctl);
  // The sum of all threads, by edge.
  buffer<std::uint64_t>& sum(const motif_graph& graph);

 private:
  template <class Search>
  void count(const motif_graph& graph, row_range rows, std::int64_t work_per_walk, int threads, const control& ctl,
             const Search& search);

  std::vector<buffer<std::uint64_t>> of_threads_;
};

// Takes off 5-cycles those that are none: two of their vertices are one, and the others make a triangle. `is_done` says
// which rows have been counted.
void take_off_triangles(const motif_graph& graph, const buffer<std::uint8_t>& is_done, std::uint64_t* counts,
                        const control& ctl);

// Calls visit(i, v, each) for every edge of u and one of its first `neighbors` neighbors v that is in triangles; v is
// neighbor i of u. each(common) calls common(w, at_u, at_v) for every common neighbor w; at_u and at_v are its
// entries in both rows. `marks` is 0 for every vertex, before and after.
template <class Visit>
void visit_triangles(const motif_graph& graph, std::int64_t u, std::int64_t neighbors, std::int32_t* marks,
                     const Visit& visit) {
  if (graph.triangles_of(u) == 0) return;
  const auto row = graph.row(u);
  for (std::size_t i = 0; i < row.size(); ++i) marks[row[i]] = static_cast<std::int32_t>(i + 1);
  for (std::int64_t i = 0; i < neighbors; ++i)
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
