// shortest_paths.cpp - delta stepping.
//
// Vertices wait in buckets by their tentative distance (distance_buckets.hpp). All threads relax the rows of the
// nearest bucket's vertices at once. A vertex whose distance decreases joins the bucket of its new distance, which may
// be the current one. Narrow buckets relax few rows in vain; wide ones have more parallel work. After Meyer and
// Sanders, "Delta-stepping: a parallelizable shortest path algorithm" (J. Algorithms 2003). A thread continues with the
// vertices that it has found for the current bucket itself while these are few, after Zhang et al., "Optimizing ordered
// graph algorithms with GraphIt" (CGO 2020).
//
// A distance is the least sum of lengths from the source over all paths. Rounding is monotonic, so the least sum is the
// same in any order of relaxations.
#include "graphlode/analytics/shortest_paths.hpp"

#include <algorithm>
#include <atomic>
#include <limits>

#include "graphlode/parallel.hpp"
#include "graphlode/prefetch.hpp"
#include "walks/distance_buckets.hpp"
#include "walks/edge_map.hpp"
#include "walks/shortest_path_parents.hpp"

namespace graphlode::analytics {
namespace {

constexpr double not_reached = std::numeric_limits<double>::infinity();

template <class Vertex>
class delta_stepping {
 public:
  using entry = reached_vertex<Vertex>;

  delta_stepping(const csr_view<Vertex>& graph, const double* lengths, double width, int threads, const control& ctl)
      : graph_(graph),
        rows_(graph),
        lengths_(lengths),
        threads_(worthwhile_threads(graph.num_entries() / 2, threads)),
        ctl_(ctl),
        buckets_(width, threads) {
    tree_.distances = buffer<double>(static_cast<std::size_t>(graph.num_vertices), not_reached);
    tree_.parents = buffer<Vertex>(static_cast<std::size_t>(graph.num_vertices));
  }

  shortest_path_tree<Vertex> run(std::int64_t source, bool symmetric) {
    tree_.distances[static_cast<std::size_t>(source)] = 0;
    found(1);
    buckets_.push(0, 0.0, static_cast<Vertex>(source));
    while (buckets_.next([&](const entry& each) { return is_live(each); })) {
      frontier_.clear();
      buckets_.take_current(frontier_);
      walk_frontier();
    }
    parent_finder<Vertex>(graph_, lengths_, source, tree_.distances.data(), tree_.parents.data(), threads_, ctl_)
        .run(symmetric);
    tree_.reached = reached_.load();
    ctl_.advance(graph_.num_vertices - tree_.reached);
    return std::move(tree_);
  }

 private:
  bool is_live(const entry& each) { return std::atomic_ref(distance_of(each.vertex)).load(relaxed) == each.distance; }

  void walk_frontier() {
    constexpr std::int64_t grain = 64;
    const auto size = static_cast<std::int64_t>(frontier_.size());
    const auto entries = size * (graph_.num_entries() / std::max<std::int64_t>(graph_.num_vertices, 1) + 1);
    parallel_chunks(0, size, grain, worthwhile_threads(entries, threads_), ctl_,
                    [&](int thread, std::int64_t begin, std::int64_t end) {
                      walk(thread, frontier_.data() + begin, frontier_.data() + end);
                      go_on(thread);
                    });
  }

  // A thread processes the vertices it has found for the current bucket itself, unless they are worth sharing.
  void go_on(int thread) {
    constexpr std::size_t worth_sharing = 512;
    typename distance_buckets<Vertex>::list taken;
    while (!buckets_.own(thread).empty() && buckets_.own(thread).size() < worth_sharing) {
      ctl_.check();
      taken.clear();
      taken.swap(buckets_.own(thread));
      walk(thread, taken.data(), taken.data() + taken.size());
    }
  }

  void walk(int thread, const entry* begin, const entry* end) {
    std::int64_t new_ones = 0;
    visit_rows(
        rows_, 0, end - begin, end - begin, [&](std::int64_t i) { return begin[i].vertex; },
        [&](std::int64_t i) {
          if (is_live(begin[i])) new_ones += relax(thread, begin[i]);
        });
    if (new_ones > 0) found(new_ones);
  }

  // Relaxes the edges of `from`. Returns the number of neighbors that are reached for the first time.
  std::int64_t relax(int thread, const entry& from) {
    constexpr std::int64_t ahead = 16;
    std::int64_t new_ones = 0;
    const auto end = graph_.offsets[from.vertex + 1];
    for (auto e = graph_.offsets[from.vertex]; e < end; ++e) {
      if (e + ahead < end) prefetch(&distance_of(graph_.neighbors[e + ahead]));
      const Vertex to = graph_.neighbors[e];
      const double distance = from.distance + lengths_[e];
      std::atomic_ref known(distance_of(to));
      double before = known.load(relaxed);
      while (distance < before) {
        if (!known.compare_exchange_weak(before, distance, relaxed)) continue;
        buckets_.push(thread, distance, to);
        new_ones += before == not_reached;
        break;
      }
    }
    return new_ones;
  }

  void found(std::int64_t vertices) {
    reached_.fetch_add(vertices, relaxed);
    ctl_.advance(vertices);
  }

  double& distance_of(Vertex v) { return tree_.distances[static_cast<std::size_t>(v)]; }

  static constexpr auto relaxed = std::memory_order_relaxed;
  const csr_view<Vertex> graph_;
  const csr_rows<Vertex> rows_;
  const double* const lengths_;
  const int threads_;
  const control& ctl_;
  shortest_path_tree<Vertex> tree_;
  distance_buckets<Vertex> buckets_;
  typename distance_buckets<Vertex>::list frontier_;
  std::atomic<std::int64_t> reached_{0};
};

}  // namespace

template <class Vertex>
shortest_path_tree<Vertex> find_shortest_paths(const csr_view<Vertex>& graph, const double* lengths,
                                               std::int64_t source, double bucket_width, bool symmetric, int threads,
                                               const control& ctl) {
  return delta_stepping<Vertex>(graph, lengths, bucket_width, threads, ctl).run(source, symmetric);
}

template shortest_path_tree<std::int32_t> find_shortest_paths(const csr_view<std::int32_t>&, const double*,
                                                              std::int64_t, double, bool, int, const control&);
template shortest_path_tree<std::int64_t> find_shortest_paths(const csr_view<std::int64_t>&, const double*,
                                                              std::int64_t, double, bool, int, const control&);

}  // namespace graphlode::analytics
