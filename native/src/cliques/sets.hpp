// cliques/sets.hpp - the set-centric baseline: candidates are sorted lists that are intersected with rows.
//
// Every level intersects the list with the row of the vertex it holds, by binary search of the shorter in the longer.
// There are no bitmaps, and no closed forms except the length of the last list. It exists for comparison.
#pragma once
#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "cliques/build.hpp"
#include "cliques/search.hpp"
#include "graphlode/csr.hpp"

namespace graphlode::mining {

template <class Vertex>
class set_search {
 public:
  set_search(const csr_view<Vertex>& graph, row_builder<Vertex>& builder, search_thread& thread)
      : graph_(graph), builder_(builder), thread_(thread) {}

  // Counts the cliques of the root u and the entries begin .. end of its row.
  void search(std::int64_t u, int begin, int end) {
    const auto row = graph_.row(u);
    if (thread_.local()) builder_.mark(row);
    lists_.resize(std::max(lists_.size(), static_cast<std::size_t>(thread_.goal.largest)));
    found_ = 0;
    hold_each(row, begin, end, thread_.goal.largest - 1);
    thread_.leaves.add(thread_.goal.largest, 0, found_);
    if (thread_.local()) builder_.unmark(row);
  }

 private:
  // Holds each candidate in begin .. end in turn. `needed` vertices are still missing, including this one.
  void hold_each(std::span<const Vertex> candidates, int begin, int end, int needed) {
    if (needed == 1) return count(candidates.subspan(begin, end - begin));
    auto& next = lists_[static_cast<std::size_t>(needed)];
    for (int i = begin; i < end; ++i) {
      intersect(candidates.subspan(i + 1), graph_.row(candidates[i]), next);
      if (static_cast<int>(next.size()) < needed - 1) continue;
      if (thread_.local()) thread_.tally->push(builder_.place(candidates[i]), path_role::held);
      hold_each(next, 0, static_cast<int>(next.size()), needed - 1);
      if (thread_.local()) thread_.tally->restore(thread_.tally->length() - 1);
    }
  }

  void count(std::span<const Vertex> last) {
    found_ += last.size();
    if (!thread_.local()) return;
    thread_.tally->add(last.size());
    for (const auto v : last) thread_.tally->credit(builder_.place(v), 1);
  }

  void intersect(std::span<const Vertex> a, std::span<const Vertex> b, std::vector<Vertex>& common) {
    if (a.size() > b.size()) std::swap(a, b);
    if ((thread_.allowance -= static_cast<std::int64_t>(a.size()) + 1) < 0) thread_.look_around();
    common.clear();
    auto from = b.begin();
    for (const auto v : a) {
      from = std::lower_bound(from, b.end(), v);
      if (from == b.end()) return;
      if (*from == v) common.push_back(v);
    }
  }

  csr_view<Vertex> graph_;
  row_builder<Vertex>& builder_;
  search_thread& thread_;
  std::vector<std::vector<Vertex>> lists_;
  std::uint64_t found_ = 0;
};

}  // namespace graphlode::mining
