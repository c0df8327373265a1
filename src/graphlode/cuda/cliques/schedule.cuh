// cliques/schedule.cuh - double-buffered scheduling between the lanes of a warp, at every level of a search.
//
// At each level each of the 32 lanes holds a set. A filter moves over the positions of all sets in step. At each
// position, the lanes that have the bit append the pair (lane, position) to a ring of 64 slots, by a ballot. As soon as
// 32 pairs wait, every lane takes one, ANDs the set of the pair's lane with the row of the position, and the warp
// descends one level together; then the filter moves on. So all lanes have work except in the last step of a level,
// however unevenly the bits are distributed. 64 slots suffice because at most 31 pairs wait when up to 32 are added.
// All pairs of one filter position name the same row. Space per level: 32 sets and the ring.
#pragma once
#include "cliques/walks.cuh"

template <int Words>
constexpr int schedule_level_words = 32 * Words + 64;

template <int Words, int Needed>
struct lane_schedule {
  // Counts below the sets in `level`: word w of a lane's set is level[32 w + lane], and the ring follows. Deeper levels
  // use the space behind it.
  template <class Meter>
  __device__ __noinline__ static unsigned long long count(const unsigned* matrix, int stride, unsigned* level,
                                                          Meter& meter) {
    unsigned* const ring = level + 32 * Words;
    unsigned long long found = 0;
    int waiting = 0;
    __syncwarp();
#pragma unroll 1
    for (int word = 0; word < Words; ++word) {
      const unsigned own = level[32 * word + lane_id()];
      // Positions where no lane has a bit need no ballot.
      for (unsigned any = __reduce_or_sync(full_mask, own); any != 0; any &= any - 1) {
        const int bit = __ffs(static_cast<int>(any)) - 1;
        const bool set = own >> bit & 1u;
        const unsigned votes = __ballot_sync(full_mask, set);
        if (set) {
          ring[waiting + votes_below(votes)] =
              static_cast<unsigned>(lane_id()) << 16 | static_cast<unsigned>(32 * word + bit);
        }
        waiting += __popc(votes);
        if (waiting >= 32) {
          waiting -= 32;
          found += launch(matrix, stride, level, waiting, 32, meter);
        }
      }
    }
    if (waiting > 0) found += launch(matrix, stride, level, 0, waiting, meter);
    return found;
  }

  // Each lane takes one of the `taken` pairs from slot `first` on.
  template <class Meter>
  __device__ __forceinline__ static unsigned long long launch(const unsigned* matrix, int stride, unsigned* level,
                                                              int first, int taken, Meter& meter) {
    __syncwarp();
    const bool busy = lane_id() < taken;
    const unsigned pair = busy ? level[32 * Words + first + lane_id()] : 0u;
    const int source = static_cast<int>(pair >> 16), member = static_cast<int>(pair & 0xffffu);
    unsigned next[Words];
    int size = 0;
    if (busy) meter.step();
#pragma unroll
    for (int w = 0; w < Words; ++w) {
      next[w] = busy ? level[32 * w + source] & matrix[w * stride + member] : 0u;
      size += __popc(next[w]);
    }
    unsigned long long found = 0;
    if (Needed == 2) {
      found = static_cast<unsigned long long>(size);
    } else {
      found = count_below<Words, Needed - 1>(matrix, stride, level + schedule_level_words<Words>, next, size, meter);
    }
    __syncwarp();
    return found;
  }

  // Stores each lane's set in a level, unless it is too small, and counts below it.
  template <int AnyWords, int Left, class Meter>
  __device__ __forceinline__ static unsigned long long count_below(const unsigned* matrix, int stride, unsigned* level,
                                                                   const unsigned (&sets)[AnyWords], int size,
                                                                   Meter& meter) {
    const bool enough = size >= Left;
    if (!__any_sync(full_mask, enough)) return 0;
#pragma unroll
    for (int w = 0; w < AnyWords; ++w) level[32 * w + lane_id()] = enough ? sets[w] : 0u;
    return lane_schedule<AnyWords, (Left < 2 ? 2 : Left)>::count(matrix, stride, level, meter);
  }
};

// Counts cliques of Needed vertices in a matrix: pairs of members come from a queue, deeper levels use the schedule.
template <int Words, int Needed, class Meter>
__device__ __noinline__ unsigned long long scheduled_walk(const unsigned* matrix, int stride, branch_range range,
                                                          unsigned* slots, unsigned* levels, Meter& meter) {
  unsigned long long found = 0;
  pair_queue<Words> pairs(matrix, stride, range, slots);
  for (pairs.fill(); pairs.waiting > 0; pairs.fill()) {
    int first, second, size = 0;
    unsigned common[Words] = {};
    if (pairs.take(first, second)) {
      meter.step();
      size = common_members<Words>(matrix, stride, first, second, common);
    }
    __syncwarp();
    if (Needed == 3) {
      found += static_cast<unsigned long long>(size);
    } else {
      found += lane_schedule<Words, Needed>::template count_below<Words, Needed - 2>(matrix, stride, levels, common,
                                                                                     size, meter);
    }
  }
  return found;
}
