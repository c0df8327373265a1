// components_union.hpp - connected components by union-find over any kind of rows.
//
// Every vertex points to a vertex that is not higher; a vertex that points to itself is a root. Joining two trees hangs
// the higher root below the lower one. So the root of a finished component is its lowest vertex, in any order of the
// threads. A first pass joins each vertex with the first two entries of its row, which already puts nearly all of the
// largest component into one tree. In a symmetric graph, vertices in that tree need no second visit: entries that lead
// out of it are seen from their other end. After Sutton, Ben-Nun and Barak, "Optimizing Parallel Graph Connectivity
// Computation via Subgraph Sampling" (IPDPS 2018).
#pragma once
#include <algorithm>
#include <array>
#include <atomic>
#include <utility>
#include <vector>

#include "graphlode/analytics/components.hpp"
#include "graphlode/parallel.hpp"
#include "walks/edge_map.hpp"

namespace graphlode::analytics {

template <class Rows>
class component_union {
 public:
  using vertex = typename Rows::vertex;

  component_union(const Rows& rows, bool symmetric, int threads, const control& ctl)
      : rows_(rows),
        symmetric_(symmetric),
        threads_(worthwhile_threads(rows.num_rows() + rows.num_entries(), threads)),
        ctl_(ctl),
        parents_(static_cast<std::size_t>(rows.num_rows())) {}

  component_labels<vertex> run() {
    for_rows([&](std::int64_t v) { parents_[v] = static_cast<vertex>(v); });
    for_rows([&](std::int64_t v) { join_entries(v, 0, first_entries); });
    compress();
    const vertex largest = symmetric_ ? most_frequent_root() : vertex{-1};
    for_rows([&](std::int64_t v) {
      if (root_seen(v) != largest) join_entries(v, first_entries, rows_.num_entries());
    });
    compress();
    ctl_.advance(rows_.num_rows());
    return number();
  }

 private:
  static constexpr std::int64_t grain = 1024;
  static constexpr std::int64_t first_entries = 2;
  static constexpr std::size_t num_samples = 1024;

  template <class Work>
  void for_rows(Work&& work) {
    vertex_map(rows_.num_rows(), grain, threads_, ctl_, [&](int, std::int64_t v) { work(v); });
  }

  // Joins v with the neighbors at places begin .. end of its row.
  void join_entries(std::int64_t v, std::int64_t begin, std::int64_t end) {
    std::int64_t place = 0;
    rows_.for_each_neighbor(v, [&](vertex neighbor) {
      if (place >= begin) join(static_cast<vertex>(v), neighbor);
      return ++place < end;
    });
  }

  // Other threads may change pointers meanwhile, but only to lower vertices of the same tree.
  vertex parent(vertex v) { return std::atomic_ref(parents_[v]).load(std::memory_order_relaxed); }
  vertex root_seen(std::int64_t v) { return parent(static_cast<vertex>(v)); }

  void join(vertex u, vertex v) {
    vertex a = parent(u), b = parent(v);
    while (a != b) {
      const vertex high = std::max(a, b), low = std::min(a, b);
      vertex above = parent(high);
      if (above == low) return;
      if (above == high &&
          std::atomic_ref(parents_[high]).compare_exchange_strong(above, low, std::memory_order_relaxed))
        return;
      a = parent(parent(high));
      b = parent(low);
    }
  }

  // Makes every vertex point to its root.
  void compress() {
    for_rows([&](std::int64_t v) {
      vertex up = root_seen(v);
      for (vertex above = parent(up); above != up; above = parent(up)) up = above;
      std::atomic_ref(parents_[v]).store(up, std::memory_order_relaxed);
    });
  }

  vertex most_frequent_root() {
    const auto n = rows_.num_rows();
    if (n == 0) return -1;
    std::array<vertex, num_samples> samples{};
    for (std::size_t i = 0; i < num_samples; ++i) {
      const auto hash = static_cast<std::uint64_t>(i + 1) * 0x9e3779b97f4a7c15u;
      samples[i] = parents_[static_cast<std::size_t>((hash >> 11) % static_cast<std::uint64_t>(n))];
    }
    std::sort(samples.begin(), samples.end());
    vertex best = samples[0];
    std::ptrdiff_t most = 0;
    for (auto at = samples.begin(); at != samples.end();) {
      const auto end = std::upper_bound(at, samples.end(), *at);
      if (end - at > most) most = end - at, best = *at;
      at = end;
    }
    return best;
  }

  // A root is the lowest vertex of its component, so numbering roots in ascending order numbers components by lowest
  // vertex.
  component_labels<vertex> number() {
    const auto n = rows_.num_rows();
    component_labels<vertex> result;
    result.labels = buffer<vertex>(static_cast<std::size_t>(n));
    std::vector<std::int64_t> roots_before(static_cast<std::size_t>(threads_) + 1, 0);
    parallel_parts(n, threads_, [&](int thread, std::int64_t begin, std::int64_t end) {
      std::int64_t roots = 0;
      for (auto v = begin; v < end; ++v) roots += parents_[v] == v;
      roots_before[static_cast<std::size_t>(thread) + 1] = roots;
    });
    for (std::size_t i = 1; i < roots_before.size(); ++i) roots_before[i] += roots_before[i - 1];
    parallel_parts(n, threads_, [&](int thread, std::int64_t begin, std::int64_t end) {
      auto next = roots_before[static_cast<std::size_t>(thread)];
      for (auto v = begin; v < end; ++v)
        if (parents_[v] == v) result.labels[v] = static_cast<vertex>(next++);
    });
    parallel_parts(n, threads_, [&](int, std::int64_t begin, std::int64_t end) {
      for (auto v = begin; v < end; ++v)
        if (parents_[v] != v) result.labels[v] = result.labels[parents_[v]];
    });
    result.count = roots_before.back();
    return result;
  }

  const Rows& rows_;
  bool symmetric_;
  int threads_;
  const control& ctl_;
  buffer<vertex> parents_;
};

template <class Rows>
component_labels<typename Rows::vertex> find_components(const Rows& rows, bool symmetric, int threads,
                                                        const control& ctl) {
  return component_union<Rows>(rows, symmetric, threads, ctl).run();
}

}  // namespace graphlode::analytics
