// cores.cpp - level-synchronous peeling.
//
// Inside a level k a frontier's edges lower the degrees of its neighbors; who falls to k joins the next frontier. To
// find the first frontier of a level without looking at everybody, the vertices left are kept in two lists: those whose
// degree is within the next few levels are near, the others far. A level filters the near list only; the far list is
// filtered once per window of levels, and a far vertex whose degree falls into the window is added to the near list as
// it falls.
//
// Small frontiers, of which long chains have very many, run on one thread without atomics; the answer does not depend
// on that, since a round's members are fixed by the rounds before it.
#include "graphlode/analytics/cores.hpp"

#include <algorithm>
#include <atomic>
#include <limits>
#include <utility>
#include <vector>

#include "graphlode/parallel.hpp"

namespace graphlode::analytics {
namespace {

constexpr std::int64_t parallel_from_edges = 1 << 19;  // below, atomics and waking the threads cost more than they save
constexpr std::int64_t grain = 512;
constexpr std::int64_t rows_ahead = 4;
constexpr int window_levels = 8;

template <class Vertex>
class peeler {
 public:
  peeler(const csr_view<Vertex>& graph, int threads, const control& ctl)
      : graph_(graph),
        threads_(threads),
        ctl_(ctl),
        degrees_(graph.num_vertices),
        far_(graph.num_vertices),
        frontier_(graph.num_vertices + 1),
        next_(graph.num_vertices + 1),  // lower() writes one entry ahead
        num_far_(graph.num_vertices) {
    result_.core = buffer<std::int32_t>(graph.num_vertices);
    result_.round = buffer<std::int32_t>(graph.num_vertices);
    for (std::int64_t v = 0; v < graph.num_vertices; ++v) {
      degrees_[v] = static_cast<Vertex>(graph.degree(v));
      far_[v] = static_cast<Vertex>(v);
    }
  }

  peeling run() {
    peel_all();
    // A round belongs to one level, so levels need not be written vertex by vertex on the way.
    for (std::int64_t v = 0; v < graph_.num_vertices; ++v) result_.core[v] = levels_[result_.round[v]];
    return std::move(result_);
  }

 private:
  void peel_all() {
    while (open_window())
      while (start_level())
        while (num_frontier_ > 0) {
          ctl_.check();
          remove_frontier();
          ctl_.advance(num_frontier_);
          std::swap(frontier_, next_);
          num_frontier_ = num_next_;
          ++result_.num_rounds;
        }
  }

  // Moves the far vertices of the lowest degrees to the near list. False: nobody is left.
  bool open_window() {
    Vertex least = 0;
    num_far_ = keep(far_.data(), num_far_, window_end_, least);
    near_.clear();
    if (num_far_ == 0) return false;
    level_ = least - 1;
    window_end_ = least + window_levels;
    std::int64_t still_far = 0;
    for (std::int64_t i = 0; i < num_far_; ++i) {
      const Vertex v = far_[i];
      if (degrees_[v] < window_end_)
        near_.push_back(v);
      else
        far_[still_far++] = v;
    }
    num_far_ = still_far;
    return true;
  }

  // Sets the level to the smallest degree in the window and collects the vertices that have it. False: the window is
  // done.
  bool start_level() {
    Vertex least = 0;
    const auto left = keep(near_.data(), static_cast<std::int64_t>(near_.size()), level_ + 1, least);
    near_.resize(left);
    if (left == 0) return false;
    level_ = least;
    num_frontier_ = 0;
    for (const Vertex v : near_) {
      frontier_[num_frontier_] = v;
      num_frontier_ += degrees_[v] == least;
    }
    return true;
  }

  // Keeps the vertices of at least this degree, in order: the others are removed. Says their smallest degree.
  std::int64_t keep(Vertex* list, std::int64_t size, Vertex lowest, Vertex& least) const {
    std::int64_t kept = 0;
    least = std::numeric_limits<Vertex>::max();
    for (std::int64_t i = 0; i < size; ++i) {
      const Vertex v = list[i], degree = degrees_[v];
      const bool stays = degree >= lowest;
      list[kept] = v;
      kept += stays;
      least = std::min(least, stays ? degree : least);
    }
    return kept;
  }

  void remove_frontier() {
    levels_.push_back(static_cast<std::int32_t>(level_));
    if (threads_ > 1 && num_frontier_ >= parallel_from_edges / window_levels && frontier_edges() >= parallel_from_edges)
      lower_in_parallel();
    else
      lower();
  }

  std::int64_t frontier_edges() const {
    std::int64_t edges = 0;
    for (std::int64_t i = 0; i < num_frontier_; ++i) edges += graph_.degree(frontier_[i]);
    return edges;
  }

  // Each edge is seen from both ends, and which end went first cannot be predicted: so there is no branch on that. The
  // members are copied because the stores below might, for all the compiler knows, change them.
  void lower() {
    const csr_view<Vertex> graph = graph_;
    Vertex* const degrees = degrees_.data();
    Vertex* const next = next_.data();
    const Vertex* const frontier = frontier_.data();
    std::int32_t* const rounds = result_.round.data();
    const auto size = num_frontier_;
    const auto level = level_, window_last = window_end_ - 1;
    const auto round = result_.num_rounds;
    std::int64_t num_next = 0;
    for (std::int64_t i = 0; i < size; ++i) {
      if (i % grain == 0) ctl_.check();
      if (i + 2 * rows_ahead < size) graph.prefetch_offset(frontier[i + 2 * rows_ahead]);
      if (i + rows_ahead < size) graph.prefetch_row(frontier[i + rows_ahead]);
      if (i + 2 < size)
        for (const Vertex u : graph.row(frontier[i + 2])) __builtin_prefetch(degrees + u, 1);
      rounds[frontier[i]] = round;
      for (const Vertex u : graph.row(frontier[i])) {
        const Vertex degree = degrees[u];
        const Vertex lowered = degree - (degree > level);
        degrees[u] = lowered;
        next[num_next] = u;
        num_next += degree != lowered && lowered == level;
        if (lowered == window_last && degree != lowered && lowered != level) [[unlikely]]
          near_.push_back(u);
      }
    }
    num_next_ = num_next;
  }

  void lower_in_parallel() {
    struct found {
      std::vector<Vertex> next, near;
    };
    std::vector<found> parts(threads_);
    parallel_chunks(0, num_frontier_, std::clamp<std::int64_t>(num_frontier_ / (8 * threads_), 1, grain), threads_,
                    ctl_, [&](int thread, std::int64_t begin, std::int64_t end) {
                      auto& mine = parts[thread];
                      for (auto i = begin; i < end; ++i) {
                        result_.round[frontier_[i]] = result_.num_rounds;
                        for (const Vertex u : graph_.row(frontier_[i])) {
                          std::atomic_ref shared(degrees_[u]);
                          if (shared.load(std::memory_order_relaxed) <= level_) continue;
                          // Two threads may both pass the test, and the degree may fall below the level; but each value
                          // on the way is seen by one of them only.
                          const Vertex degree = shared.fetch_sub(1, std::memory_order_relaxed) - 1;
                          if (degree == level_) mine.next.push_back(u);
                          if (degree == window_end_ - 1 && degree > level_) mine.near.push_back(u);
                        }
                      }
                    });
    num_next_ = 0;
    for (const auto& part : parts) {
      std::copy(part.next.begin(), part.next.end(), next_.begin() + num_next_);
      num_next_ += static_cast<std::int64_t>(part.next.size());
      near_.insert(near_.end(), part.near.begin(), part.near.end());
    }
  }

  const csr_view<Vertex>& graph_;
  const int threads_;
  const control& ctl_;
  buffer<Vertex> degrees_;  // of vertices not removed; of a removed one, at most the level at which it was
  buffer<Vertex> far_;
  std::vector<Vertex> near_;
  buffer<Vertex> frontier_, next_;
  std::int64_t num_far_ = 0, num_frontier_ = 0, num_next_ = 0;
  Vertex level_ = -1, window_end_ = 0;
  std::vector<std::int32_t> levels_;  // of each round
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
