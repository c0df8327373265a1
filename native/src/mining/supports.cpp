// supports.cpp - from rows of vertices to rows of ranks in both directions, with edge ids and triangles.
//
// The oriented graph already has the sorted upper half of every row, and the triangle kernel counts along its entries.
// The lower halves are its transpose: a counting sort by head. Each thread takes a range of rows; a histogram gives
// the place of its first entry of every head. So the lower halves are sorted without a further sort.
#include "graphlode/mining/supports.hpp"

#include <algorithm>
#include <utility>

#include "graphlode/analytics/triangles.hpp"
#include "graphlode/graph/order.hpp"
#include "graphlode/graph/oriented.hpp"
#include "graphlode/parallel.hpp"

namespace graphlode::mining::motifs {
namespace {

constexpr int most_parts = 8;  // histograms: four bytes per vertex and part
constexpr std::int64_t grain = 4096;

// The first row of part i. Parts have about the same number of entries.
std::int64_t first_row(const csr<rank>& oriented, std::int64_t num_vertices, int i, int parts) {
  if (i == parts) return num_vertices;
  const auto* offsets = oriented.offsets.data();
  return std::lower_bound(offsets, offsets + num_vertices, offsets[num_vertices] / parts * i) - offsets;
}

struct transposition {
  const csr<rank>& upper;
  const std::int64_t* counts;  // triangles at each entry of `upper`
  supported& result;
  buffer<std::int64_t> lower_offsets;
  buffer<std::int32_t> places;  // per part and head: the place of its next entry in the lower half of the head's row
  std::int64_t num_vertices;
  int parts;

  void count(int part) {
    auto* const mine = places.data() + part * num_vertices;
    std::fill_n(mine, num_vertices, 0);
    const auto begin = upper.offsets[first_row(upper, num_vertices, part, parts)];
    const auto end = upper.offsets[first_row(upper, num_vertices, part + 1, parts)];
    for (auto e = begin; e < end; ++e) ++mine[upper.neighbors[e]];
  }
  void start(std::int64_t head) {
    std::int32_t before = 0;
    for (int part = 0; part < parts; ++part) {
      auto& place = places[part * num_vertices + head];
      before += std::exchange(place, before);
    }
  }
  void scatter(int part) {
    auto* const mine = places.data() + part * num_vertices;
    for (auto u = first_row(upper, num_vertices, part, parts); u < first_row(upper, num_vertices, part + 1, parts);
         ++u) {
      auto to = result.offsets[u] + result.lower[u];
      for (auto e = upper.offsets[u]; e < upper.offsets[u + 1]; ++e, ++to) {
        const auto head = upper.neighbors[e];
        const auto place = mine[head]++;
        const auto edge = static_cast<std::int32_t>(lower_offsets[head] + place);
        result.neighbors[to] = head;
        result.edges[to] = edge;
        result.neighbors[result.offsets[head] + place] = static_cast<rank>(u);
        result.edges[result.offsets[head] + place] = edge;
        result.triangles[edge] = static_cast<std::int32_t>(counts[e]);
      }
    }
  }
};

}  // namespace

supported build_supported(const csr_view<std::int32_t>& graph, int threads, const control& ctl) {
  const auto n = graph.num_vertices;
  threads = worthwhile_threads(graph.num_entries(), threads);
  supported result;
  result.vertices = graph::order_by_degree(graph);
  const auto upper = graph::orient(graph, result.vertices.data(), threads, ctl);
  const auto m = upper.offsets[n];
  buffer<std::int64_t> counts(m, 0);
  analytics::count_triangles<rank>({upper.offsets.data(), upper.neighbors.data(), n}, 0, n,
                                   analytics::triangle_counts::by_edge, counts.data(), threads, ctl.without_progress());

  result.offsets = buffer<std::int64_t>(n + 1);
  result.lower = buffer<std::int32_t>(n);
  buffer<std::int64_t> lower_offsets(n + 1);
  result.offsets[0] = lower_offsets[0] = 0;
  for (std::int64_t u = 0; u < n; ++u) {
    const auto degree = graph.degree(result.vertices[u]);
    result.lower[u] = static_cast<std::int32_t>(degree - (upper.offsets[u + 1] - upper.offsets[u]));
    result.offsets[u + 1] = result.offsets[u] + degree;
    lower_offsets[u + 1] = lower_offsets[u] + result.lower[u];
  }
  result.neighbors = buffer<rank>(2 * m);
  result.edges = buffer<std::int32_t>(2 * m);
  result.triangles = buffer<std::int32_t>(m);
  const int parts = std::min(threads, most_parts);
  transposition transpose{upper, counts.data(), result, std::move(lower_offsets), buffer<std::int32_t>(parts * n),
                          n,     parts};
  on_threads(parts, [&](int part) { transpose.count(part); });
  parallel_chunks(0, n, grain, threads, ctl, [&](int, std::int64_t begin, std::int64_t end) {
    for (auto head = begin; head < end; ++head) transpose.start(head);
  });
  on_threads(parts, [&](int part) { transpose.scatter(part); });
  return result;
}

}  // namespace graphlode::mining::motifs
