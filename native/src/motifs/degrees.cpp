// motifs/degrees.cpp - the sums that need one visit of each vertex and edge: degrees, and triangles at both.
#include <mutex>

#include "graphlode/parallel.hpp"
#include "motifs/binomials.hpp"
#include "motifs/passes.hpp"

namespace graphlode::mining::motifs {
namespace {

// Patterns of three vertices need only the view: degrees, and triangles at the lower entries.
void add_small(const supported_view& graph, std::int64_t u, motif_sums& sums) {
  sums[sum::wedges] += choose2(static_cast<std::uint64_t>(graph.degree(u)));
  std::int64_t triangles = 0;
  for (auto e = graph.offsets[u]; e < graph.offsets[u] + graph.lower[u]; ++e)
    triangles += graph.triangles[graph.edges[e]];
  sums[sum::triangles] += static_cast<wide>(triangles);
}

void add_vertex(const motif_graph& graph, std::int64_t u, motif_sums& sums) {
  const auto d = static_cast<std::uint64_t>(graph.degree(u)), t = static_cast<std::uint64_t>(graph.triangles_of(u));
  sums[sum::stars3] += choose3(d);
  sums[sum::stars4] += choose4(d);
  if (t) {
    sums[sum::tailed] += product(t, d - 2);
    sums[sum::forks] += product(t, choose2(d - 2));
    sums[sum::hourglasses] += wide_choose2(t);
  }
  std::uint64_t ahead = 0;
  wide squares = 0;
  for (const auto v : graph.row(u)) {
    const auto one = static_cast<std::uint64_t>(graph.degree(v) - 1);
    ahead += one;
    squares += one * one;
  }
  sums[sum::paths4] += (product(ahead, ahead) - squares) / 2;
}

void add_edge(const motif_graph& graph, std::int64_t u, std::int64_t place, motif_sums& sums) {
  const auto v = graph.row(u)[static_cast<std::size_t>(place)];
  const auto d = static_cast<std::uint64_t>(graph.degree(u)), e = static_cast<std::uint64_t>(graph.degree(v));
  const auto t = static_cast<std::uint64_t>(graph.supports(u)[place]);
  const auto tu = static_cast<std::uint64_t>(graph.triangles_of(u)),
             tv = static_cast<std::uint64_t>(graph.triangles_of(v));
  sums[sum::paths3] += (d - 1) * (e - 1);
  sums[sum::prongs] += product(choose2(d - 1), e - 1) + product(choose2(e - 1), d - 1);
  sums[sum::longtails] += product(tu - t, e - 1) + product(tv - t, d - 1);
  if (!t) return;
  sums[sum::bulls] += product(t * (d - 2), e - 2);
  if (t < 2) return;
  sums[sum::diamonds] += choose2(t);
  sums[sum::stingrays] += product(choose2(t), d + e - 6);
  sums[sum::books3] += choose3(t);
}

template <class Graph, class Add>
motif_sums over_rows(const Graph& graph, row_range rows, int threads, const control& ctl, Add&& add) {
  constexpr std::int64_t grain = 256;
  motif_sums total;
  std::mutex merging;
  parallel_chunks(rows.begin, rows.end, grain, threads, ctl, [&](int, std::int64_t begin, std::int64_t end) {
    motif_sums mine;
    for (auto u = begin; u < end; ++u) add(graph, u, mine);
    const std::lock_guard lock(merging);
    total.add(mine);
  });
  return total;
}

}  // namespace

motif_sums sum_small(const supported_view& graph, row_range rows, int threads, const control& ctl) {
  return over_rows(graph, rows, threads, ctl, add_small);
}

motif_sums sum_degrees(const motif_graph& graph, row_range rows, int threads, const control& ctl) {
  return over_rows(graph, rows, threads, ctl, [](const motif_graph& all, std::int64_t u, motif_sums& sums) {
    add_vertex(all, u, sums);
    for (std::int64_t place = 0; place < all.lower[u]; ++place) add_edge(all, u, place, sums);
  });
}

}  // namespace graphlode::mining::motifs
