// cliques/leaves.hpp - the number of leaves of each kind, per thread.
//
// A leaf with h held vertices and p pivots stands for C(p, k - h) cliques of every size k. Counting leaves instead of
// cliques needs no wide arithmetic in the search. A cell that overflows 64 bits carries into a second table.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <utility>

#include "graphlode/mining/cliques.hpp"

namespace graphlode::mining {

// A clique without a matching of m pairs is closed by one formula: C(m, j) 2^j choices of j vertices from different
// pairs. The numbers fit 64 bits up to this m.
constexpr int most_pairs = 39;

constexpr std::array<std::array<std::uint64_t, most_pairs + 1>, most_pairs + 1> choices_from_pairs = [] {
  std::array<std::array<std::uint64_t, most_pairs + 1>, most_pairs + 1> table{};
  for (std::size_t m = 0; m <= most_pairs; ++m) {
    table[m][0] = 1;
    for (std::size_t j = 1; j <= m; ++j) table[m][j] = table[m - 1][j] + 2 * table[m - 1][j - 1];
  }
  return table;
}();

struct search_goal {
  int largest;  // the size of the cliques, or the largest size
  bool single;  // only that size

  int smallest() const { return single ? largest : 0; }
};

// The number of vertices that a search can hold below a row of `longest` entries, including the root. Each held vertex
// also removes the pivot, which is not adjacent to it. The closed forms for a single size hold more vertices.
constexpr std::int64_t most_held(std::int64_t longest, search_goal goal) {
  return std::min<std::int64_t>(goal.largest, goal.single ? longest + 1 : longest / 2 + 4);
}

class leaf_table {
 public:
  leaf_table(std::int64_t longest, std::int64_t held) {
    counts_.rows = held + 1;
    counts_.columns = longest + 2;
    const auto cells = static_cast<std::size_t>(counts_.rows * counts_.columns);
    counts_.low = buffer<std::uint64_t>(cells);
    counts_.high = buffer<std::uint64_t>(cells);
    counts_.low.zero();
    counts_.high.zero();
  }

  [[gnu::always_inline]] void add(int held, int passed, std::uint64_t times) {
    const auto cell = static_cast<std::size_t>(held * counts_.columns + passed);
    if (__builtin_add_overflow(counts_.low[cell], times, &counts_.low[cell])) ++counts_.high[cell];
  }
  void merge(const leaf_table& other) {
    for (std::size_t cell = 0; cell < counts_.low.size(); ++cell) {
      counts_.high[cell] += other.counts_.high[cell];
      if (__builtin_add_overflow(counts_.low[cell], other.counts_.low[cell], &counts_.low[cell])) ++counts_.high[cell];
    }
  }
  leaf_counts take() { return std::move(counts_); }

 private:
  leaf_counts counts_;
};

}  // namespace graphlode::mining
