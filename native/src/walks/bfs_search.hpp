// bfs_search.hpp - direction-optimizing breadth-first search over any kind of rows.
//
// A level is found in one of two directions (bfs_steps.hpp). A forward step visits the rows of the frontier, and new
// vertices form the next one: right for small frontiers. In a backward step every unreached vertex looks for a neighbor
// in the frontier and stops at the first: right for the one or two levels that hold most of the graph, where nearly
// every look succeeds at once. The rule for switching follows Beamer, Asanovic and Patterson, "Direction-Optimizing
// Breadth-First Search" (SC 2012).
#pragma once
#include <algorithm>
#include <atomic>
#include <utility>

#include "graphlode/analytics/bfs.hpp"
#include "walks/bfs_steps.hpp"

namespace graphlode::analytics {

// Whether a backward step is cheaper. A forward step visits all entries of the frontier. In a backward step each
// unreached vertex tests about entries_left / frontier_entries of its entries until it meets the frontier, and at least
// one. Such a test costs about half, because it goes along a row and writes nothing. For a store, entries are
// estimates. If they were counted too high, entries_left reaches 0 too early; the lower bound of one test then keeps
// the levels of a long chain from going backwards.
inline bool worth_looking_back(std::int64_t frontier_entries, std::int64_t entries_left, std::int64_t unreached) {
  const auto forwards = static_cast<double>(frontier_entries);
  return 2 * forwards * forwards >
         static_cast<double>(unreached) * static_cast<double>(std::max(frontier_entries, entries_left));
}

template <class Rows>
class breadth_first_search {
 public:
  using vertex = typename Rows::vertex;

  breadth_first_search(const Rows& rows, std::int64_t source, bool symmetric, int threads, const control& ctl)
      : rows_(rows),
        symmetric_(symmetric),
        threads_(threads),
        ctl_(ctl),
        visited_(rows.num_rows()),
        empty_(rows.num_rows()),
        queue_(static_cast<std::size_t>(rows.num_rows())),
        next_queue_(static_cast<std::size_t>(rows.num_rows())),
        entries_left_(rows.num_entries()) {
    const auto n = rows.num_rows();
    tree_.levels = buffer<vertex>(static_cast<std::size_t>(n));
    tree_.parents = buffer<vertex>(static_cast<std::size_t>(n));
    parallel_parts(n, worthwhile_threads(n, threads), [&](int, std::int64_t begin, std::int64_t end) {
      std::fill(tree_.levels.begin() + begin, tree_.levels.begin() + end, vertex{-1});
      std::fill(tree_.parents.begin() + begin, tree_.parents.begin() + end, vertex{-1});
    });
    queue_[0] = static_cast<vertex>(source);
    frontier_size_ = 1;
    settle_queue();
  }

  bfs_tree<vertex> run() {
    while (frontier_size_ > 0) {
      ctl_.check();
      const auto unreached = rows_.num_rows() - tree_.reached;
      if (symmetric_ && worth_looking_back(frontier_entries_, entries_left_, unreached))
        go_backwards();
      else
        go_forwards();
    }
    tree_.depth = level_ - 1;
    ctl_.advance(rows_.num_rows() - tree_.reached);
    return std::move(tree_);
  }

 private:
  void go_forwards() {
    if (frontier_is_bits_) to_queue();
    frontier_size_ = walk_frontier(rows_, queue_.data(), frontier_size_, frontier_entries_, visited_.words(),
                                   tree_.parents.data(), next_queue_.data(), threads_, ctl_);
    std::swap(queue_, next_queue_);
    settle_queue();
  }

  // Makes the queue the frontier and marks its members as visited.
  void settle_queue() {
    constexpr std::int64_t grain = 1024;
    std::atomic<std::int64_t> entries{0};
    parallel_chunks(0, frontier_size_, grain, worthwhile_threads(4 * frontier_size_, threads_), ctl_,
                    [&](int, std::int64_t begin, std::int64_t end) {
                      std::int64_t sum = 0;
                      for (auto i = begin; i < end; ++i) {
                        if (i + rows_ahead < end) rows_.prefetch_index(queue_[i + rows_ahead]);
                        visited_.insert_shared(queue_[i]);
                        tree_.levels[queue_[i]] = static_cast<vertex>(level_);
                        sum += rows_.degree_estimate(queue_[i]);
                      }
                      entries.fetch_add(sum, std::memory_order_relaxed);
                    });
    finish_level(entries.load());
  }

  void go_backwards() {
    if (!frontier_is_bits_) to_bits();
    std::atomic<std::int64_t> entries{0};
    frontier_size_ = look_back(
        rows_, frontier_.words(), tree_.parents.data(),
        [&](std::int64_t w) {
          const auto missing = visited_.missing(w);
          if (!looked_back_) empty_.word(w) = rows_.known_empty(w, missing);
          return missing & ~empty_.words()[w];
        },
        [&](std::int64_t w, std::uint64_t joined, std::uint64_t empty) {
          next_frontier_.word(w) = joined;
          visited_.word(w) |= joined;
          empty_.word(w) |= empty;
          std::int64_t sum = 0;
          for_each_bit(joined, 64 * w, [&](std::int64_t v) {
            tree_.levels[v] = static_cast<vertex>(level_);
            sum += rows_.degree_estimate(v);
          });
          if (sum > 0) entries.fetch_add(sum, std::memory_order_relaxed);
        },
        threads_, ctl_);
    looked_back_ = true;
    std::swap(frontier_, next_frontier_);
    finish_level(entries.load());
  }

  void to_bits() {
    if (frontier_.num_words() == 0) {
      frontier_ = bit_set(rows_.num_rows());
      next_frontier_ = bit_set(rows_.num_rows());
    }
    frontier_.clear();
    for (std::int64_t i = 0; i < frontier_size_; ++i) frontier_.insert(queue_[i]);
    frontier_is_bits_ = true;
  }

  void to_queue() {
    std::int64_t size = 0;
    for (std::int64_t w = 0; w < frontier_.num_words(); ++w)
      for_each_bit(frontier_.words()[w], 64 * w, [&](std::int64_t v) { queue_[size++] = static_cast<vertex>(v); });
    frontier_is_bits_ = false;
  }

  void finish_level(std::int64_t entries) {
    if (frontier_size_ > 0) ++level_;
    frontier_entries_ = entries;
    entries_left_ = std::max<std::int64_t>(entries_left_ - entries, 0);
    tree_.reached += frontier_size_;
    ctl_.advance(frontier_size_);
  }

  const Rows& rows_;
  bool symmetric_;
  int threads_;
  const control& ctl_;
  bfs_tree<vertex> tree_;
  bit_set visited_;                         // vertices on completed levels
  bit_set empty_;                           // rows found to be empty: testing that repeatedly is expensive in a store
  buffer<vertex> queue_, next_queue_;       // the frontier of forward steps
  bit_set frontier_{0}, next_frontier_{0};  // the frontier of backward steps
  bool frontier_is_bits_ = false;
  bool looked_back_ = false;  // whether rows known to be empty are in empty_
  std::int64_t frontier_size_ = 0, frontier_entries_ = 0;
  std::int64_t entries_left_;  // of unreached vertices
  std::int64_t level_ = 0;     // of the vertices found next
};

template <class Rows>
bfs_tree<typename Rows::vertex> search_breadth_first(const Rows& rows, std::int64_t source, bool symmetric, int threads,
                                                     const control& ctl) {
  return breadth_first_search<Rows>(rows, source, symmetric, threads, ctl).run();
}

}  // namespace graphlode::analytics
