// orbits/cliques.cpp - k-cliques at each edge or vertex, by the clique kernels on the upper halves of the rows.
#include "motifs/cliques.hpp"

#include <algorithm>

#include "orbits/passes.hpp"

namespace graphlode::mining::motifs {
namespace {

// C(n, r) modulo 2^64, for n up to `largest` and r up to k.
buffer<std::uint64_t> binomials(std::int64_t largest, int k) {
  const auto columns = static_cast<std::size_t>(k) + 1;
  buffer<std::uint64_t> table((static_cast<std::size_t>(largest) + 1) * columns, 0);
  for (std::size_t n = 0; n <= static_cast<std::size_t>(largest); ++n) {
    table[n * columns] = 1;
    for (std::size_t r = 1; n > 0 && r < columns; ++r)
      table[n * columns + r] = table[(n - 1) * columns + r - 1] + table[(n - 1) * columns + r];
  }
  return table;
}

}  // namespace

void add_cliques(const motif_graph& graph, const upper_rows& upper, row_range rows, int k, raw of_edges,
                 raw of_vertices, raw_arrays& found, int threads, const control& ctl) {
  const bool by_edge = found.wants(of_edges);
  const auto units = by_edge ? graph.num_edges() : graph.num_vertices;
  buffer<std::uint64_t> counts(static_cast<std::size_t>(units), 0);
  const auto table = binomials(upper.longest() + 1, k);
  const mining::local_counts local{.what = by_edge ? mining::clique_counts::by_edge : mining::clique_counts::by_vertex,
                                   .counts = counts.data(),
                                   .limbs = 1,
                                   .binomials = table.data(),
                                   .binomial_columns = k + 1};
  mining::count_cliques<rank>(upper.view(), upper.entries(rows.begin, rows.end), k, mining::clique_method::pivot, local,
                              threads, ctl);
  if (!by_edge) {
    for (std::int64_t v = 0; v < graph.num_vertices; ++v) found.add(of_vertices, v, counts[v]);
    return;
  }
  std::int64_t entry = 0;
  for (std::int64_t u = 0; u < graph.num_vertices; ++u)
    for (auto e = graph.offsets[u] + graph.lower[u]; e < graph.offsets[u + 1]; ++e)
      found.add(of_edges, graph.edges[e], counts[entry++]);
}

}  // namespace graphlode::mining::motifs
