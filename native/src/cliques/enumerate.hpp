// cliques/enumerate.hpp - enumerates cliques, except for their last two vertices, on bit rows of one width.
//
// Rows are directed: bit j of row i is set only for j > i, so every clique is found once, in ascending order. When two
// vertices are missing, the edges among the candidates are counted by AND + popcount. The work is that of the (k -
// 2)-cliques. On dense graphs whose cliques overlap little this is less than the tree of a pivoting search.
#pragma once
#include <algorithm>
#include <cstdint>

#include "cliques/search.hpp"

namespace graphlode::mining {

// As pivot_search: `Words` per row, 0 for any number. `Local` also counts per vertex or edge.
template <int Words, bool Local>
class enumerate_search {
 public:
  [[gnu::always_inline]] enumerate_search(search_thread& thread, const search_start& start)
      : thread_(thread),
        stack_(thread.stacks[static_cast<std::size_t>(start.width_class)]),
        shared_rows_(start.rows),
        rows_(start.rows->bits.data()),
        width_(start.rows->words),
        width_class_(start.width_class),
        k_(thread.goal.largest) {
    stack_.reserve(std::min(k_ - start.node.held, start.rows->size) + 1, width_);
  }

  [[gnu::always_inline]] void run(const search_start& start) {
    std::copy_n(start.sets, words(), rest(0));
    if (open(0, start.node.held))
      for (int depth = 0; depth >= 0;) depth = step(depth);
    thread_.leaves.add(k_, 0, found_);
  }

 private:
  int words() const { return Words ? Words : width_; }
  word* rest(int depth) { return stack_.sets.data() + std::int64_t{depth} * words(); }
  const word* row(int v) const { return rows_ + std::int64_t{v} * words(); }

  // Holds the next candidate of the deepest node. Returns the depth at which to continue.
  [[gnu::always_inline]] int step(int depth) {
    word* const from = rest(depth);
    int w = 0;
    while (w < words() && from[w] == 0) ++w;
    if (w == words()) {
      if constexpr (Local)
        if (depth > 0) thread_.tally->restore(thread_.tally->length() - 1);
      return depth - 1;
    }
    const int v = w * word_bits + lowest_bit(from[w]);
    from[w] &= from[w] - 1;
    if constexpr (Local) thread_.tally->push(name(v), path_role::held);
    word* const into = rest(depth + 1);
    const word* const adjacent = row(v);
    for (int q = 0; q < words(); ++q) into[q] = from[q] & adjacent[q];
    if (open(depth + 1, stack_.nodes[depth].held + 1)) return depth + 1;
    if constexpr (Local) thread_.tally->restore(thread_.tally->length() - 1);
    return depth;
  }

  // Counts the node of the candidates in rest(depth) if it closes at once. Returns whether it has branches.
  [[gnu::always_inline]] bool open(int depth, int held) {
    word* const set = rest(depth);
    int size = 0;
    for (int q = 0; q < words(); ++q) size += count_bits(set[q]);
    const int needed = k_ - held;
    if (size < needed) return false;
    stack_.nodes[depth] = {held, 0, -1};
    if ((thread_.allowance -= size * words()) < 0) look_around(depth);
    if (needed == 2) {
      close_with_two(set);
      return false;
    }
    if (needed == 1) {
      close_with_one(set, size);
      return false;
    }
    if (Words != 1 && worth_narrowing(size)) {
      search_narrowed(depth, size);
      return false;
    }
    return true;
  }

  [[gnu::always_inline]] void close_with_two(const word* set) {
    std::uint64_t edges = 0;
    for (int w = 0; w < words(); ++w)
      for (word left = set[w]; left; left &= left - 1) {
        const word* const adjacent = row(w * word_bits + lowest_bit(left));
        int degree = 0;
        for (int q = 0; q < words(); ++q) degree += count_bits(set[q] & adjacent[q]);
        edges += static_cast<std::uint64_t>(degree);
      }
    found_ += edges;
    if constexpr (Local) {
      thread_.tally->add(edges);
      credit_edges(set);
    }
  }

  void close_with_one(const word* set, int size) {
    found_ += static_cast<std::uint64_t>(size);
    if constexpr (Local) {
      thread_.tally->add(static_cast<std::uint64_t>(size));
      each(set, [&](int v) { thread_.tally->credit(name(v), 1); });
    }
  }

  void credit_edges(const word* set) {
    auto& tally = *thread_.tally;
    each(set, [&](int v) {
      std::uint64_t higher = 0;
      const word* const adjacent = row(v);
      for (int w = 0; w < words(); ++w)
        for (word left = set[w] & adjacent[w]; left; left &= left - 1) {
          const int other = w * word_bits + lowest_bit(left);
          ++higher;
          tally.credit(name(other), 1);
          if (tally.by_edge()) tally.credit_pair(name(v), name(other), 1);
        }
      tally.credit(name(v), higher);
    });
  }

  bool worth_narrowing(int size) const {
    return Words ? size <= word_bits * Words / 2 : width_for(size, Local).width_class != any_width_class;
  }

  [[gnu::noinline]] void search_narrowed(int depth, int size) {
    const auto width = width_for(size, Local);
    auto& narrow = thread_.slots.fresh(width.width_class);
    narrow->resize(size, width.words, Local);
    narrow_rows(*shared_rows_, rest(depth), *narrow, Local);
    auto& stack = thread_.stacks[static_cast<std::size_t>(width.width_class)];
    stack.reserve(std::min(k_ - stack_.nodes[depth].held, size) + 1, width.words);
    fill_set(stack.sets.data(), size, width.words);
    search_by_enumeration(thread_, {narrow, width.width_class, stack_.nodes[depth], stack.sets.data(), false});
  }

  // Stops on request, and gives the node nearest to the root to a waiting thread.
  [[gnu::noinline]] void look_around(int depth) {
    thread_.look_around();
    for (int d = 0; d < depth && thread_.pool.wanted(); ++d) {
      if (std::all_of(rest(d), rest(d) + words(), [](word waiting) { return waiting == 0; })) continue;
      branch given{shared_rows_, width_class_, thread_.root, stack_.nodes[d], {rest(d), rest(d) + words()}, {}};
      if constexpr (Local) {
        const auto* steps = thread_.tally->steps();
        given.path.assign(steps, steps + thread_.tally->length() - (depth - d));
      }
      thread_.pool.give(std::move(given));
      std::fill_n(rest(d), words(), word{0});
    }
  }

  int name(int v) const { return shared_rows_->names[static_cast<std::size_t>(v)]; }
  template <class Visit>
  void each(const word* set, Visit visit) const {
    for (int w = 0; w < words(); ++w)
      for (word left = set[w]; left; left &= left - 1) visit(w * word_bits + lowest_bit(left));
  }

  search_thread& thread_;
  search_stack& stack_;
  const std::shared_ptr<row_block>& shared_rows_;
  const word* const rows_;
  const int width_, width_class_, k_;
  std::uint64_t found_ = 0;
};

}  // namespace graphlode::mining
