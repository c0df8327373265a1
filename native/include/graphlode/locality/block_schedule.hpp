// block_schedule.hpp - how a pass of progressive reordering cuts the edge list.
//
// Level i = 1, 2, .. cuts the list into lanes^i blocks of nearly equal length. `lanes` consecutive blocks form a group,
// and a group is one block of the previous level. A step takes the t-th edge of each block of a group. Block k begins
// at floor(k * num_edges / lanes^i), so blocks differ by at most one edge and levels nest for lists of any length. Only
// the longer blocks take part in the last step of a group.
#pragma once
#include <array>
#include <cstdint>

namespace graphlode::locality {

inline constexpr int most_lanes = 256;

class block_schedule {
 public:
  // 2 <= lanes <= most_lanes, level >= 1.
  block_schedule(std::int64_t num_edges, int lanes, int level);

  int lanes() const noexcept { return lanes_; }
  // 0 if groups would hold at most one edge each: nothing is left to reorder.
  std::int64_t num_groups() const noexcept { return num_groups_; }
  // Steps in which every block of every group takes part.
  std::int64_t full_steps() const noexcept { return full_steps_; }
  // The start of a group; for num_groups(), the end of the list.
  std::int64_t start_of(std::int64_t group) const noexcept { return locate(group).first; }
  // The start of each block of a group, and the end of the last.
  using block_starts = std::array<std::int64_t, most_lanes + 1>;
  void find_starts(std::int64_t group, block_starts& starts) const noexcept;

 private:
  struct location {
    std::int64_t first, rest;  // quotient and remainder of first block * num_edges / num_blocks
  };
  location locate(std::int64_t group) const noexcept;

  std::int64_t num_edges_;
  int lanes_;
  std::int64_t num_groups_ = 1;
  std::int64_t num_blocks_ = 0;
  std::int64_t full_steps_ = 0;
  std::int64_t longer_blocks_ = 0;  // blocks that are longer by one edge
};

}  // namespace graphlode::locality
