// linked.cpp - marks the vertices that have an edge, numbers them in order, and writes their rows with the new numbers.
#include "graphlode/graph/linked.hpp"

#include <atomic>
#include <vector>

#include "graphlode/parallel.hpp"

namespace graphlode::graph {
namespace {

// The new number of each linked vertex, in vertex order. Undefined for other vertices.
template <class Vertex>
buffer<Vertex> number(const csr_view<Vertex>& rows, const std::uint8_t* marks, linked_rows<Vertex>& made, int threads) {
  const auto n = rows.num_vertices;
  const auto linked = [&](std::int64_t v) { return rows.degree(v) > 0 || (marks && marks[v] != 0); };
  std::vector<std::int64_t> before(static_cast<std::size_t>(threads) + 1, 0);
  parallel_parts(n, threads, [&](int thread, std::int64_t begin, std::int64_t end) {
    std::int64_t count = 0;
    for (auto v = begin; v < end; ++v) count += linked(v);
    before[static_cast<std::size_t>(thread) + 1] = count;
  });
  for (std::size_t i = 1; i < before.size(); ++i) before[i] += before[i - 1];
  made.vertices = buffer<Vertex>(static_cast<std::size_t>(before.back()));
  made.rows.offsets = buffer<std::int64_t>(static_cast<std::size_t>(before.back()) + 1);
  made.rows.offsets[before.back()] = rows.num_entries();
  buffer<Vertex> numbers(static_cast<std::size_t>(n));
  parallel_parts(n, threads, [&](int thread, std::int64_t begin, std::int64_t end) {
    auto next = before[static_cast<std::size_t>(thread)];
    for (auto v = begin; v < end; ++v) {
      if (!linked(v)) continue;
      numbers[v] = static_cast<Vertex>(next);
      made.vertices[next] = static_cast<Vertex>(v);
      made.rows.offsets[next] = rows.offsets[v];  // rows that are left out are empty, so offsets do not change
      ++next;
    }
  });
  return numbers;
}

}  // namespace

template <class Vertex>
linked_rows<Vertex> link_rows(const csr_view<Vertex>& rows, bool symmetric, int threads, const control& ctl) {
  const auto num_entries = rows.num_entries();
  threads = worthwhile_threads(rows.num_vertices + num_entries, threads);
  constexpr std::int64_t entries_at_once = 1 << 16;
  const auto for_entries = [&](auto&& work) {
    parallel_chunks(0, num_entries, entries_at_once, threads, ctl, [&](int, std::int64_t begin, std::int64_t end) {
      for (auto e = begin; e < end; ++e) work(e);
    });
  };
  buffer<std::uint8_t> marks;
  if (!symmetric) {
    marks = buffer<std::uint8_t>(static_cast<std::size_t>(rows.num_vertices), 0);
    for_entries([&](std::int64_t e) { std::atomic_ref(marks[rows.neighbors[e]]).store(1, std::memory_order_relaxed); });
  }
  linked_rows<Vertex> made;
  const auto numbers = number(rows, symmetric ? nullptr : marks.data(), made, threads);
  made.rows.neighbors = buffer<Vertex>(static_cast<std::size_t>(num_entries));
  for_entries([&](std::int64_t e) { made.rows.neighbors[e] = numbers[rows.neighbors[e]]; });
  return made;
}

template linked_rows<std::int32_t> link_rows(const csr_view<std::int32_t>&, bool, int, const control&);
template linked_rows<std::int64_t> link_rows(const csr_view<std::int64_t>&, bool, int, const control&);

}  // namespace graphlode::graph
