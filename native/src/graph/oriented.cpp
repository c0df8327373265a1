// oriented.cpp - orient a symmetric graph by an order and rename its vertices to their ranks.
//
// Two passes over the rows in rank order: count the higher neighbors, then write their ranks and sort each short row.
#include "graphlode/graph/oriented.hpp"

#include <algorithm>
#include <numeric>

#include "graphlode/parallel.hpp"

namespace graphlode::graph {
namespace {

constexpr std::int64_t grain = 1024;

template <class Vertex>
void sort_row(Vertex* row, std::int64_t size) {
  if (size > 24) {
    std::sort(row, row + size);
    return;
  }
  for (std::int64_t i = 1; i < size; ++i) {
    const Vertex value = row[i];
    auto j = i;
    for (; j > 0 && row[j - 1] > value; --j) row[j] = row[j - 1];
    row[j] = value;
  }
}

}  // namespace

template <class Vertex>
csr<Vertex> orient(const csr_view<Vertex>& graph, const Vertex* order, int threads, const control& ctl) {
  const auto n = graph.num_vertices;
  buffer<Vertex> rank(n);
  parallel_chunks(0, n, grain, threads, ctl, [&](int, std::int64_t begin, std::int64_t end) {
    for (auto r = begin; r < end; ++r) rank[order[r]] = static_cast<Vertex>(r);
  });
  csr<Vertex> result;
  result.offsets = buffer<std::int64_t>(n + 1);
  result.offsets[0] = 0;
  parallel_chunks(0, n, grain, threads, ctl, [&](int, std::int64_t begin, std::int64_t end) {
    for (auto r = begin; r < end; ++r) {
      std::int64_t higher = 0;
      for (const auto v : graph.row(order[r])) higher += rank[v] > r;
      result.offsets[r + 1] = higher;
    }
  });
  std::inclusive_scan(result.offsets.begin(), result.offsets.end(), result.offsets.begin());
  result.neighbors = buffer<Vertex>(result.offsets[n]);
  parallel_chunks(0, n, grain, threads, ctl, [&](int, std::int64_t begin, std::int64_t end) {
    for (auto r = begin; r < end; ++r) {
      Vertex* const row = result.neighbors.data() + result.offsets[r];
      Vertex* out = row;
      for (const auto v : graph.row(order[r]))
        if (rank[v] > r) *out++ = rank[v];
      sort_row(row, out - row);
    }
  });
  return result;
}

template csr<std::int32_t> orient(const csr_view<std::int32_t>&, const std::int32_t*, int, const control&);
template csr<std::int64_t> orient(const csr_view<std::int64_t>&, const std::int64_t*, int, const control&);

}  // namespace graphlode::graph
