// block_schedule.cpp - computes the nested cuts of an edge list.
#include "graphlode/locality/block_schedule.hpp"

namespace graphlode::locality {

__extension__ using wide = unsigned __int128;

block_schedule::block_schedule(std::int64_t num_edges, int lanes, int level) : num_edges_(num_edges), lanes_(lanes) {
  for (int i = 1; i < level && num_groups_ < num_edges; ++i) num_groups_ *= lanes;
  if (num_groups_ >= num_edges) {
    num_groups_ = 0;
    return;
  }
  num_blocks_ = num_groups_ * lanes;
  full_steps_ = num_edges / num_blocks_;
  longer_blocks_ = num_edges % num_blocks_;
}

// Deep levels have groups of a few edges, so a 128-bit division is used only if necessary.
block_schedule::location block_schedule::locate(std::int64_t group) const noexcept {
  const auto first_block = group * lanes_;
  std::int64_t product = 0;
  if (!__builtin_mul_overflow(first_block, num_edges_, &product)) return {product / num_blocks_, product % num_blocks_};
  const wide exact = static_cast<wide>(first_block) * static_cast<wide>(num_edges_);
  return {static_cast<std::int64_t>(exact / static_cast<wide>(num_blocks_)),
          static_cast<std::int64_t>(exact % static_cast<wide>(num_blocks_))};
}

void block_schedule::find_starts(std::int64_t group, block_starts& starts) const noexcept {
  auto [start, rest] = locate(group);
  starts[0] = start;
  for (std::size_t lane = 1; lane <= static_cast<std::size_t>(lanes_); ++lane) {
    rest += longer_blocks_;
    const bool longer = rest >= num_blocks_;
    if (longer) rest -= num_blocks_;
    starts[lane] = starts[lane - 1] + full_steps_ + longer;
  }
}

}  // namespace graphlode::locality
