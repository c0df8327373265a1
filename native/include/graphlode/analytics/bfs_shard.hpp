// bfs_shard.hpp - one shard's part of a breadth-first search over several shards.
//
// Every shard holds complete rows of some vertices. It receives each frontier and returns the vertices of the next
// level that it can find: from the frontier's rows that it owns (forwards), or among its own unreached rows
// (backwards).
#pragma once
#include <cstdint>
#include <span>

#include "graphlode/bits.hpp"
#include "graphlode/control.hpp"
#include "graphlode/memory.hpp"
#include "graphlode/store/row_view.hpp"

namespace graphlode::analytics {

class bfs_shard {
 public:
  // `own` has one bit per row, set for the rows that the shard owns.
  bfs_shard(const packed::row_view& rows, std::span<const std::uint64_t> own);

  // Sets the frontier of the next step. Returns about how many entries its rows have here.
  std::int64_t enter(std::span<const std::int32_t> frontier, int threads, const control& ctl);

  struct found {
    buffer<std::int32_t> vertices;
    buffer<std::int32_t> parents;
  };
  found forwards(int threads, const control& ctl);
  found backwards(int threads, const control& ctl);

 private:
  bool owns(std::int64_t row) const { return contains_bit(own_.words(), row); }

  packed::row_view rows_;
  bit_set own_, visited_;
  bit_set frontier_;                             // bits of the current level
  buffer<std::int32_t> parents_, queue_, mine_;  // mine_: the part of the frontier whose rows are here
  bool looked_back_ = false;                     // whether rows known to be empty have been removed from own_
  std::int64_t num_mine_ = 0, entries_ = 0;
};

}  // namespace graphlode::analytics
