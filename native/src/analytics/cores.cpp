// cores.cpp - level-synchronous peeling.
//
// One list holds the vertices still alive; it is filtered once per level k, into the first frontier of that level and
// the rest. Inside a level a frontier's edges lower the degrees of its neighbors; who falls to k joins the next
// frontier. Small frontiers, of which long chains have very many, run on one thread without atomics; the answer does
// not depend on that, since a round's members are fixed by the rounds before it.
#include "graphlode/analytics/cores.hpp"

#include <algorithm>
#include <atomic>
#include <utility>
#include <vector>

#include "graphlode/parallel.hpp"

namespace graphlode::analytics {
namespace {

constexpr std::int64_t parallel_from_edges = 1 << 19;  // below, atomics and waking the threads cost more than they save
constexpr std::int64_t grain = 512;
constexpr std::int64_t rows_ahead = 4;

template <class Vertex>
class peeler {
 public:
  peeler(const csr_view<Vertex>& graph, int threads, const control& ctl)
      : graph_(graph), threads_(threads), ctl_(ctl), degrees_(graph.num_vertices), alive_(graph.num_vertices) {
    result_.core = buffer<std::int32_t>(graph.num_vertices);
    result_.round = buffer<std::int32_t>(graph.num_vertices);
    for (std::int64_t v = 0; v < graph.num_vertices; ++v) {
      degrees_[v] = static_cast<Vertex>(graph.degree(v));
      alive_[v] = static_cast<Vertex>(v);
    }
    num_alive_ = graph.num_vertices;
  }

  peeling run() {
    std::vector<Vertex> frontier, next;
    while (num_alive_ > 0) {
      const auto k = start_level(frontier);
      while (!frontier.empty()) {
        ctl_.check();
        remove(frontier, k, next);
        ctl_.advance(static_cast<std::int64_t>(frontier.size()));
        frontier.swap(next);
        ++result_.num_rounds;
      }
    }
    return std::move(result_);
  }

 private:
  // Drops removed vertices from the list, sets k to the smallest degree left and collects the vertices that have it.
  Vertex start_level(std::vector<Vertex>& frontier) {
    std::int64_t kept = 0;
    Vertex smallest = 0;
    frontier.clear();
    for (std::int64_t i = 0; i < num_alive_; ++i) {
      const Vertex v = alive_[i];
      const Vertex degree = degrees_[v];
      if (degree <= level_) continue;  // removed in an earlier level
      alive_[kept++] = v;
      if (frontier.empty() || degree < smallest) {
        smallest = degree;
        frontier.clear();
      }
      if (degree == smallest) frontier.push_back(v);
    }
    num_alive_ = kept;
    level_ = smallest;
    return smallest;
  }

  void remove(const std::vector<Vertex>& frontier, Vertex k, std::vector<Vertex>& next) {
    next.clear();
    const auto size = static_cast<std::int64_t>(frontier.size());
    std::int64_t edges = 0;
    for (const Vertex v : frontier) {
      edges += graph_.degree(v);
      result_.core[v] = static_cast<std::int32_t>(k);
      result_.round[v] = result_.num_rounds;
    }
    if (threads_ == 1 || edges < parallel_from_edges) {
      for (std::int64_t i = 0; i < size; ++i) {
        if (i % grain == 0) ctl_.check();
        for (const Vertex u : graph_.row(frontier[i]))
          if (degrees_[u] > k && --degrees_[u] == k) next.push_back(u);
      }
      return;
    }
    std::vector<std::vector<Vertex>> found(threads_);
    parallel_chunks(
        0, size, std::max<std::int64_t>(1, std::min(grain, size / (8 * threads_))), threads_, ctl_,
        [&](int thread, std::int64_t begin, std::int64_t end) {
          auto& mine = found[thread];
          for (auto i = begin; i < end; ++i)
            for (const Vertex u : graph_.row(frontier[i])) {
              std::atomic_ref degree(degrees_[u]);
              // Two threads may both pass the test: the degree may then fall below k, but only one of them
              // sees it fall to k.
              if (degree.load(std::memory_order_relaxed) > k && degree.fetch_sub(1, std::memory_order_relaxed) == k + 1)
                mine.push_back(u);
            }
        });
    for (const auto& part : found) next.insert(next.end(), part.begin(), part.end());
  }

  const csr_view<Vertex>& graph_;
  const int threads_;
  const control& ctl_;
  buffer<Vertex> degrees_;
  buffer<Vertex> alive_;
  std::int64_t num_alive_ = 0;
  Vertex level_ = -1;
  peeling result_;
};

}  // namespace

template <class Vertex>
peeling peel(const csr_view<Vertex>& symmetric, int threads, const control& ctl) {
  return peeler<Vertex>(symmetric, threads, ctl).run();
}

template peeling peel(const csr_view<std::int32_t>&, int, const control&);
template peeling peel(const csr_view<std::int64_t>&, int, const control&);

}  // namespace graphlode::analytics
