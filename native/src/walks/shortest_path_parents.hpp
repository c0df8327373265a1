// shortest_path_parents.hpp - finds the parents of shortest paths when all distances are known.
//
// The parent of v is the lowest u that is nearer to the source and has a final edge to v: distance(u) + length equals
// distance(v) exactly. Edges of length 0 (or too short to change the sum) connect vertices at equal distance, which
// could be parents of each other. So vertices without a nearer parent get one step by step, from vertices at the same
// distance that have theirs. The result depends neither on threads nor on the order of the search.
#pragma once
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <vector>

#include "graphlode/csr.hpp"
#include "graphlode/parallel.hpp"
#include "walks/bfs_steps.hpp"

namespace graphlode::analytics {

template <class Vertex>
class parent_finder {
 public:
  parent_finder(const csr_view<Vertex>& graph, const double* lengths, std::int64_t source, const double* distances,
                Vertex* parents, int threads, const control& ctl)
      : graph_(graph),
        lengths_(lengths),
        source_(source),
        distances_(distances),
        parents_(parents),
        threads_(threads),
        ctl_(ctl) {}

  void run(bool symmetric) {
    in_chunks([&](std::int64_t v) { parents_[v] = -1; });
    if (symmetric)
      in_chunks([&](std::int64_t v) { look_back(v); });
    else
      in_chunks([&](std::int64_t u) { look_ahead(u); });
    std::atomic<bool> complete{true};
    in_chunks([&](std::int64_t v) {
      if (lacks_parent(v)) complete.store(false, std::memory_order_relaxed);
    });
    if (!complete.load()) join_equals();
  }

 private:
  template <class Work>
  void in_chunks(Work&& work) {
    constexpr std::int64_t grain = 256;
    parallel_chunks(0, graph_.num_vertices, grain, threads_, ctl_, [&](int, std::int64_t begin, std::int64_t end) {
      for (auto v = begin; v < end; ++v) work(v);
    });
  }

  bool reached(std::int64_t v) const { return !std::isinf(distances_[v]); }
  bool lacks_parent(std::int64_t v) const { return parents_[v] < 0 && v != source_ && reached(v); }

  // Rows are sorted, so the first parent found is the lowest.
  void look_back(std::int64_t v) {
    if (!reached(v)) return;
    const double here = distances_[v];
    for (auto e = graph_.offsets[v]; e < graph_.offsets[v + 1]; ++e) {
      const double there = distances_[graph_.neighbors[e]];
      if (there < here && there + lengths_[e] == here) {
        parents_[v] = graph_.neighbors[e];
        return;
      }
    }
  }

  void look_ahead(std::int64_t u) {
    if (!reached(u)) return;
    const double here = distances_[u];
    for (auto e = graph_.offsets[u]; e < graph_.offsets[u + 1]; ++e) {
      const Vertex v = graph_.neighbors[e];
      if (here < distances_[v] && here + lengths_[e] == distances_[v])
        lower_parent(parents_[v], static_cast<Vertex>(u));
    }
  }

  // On one thread: such edges are rare, or the graph is small.
  void join_equals() {
    std::vector<Vertex> joined, next;
    for (std::int64_t u = 0; u < graph_.num_vertices; ++u)
      if (reached(u) && !lacks_parent(u)) joined.push_back(static_cast<Vertex>(u));
    while (!joined.empty()) {
      ctl_.check();
      for (const Vertex u : joined)  // ascending, so the first one is the lowest
        for (auto e = graph_.offsets[u]; e < graph_.offsets[u + 1]; ++e) {
          const Vertex v = graph_.neighbors[e];
          if (distances_[v] != distances_[u] || distances_[u] + lengths_[e] != distances_[v] || !lacks_parent(v))
            continue;
          parents_[v] = u;
          next.push_back(v);
        }
      std::sort(next.begin(), next.end());
      joined.swap(next);
      next.clear();
    }
  }

  const csr_view<Vertex>& graph_;
  const double* lengths_;
  std::int64_t source_;
  const double* distances_;
  Vertex* parents_;
  int threads_;
  const control& ctl_;
};

}  // namespace graphlode::analytics
