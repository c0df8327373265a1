// cliques/pivot.hpp - counting cliques by pivoting on bit rows of one width.
//
// At a node with candidates P a pivot is chosen, a candidate with most neighbors in P. Every clique within P either
// contains a candidate that is not adjacent to the pivot, and is counted where the first of those is held; or it is a
// clique among the pivot's neighbors, with or without the pivot. The second kind is one branch in which the pivot may
// or may not be chosen later: a leaf with h held vertices and p such pivots stands for C(p, k - h) cliques of size k.
//
// Most nodes close at once: P is a clique, or independent, or a clique minus a matching, or at most two more vertices
// are needed. Vertices adjacent to all other candidates become pivots together, without a node for each. The search
// keeps its own stack: it may be deep, and the part nearest to the root can be given to an idle thread.
#pragma once
#include <algorithm>
#include <cstdint>

#include "cliques/search.hpp"

namespace graphlode::mining {

// `Words` per row, 0 for any number; `Local` also counts per vertex or edge. Everything is inlined into the function
// that runs the search, so that all of it is compiled for the instruction set of that function.
template <int Words, bool Local>
class pivot_search {
 public:
  [[gnu::always_inline]] pivot_search(search_thread& thread, const search_start& start)
      : thread_(thread),
        leaves_(thread.leaves),
        stack_(thread.stacks[static_cast<std::size_t>(start.width_class)]),
        shared_rows_(start.rows),
        rows_(start.rows->bits.data()),
        width_(start.rows->words),
        width_class_(start.width_class),
        largest_(thread.goal.largest),
        smallest_(thread.goal.smallest()),
        single_(thread.goal.single) {
    // A branch loses two candidates at least: the one held and the pivot, or the pivot and one that was held.
    stack_.reserve(start.rows->size / 2 + 2, width_);
  }

  [[gnu::always_inline]] void run(const search_start& start) {
    std::copy_n(start.sets, words() * (start.opened ? 2 : 1), rest(0));
    if (start.opened) {
      stack_.nodes[0] = start.node;
      note_path(0, path_length());
    } else if (!open(0, start.node.held, start.node.passed, path_length())) {
      return;
    }
    for (int depth = 0; depth >= 0;) depth = step(depth);
  }

 private:
  int words() const { return Words ? Words : width_; }
  word* rest(int depth) { return stack_.sets.data() + std::int64_t{depth} * 2 * words(); }
  word* todo(int depth) { return rest(depth) + words(); }
  const word* row(int v) const { return rows_ + std::int64_t{v} * words(); }
  int path_length() const { return Local ? thread_.tally->length() : 0; }
  void note_path(int depth, int before) {
    if constexpr (Local) {
      stack_.path_lengths[2 * depth] = before;
      stack_.path_lengths[2 * depth + 1] = path_length();
    }
  }

  // Takes the next branch of the deepest node; returns the depth to go on at.
  [[gnu::always_inline]] int step(int depth) {
    auto& node = stack_.nodes[depth];
    word* const from = rest(depth);
    word* const waiting = todo(depth);
    int w = 0;
    while (w < words() && waiting[w] == 0) ++w;
    int held = node.held, passed = node.passed, v;
    if (w < words()) {
      const word bit = waiting[w] & -waiting[w];
      waiting[w] ^= bit;
      from[w] ^= bit;
      v = w * word_bits + lowest_bit(bit);
      ++held;
    } else if (node.pivot >= 0) {
      v = node.pivot;
      node.pivot = -1;
      ++passed;
    } else {
      if constexpr (Local) thread_.tally->restore(stack_.path_lengths[2 * depth]);
      return depth - 1;
    }
    const int before = path_length();
    if constexpr (Local) thread_.tally->push(name(v), passed > node.passed ? path_role::pivot : path_role::held);
    word* const into = rest(depth + 1);
    const word* const adjacent = row(v);
    for (int q = 0; q < words(); ++q) into[q] = from[q] & adjacent[q];
    if (open(depth + 1, held, passed, before)) return depth + 1;
    if constexpr (Local) thread_.tally->restore(before);
    return depth;
  }

  // Looks at the candidates in rest(depth): counts what closes at once; else chooses a pivot and returns true. The path
  // had `before` steps before the step that led here.
  [[gnu::always_inline]] bool open(int depth, int held, int passed, int before) {
    word* const set = rest(depth);
    int size = 0;
    for (int q = 0; q < words(); ++q) size += count_bits(set[q]);
    const int needed = largest_ - held;
    if (held + passed + size < smallest_) return false;
    if (size == 0 || needed == 0) {
      leaf(held, passed);
      return false;
    }
    if (single_ && needed == 1) {
      leaf_with(held, passed, set, size);
      return false;
    }
    if ((thread_.allowance -= size * words()) < 0) look_around(depth);

    int universal = 0, all_but_one = 0;
    std::int64_t degrees = 0, best = -1;  // best: degree, then vertex
    word* const universals = todo(depth);
    for (int w = 0; w < words(); ++w) {
      word found = 0;
      for (word left = set[w]; left; left &= left - 1) {
        const int bit = lowest_bit(left);
        const int v = w * word_bits + bit;
        const word* const adjacent = row(v);
        int degree = 0;
        for (int q = 0; q < words(); ++q) degree += count_bits(set[q] & adjacent[q]);
        degrees += degree;
        const bool adjacent_to_all = degree == size - 1;
        found |= word{adjacent_to_all} << bit;
        all_but_one += degree == size - 2;
        best = std::max(best, adjacent_to_all ? -1 : (std::int64_t{degree} << 32) | v);
      }
      universal += count_bits(found);
      universals[w] = found;
    }
    if (universal == size) {
      leaf_with(held, passed, set, size);
      return false;
    }
    if (single_ && needed == 2) {
      close_with_two(held, passed, set, size, degrees / 2);
      return false;
    }
    if (!Local && universal + all_but_one == size && all_but_one <= 2 * most_pairs) {
      close_matching(held, passed + universal, all_but_one / 2);
      return false;
    }
    if (universal) {
      for (int q = 0; q < words(); ++q) set[q] ^= universals[q];
      if constexpr (Local) push_all(universals, path_role::pivot);
      passed += universal;
      size -= universal;
    }
    const int pivot_degree = static_cast<int>(best >> 32) - universal;
    if (pivot_degree == 0) {
      close_independent(held, passed, set, size);
      return closed(universal);
    }
    if (single_ && passed + pivot_degree + 1 < needed) return closed(universal);
    const int pivot = static_cast<int>(best & 0xffffffff);
    const word* const adjacent = row(pivot);
    for (int q = 0; q < words(); ++q) universals[q] = set[q] & ~adjacent[q];
    universals[pivot / word_bits] &= ~(word{1} << (pivot % word_bits));
    stack_.nodes[depth] = {held, passed, pivot};
    if (Words != 1 && worth_narrowing(size)) {
      search_narrowed(depth, size);
      return closed(universal);
    }
    note_path(depth, before);
    return true;
  }

  // Takes universal vertices off the path again where a node does not stay open.
  [[gnu::always_inline]] bool closed(int universal) {
    if constexpr (Local) thread_.tally->restore(path_length() - universal);
    return false;
  }

  bool worth_narrowing(int size) const {
    return Words ? size <= word_bits * Words / 2 : width_for(size, Local).width_class != any_width_class;
  }

  // Goes on with a copy of the candidates' rows in the narrowest width.
  [[gnu::noinline]] void search_narrowed(int depth, int size) {
    const auto width = width_for(size, Local);
    auto& narrow = thread_.slots.fresh(width.width_class);
    narrow->resize(size, width.words, Local);
    narrow_rows(*shared_rows_, rest(depth), *narrow, Local);
    auto node = stack_.nodes[depth];
    int before_pivot = 0;
    for (int q = 0; q < node.pivot / word_bits; ++q) before_pivot += count_bits(rest(depth)[q]);
    const word below = (word{1} << (node.pivot % word_bits)) - 1;
    node.pivot = before_pivot + count_bits(rest(depth)[node.pivot / word_bits] & below);
    auto& stack = thread_.stacks[static_cast<std::size_t>(width.width_class)];
    stack.reserve(size / 2 + 2, width.words);
    word* const sets = stack.sets.data();  // where the search will want them
    fill_set(sets, size, width.words);
    narrow_set(todo(depth), rest(depth), words(), sets + width.words, width.words);
    search_by_pivot(thread_, {narrow, width.width_class, node, sets, true});
  }

  // Stops if asked to, and gives the node nearest to the root to a thread that waits.
  [[gnu::noinline]] void look_around(int depth) {
    thread_.look_around();
    for (int d = 0; d < depth && thread_.pool.wanted(); ++d) {
      auto& node = stack_.nodes[d];
      const bool more = std::any_of(todo(d), todo(d) + words(), [](word waiting) { return waiting != 0; });
      if (!more && node.pivot < 0) continue;
      branch given{shared_rows_, width_class_, thread_.root, node, {rest(d), rest(d) + 2 * words()}, {}};
      if constexpr (Local) {
        const auto* steps = thread_.tally->steps();
        given.path.assign(steps, steps + stack_.path_lengths[2 * d + 1]);
      }
      thread_.pool.give(std::move(given));
      std::fill_n(todo(d), words(), word{0});
      node.pivot = -1;
    }
  }

  [[gnu::always_inline]] void leaf(int held, int passed, std::uint64_t times = 1) {
    leaves_.add(held, passed, times);
    if constexpr (Local) thread_.tally->leaf(largest_ - held, passed);
  }

  // All candidates are adjacent to each other (or only one more is needed): each may be chosen.
  [[gnu::always_inline]] void leaf_with(int held, int passed, const word* set, int size) {
    if constexpr (Local) {
      const int before = path_length();
      push_all(set, path_role::pivot);
      leaf(held, passed + size);
      thread_.tally->restore(before);
    } else {
      leaf(held, passed + size);
    }
  }

  // Two more are needed: both pivots, a pivot and a candidate, or an edge among the candidates.
  [[gnu::always_inline]] void close_with_two(int held, int passed, const word* set, int size, std::int64_t edges) {
    leaf(held, passed);
    leaves_.add(held + 1, passed, static_cast<std::uint64_t>(size));
    leaves_.add(held + 2, 0, static_cast<std::uint64_t>(edges));
    if constexpr (Local) credit_edges(passed, set);
  }

  // No two candidates are adjacent: at most one of them is chosen.
  [[gnu::always_inline]] void close_independent(int held, int passed, const word* set, int size) {
    leaf(held, passed);
    leaves_.add(held + 1, passed, static_cast<std::uint64_t>(size));
    if constexpr (Local)
      each(set, [&](int v) {
        const int before = path_length();
        thread_.tally->push(name(v), path_role::held);
        thread_.tally->leaf(largest_ - held - 1, passed);
        thread_.tally->restore(before);
      });
  }

  // Every candidate left is adjacent to all but one: j vertices from different ones of the `pairs`, and pivots.
  [[gnu::always_inline]] void close_matching(int held, int passed, int pairs) {
    const int most = std::min(pairs, largest_ - held);
    for (int j = std::max(0, smallest_ - held - passed); j <= most; ++j)
      leaves_.add(held + j, passed, choices_from_pairs[static_cast<std::size_t>(pairs)][static_cast<std::size_t>(j)]);
  }

  void credit_edges(int passed, const word* set) {
    auto& tally = *thread_.tally;
    each(set, [&](int v) {
      const int before = path_length();
      std::uint64_t lower = 0, higher = 0;
      each_common(set, row(v), [&](int w) {
        if (w < v) {
          ++lower;
        } else {
          ++higher;
          if (tally.by_edge()) tally.credit_pair(name(v), name(w), 1);
        }
      });
      tally.credit(name(v), lower);
      tally.push(name(v), path_role::held);
      tally.leaf(1, passed);
      tally.add(higher);
      tally.restore(before);
    });
  }

  int name(int v) const { return shared_rows_->names[static_cast<std::size_t>(v)]; }
  void push_all(const word* set, path_role role) {
    each(set, [&](int v) { thread_.tally->push(name(v), role); });
  }
  template <class Visit>
  void each(const word* set, Visit visit) const {
    for (int w = 0; w < words(); ++w)
      for (word left = set[w]; left; left &= left - 1) visit(w * word_bits + lowest_bit(left));
  }
  template <class Visit>
  void each_common(const word* set, const word* other, Visit visit) const {
    for (int w = 0; w < words(); ++w)
      for (word left = set[w] & other[w]; left; left &= left - 1) visit(w * word_bits + lowest_bit(left));
  }

  search_thread& thread_;
  leaf_table& leaves_;
  search_stack& stack_;
  const std::shared_ptr<row_block>& shared_rows_;
  const word* const rows_;
  const int width_, width_class_, largest_, smallest_;
  const bool single_;
};

}  // namespace graphlode::mining
