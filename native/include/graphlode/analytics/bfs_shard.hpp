// bfs_shard.hpp - the part of one shard in a breadth-first search over several.
//
// Every shard holds some of the rows whole. It is told each frontier, and answers who of the next one it can see: from
// the frontier's rows that it owns (forwards), or among its own rows that are not yet reached (backwards).
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
  // `own` has a bit for each row that the shard owns.
  bfs_shard(const packed::row_view& rows, std::span<const std::uint64_t> own);

  // The frontier from which the next step goes; about how many entries its rows have here.
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
  bit_set frontier_;                             // bits of the level under way
  buffer<std::int32_t> parents_, queue_, mine_;  // mine_: those of the frontier whose rows are here
  bool looked_back_ = false;                     // rows that are known to be empty are taken off own_
  std::int64_t num_mine_ = 0, entries_ = 0;
};

}  // namespace graphlode::analytics
