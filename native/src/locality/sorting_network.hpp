// sorting_network.hpp - sorts many short columns side by side.
//
// A step of progressive reordering sorts one edge of each lane. Eight steps are sorted side by side: row j of the
// matrix holds the edges of lane j, one per step, and a compare-exchange of two rows handles all eight steps in two or
// three vector instructions. The comparisons do not depend on the data (Batcher's merge exchange, Knuth 5.2.2,
// algorithm M), so the network for any number of lanes is a list of pairs, without branches.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "graphlode/locality/edge_word.hpp"

namespace graphlode::locality {

inline constexpr int network_columns = 8;  // one 512-bit vector

struct alignas(64) network_row {
  edge_word words[network_columns];
};

class sorting_network {
 public:
  explicit sorting_network(int lanes);
  // Sorts every column of rows[0] .. rows[lanes - 1] in ascending order.
  void sort(network_row* rows) const;
  std::size_t num_comparisons() const noexcept { return pairs_.size(); }

 private:
  struct pair {
    std::uint16_t low, high;
  };
  static void exchange(network_row* rows, const pair* pairs, std::size_t count);
  std::vector<pair> pairs_;
};

}  // namespace graphlode::locality
