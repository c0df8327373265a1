// label_propagation.cpp - labels spread to neighbors, half of the vertices at a time.
//
// If all vertices changed at once, two neighbors could swap labels forever. So each iteration has two phases. A hash of
// vertex, iteration and seed decides which vertices change in the first phase and which in the second; all vertices of
// a phase change at once, based on the labels before it. Two vertices that would swap soon fall into different phases.
// The result does not depend on threads.
//
// A vertex whose neighbors have not changed since its last turn would decide the same again, so it sleeps until one
// changes. After Raghavan, Albert and Kumara (Phys. Rev. E 76, 2007); in phases after Cordasco and Gargano (BASNA
// 2010).
#include "graphlode/analytics/label_propagation.hpp"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <vector>

#include "graphlode/generate/random.hpp"
#include "graphlode/parallel.hpp"
#include "label_tally.hpp"
#include "walks/edge_map.hpp"

namespace graphlode::analytics {
namespace {

template <class Vertex>
class propagation {
 public:
  propagation(const csr_view<Vertex>& graph, int threads, const control& ctl)
      : graph_(graph),
        rows_(graph),
        threads_(worthwhile_threads(graph.num_entries() + graph.num_vertices, threads)),
        ctl_(ctl),
        proposed_(static_cast<std::size_t>(graph.num_vertices)),
        changed_(static_cast<std::size_t>(graph.num_vertices)),
        awake_(static_cast<std::size_t>(graph.num_vertices), 1) {
    result_.labels = buffer<Vertex>(static_cast<std::size_t>(graph.num_vertices));
    std::iota(result_.labels.begin(), result_.labels.end(), Vertex{0});
    std::int64_t longest = 0;
    for (std::int64_t v = 0; v < graph.num_vertices; ++v) longest = std::max(longest, graph.degree(v));
    for (int thread = 0; thread < threads_; ++thread) tallies_.emplace_back(longest);
  }

  propagated_labels<Vertex> run(std::int64_t max_iterations, std::uint64_t seed) {
    const auto n = graph_.num_vertices;
    while (!result_.converged && result_.iterations < max_iterations) {
      result_.iterations += 1;
      const auto key = generate::mix(seed + static_cast<std::uint64_t>(result_.iterations) * generate::golden);
      const auto changes = change(key, 0) + change(key, 1);
      result_.converged = changes == 0;
      ctl_.advance(n / max_iterations);
    }
    ctl_.advance(n - n / max_iterations * result_.iterations);
    return std::move(result_);
  }

 private:
  // Runs one phase. Returns the number of labels that changed.
  std::int64_t change(std::uint64_t key, std::uint64_t phase) {
    vertex_list<Vertex> changed(changed_.data());
    parallel_chunks(0, graph_.num_vertices, grain, threads_, ctl_,
                    [&](int thread, std::int64_t begin, std::int64_t end) {
                      typename vertex_list<Vertex>::writer changes(changed);
                      auto& tally = tallies_[static_cast<std::size_t>(thread)];
                      for (auto v = begin; v < end; ++v) {
                        if (!awake_[v] || phase_of(v, key) != phase) continue;
                        awake_[v] = 0;
                        const Vertex own = result_.labels[v];
                        proposed_[v] = tally.winner(graph_.row(v), result_.labels.data(), own);
                        if (proposed_[v] != own) changes.push(static_cast<Vertex>(v));
                      }
                    });
    vertex_map(changed.size(), grain, threads_, ctl_, [&](int, std::int64_t i) {
      const Vertex v = changed_[i];
      result_.labels[v] = proposed_[v];
    });
    // Neighbors of a changed vertex wake up.
    const auto entries = changed.size() * (graph_.num_entries() / std::max<std::int64_t>(graph_.num_vertices, 1) + 1);
    Vertex* const no_list = nullptr;
    edge_map(rows_, changed_.data(), changed.size(), entries, no_list, threads_, ctl_, [&](Vertex, Vertex to) {
      std::atomic_ref(awake_[to]).store(1, std::memory_order_relaxed);
      return false;
    });
    return changed.size();
  }

  static std::uint64_t phase_of(std::int64_t v, std::uint64_t key) {
    return generate::mix(key + static_cast<std::uint64_t>(v + 1) * generate::golden) >> 63;
  }

  static constexpr std::int64_t grain = 256;
  const csr_view<Vertex>& graph_;
  const csr_rows<Vertex> rows_;
  const int threads_;
  const control& ctl_;
  propagated_labels<Vertex> result_;
  buffer<Vertex> proposed_, changed_;
  buffer<std::uint8_t> awake_;
  std::vector<label_tally<Vertex>> tallies_;  // one per thread
};

}  // namespace

template <class Vertex>
propagated_labels<Vertex> propagate_labels(const csr_view<Vertex>& symmetric, std::int64_t max_iterations,
                                           std::uint64_t seed, int threads, const control& ctl) {
  return propagation<Vertex>(symmetric, threads, ctl).run(max_iterations, seed);
}

template propagated_labels<std::int32_t> propagate_labels(const csr_view<std::int32_t>&, std::int64_t, std::uint64_t,
                                                          int, const control&);
template propagated_labels<std::int64_t> propagate_labels(const csr_view<std::int64_t>&, std::int64_t, std::uint64_t,
                                                          int, const control&);

}  // namespace graphlode::analytics
