// cliques/roots.hpp - the rows of a task, handed out to threads: long ones first, one by one, then the others in order.
//
// Long rows may take long, so they come first; the many short ones are taken in runs of neighboring rows, which lie
// together in memory. A task may begin and end inside a row: of such a row only some entries are searched.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <vector>

#include "graphlode/mining/cliques.hpp"

namespace graphlode::mining {

template <class Vertex>
class root_queue {
 public:
  root_queue(const roots_view<Vertex>& view, entry_range task, std::int64_t shortest)
      : graph_(view.graph), task_(task), shortest_(std::max<std::int64_t>(shortest, 1)) {
    const auto* offsets = graph_.offsets;
    first_ = std::upper_bound(offsets, offsets + graph_.num_vertices + 1, task.begin) - offsets - 1;
    last_ = std::lower_bound(offsets, offsets + graph_.num_vertices + 1, task.end) - offsets;
    const auto is_long = [&](Vertex u) { return graph_.degree(u) >= std::max(long_row, shortest_); };
    if (task.begin == 0 && task.end == graph_.num_entries()) {
      const auto* end = std::partition_point(view.roots, view.roots + view.num_roots, is_long);
      long_rows_.assign(view.roots, end);
      if (view.num_roots > 0) longest_ = graph_.degree(view.roots[0]);
    } else {
      for (auto u = first_; u < last_; ++u) {
        longest_ = std::max(longest_, graph_.degree(u));
        if (is_long(static_cast<Vertex>(u))) long_rows_.push_back(static_cast<Vertex>(u));
      }
      std::stable_sort(long_rows_.begin(), long_rows_.end(),
                       [&](Vertex a, Vertex b) { return graph_.degree(a) > graph_.degree(b); });
    }
    next_short_ = first_;
  }

  // The length of the longest row of the task; 1 if none is longer.
  std::int64_t longest() const { return longest_; }

  // Calls search(u, whole row?) for one long row, or for the next run of short ones; false when none are left.
  template <class Search>
  bool take(const Search& search) {
    if (const auto at = next_long_.fetch_add(1, std::memory_order_relaxed); at < long_rows_.size()) {
      search(std::int64_t{long_rows_[at]});
      return true;
    }
    const auto from = next_short_.fetch_add(run_length, std::memory_order_relaxed);
    if (from >= last_) return false;
    for (auto u = from; u < std::min(last_, from + run_length); ++u)
      if (const auto length = graph_.degree(u); length >= shortest_ && length < long_row) search(u);
    return true;
  }

  // The entries of row u that belong to the task, as places in the row.
  std::pair<int, int> part(std::int64_t u) const {
    const auto begin = std::max(task_.begin, graph_.offsets[u]), end = std::min(task_.end, graph_.offsets[u + 1]);
    return {static_cast<int>(begin - graph_.offsets[u]), static_cast<int>(end - graph_.offsets[u])};
  }

 private:
  static constexpr std::int64_t long_row = 65;  // from here on a bit row takes more than one word
  static constexpr std::int64_t run_length = 256;

  csr_view<Vertex> graph_;
  entry_range task_;
  std::int64_t shortest_, first_, last_, longest_ = 1;
  std::vector<Vertex> long_rows_;
  std::atomic<std::size_t> next_long_{0};
  std::atomic<std::int64_t> next_short_{0};
};

}  // namespace graphlode::mining
