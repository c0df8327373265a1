// entry_weights.cpp - copies the weight of each edge to both of its entries.
//
// Rows are read in ascending order, and so are the edges. The edge from u up to v is the next unused entry below v in
// row v, because rows are sorted. So one moving place per row is enough, and nothing is searched. Each thread owns a
// range of vertices, reads all rows, and uses the entries that lie in its range.
#include "graphlode/graph/entry_weights.hpp"

#include <algorithm>

#include "graphlode/parallel.hpp"
#include "graphlode/prefetch.hpp"

namespace graphlode::graph {
namespace {

// The first vertex of each thread's range. The ranges have about the same number of entries.
template <class Vertex>
std::int64_t first_of_range(const csr_view<Vertex>& graph, int thread, int threads) {
  const auto goal = graph.num_entries() / threads * thread;
  const auto* const end = graph.offsets + graph.num_vertices;
  return thread == threads ? graph.num_vertices : std::lower_bound(graph.offsets, end, goal) - graph.offsets;
}

}  // namespace

template <class Vertex>
buffer<double> weights_of_entries(const csr_view<Vertex>& symmetric, const double* edge_weights, int threads,
                                  const control& ctl) {
  constexpr std::int64_t rows_per_check = 4096;
  constexpr std::ptrdiff_t ahead = 12;  // entries: their rows are scattered, so they are prefetched
  const auto n = symmetric.num_vertices;
  buffer<double> weights(static_cast<std::size_t>(symmetric.num_entries()));
  buffer<std::int64_t> next_below(static_cast<std::size_t>(n));
  const int parts = worthwhile_threads(symmetric.num_entries(), threads);
  on_threads(parts, [&](int part) {
    const auto first = first_of_range(symmetric, part, parts), last = first_of_range(symmetric, part + 1, parts);
    std::copy(symmetric.offsets + first, symmetric.offsets + last, next_below.data() + first);
    const double* edge = edge_weights;
    for (std::int64_t u = 0; u < last; ++u) {
      if (u % rows_per_check == 0) ctl.check();
      const auto row = symmetric.row(u);
      const auto above = std::upper_bound(row.begin(), row.end(), static_cast<Vertex>(u));
      if (u >= first)
        std::copy(edge, edge + (row.end() - above), weights.data() + symmetric.offsets[u] + (above - row.begin()));
      auto v = first <= u ? above : std::lower_bound(above, row.end(), static_cast<Vertex>(first));
      for (; v != row.end() && *v < last; ++v) {
        if (row.end() - v > 2 * ahead) prefetch(&next_below[static_cast<std::size_t>(v[2 * ahead])]);
        if (row.end() - v > ahead && v[ahead] < last)
          prefetch_to_write(&weights[static_cast<std::size_t>(next_below[static_cast<std::size_t>(v[ahead])])]);
        weights[static_cast<std::size_t>(next_below[*v]++)] = edge[v - above];
      }
      edge += row.end() - above;
    }
  });
  return weights;
}

template buffer<double> weights_of_entries(const csr_view<std::int32_t>&, const double*, int, const control&);
template buffer<double> weights_of_entries(const csr_view<std::int64_t>&, const double*, int, const control&);

}  // namespace graphlode::graph
