// cliques/walks.cuh - three ways for a warp to count the cliques of `Needed` vertices in a built matrix.
//
// - thread-parallel: the warp goes from row to row. Each lane tests one bit of the row and, if it is set, searches
//   alone below that pair of members. Lanes without a bit wait, and so do lanes with small subtrees.
// - queued: the pairs (row, 1-bit) go into a queue first, and every lane takes a pair from it.
// - in registers: for Needed = 3 only. Lane b keeps rows b, b + 32, .. in registers, and all lanes go through the rows
//   a together. A row costs AND + popcount of registers, with neither queue nor gather. Nonadjacent pairs cost as much
//   as adjacent ones, which pays in dense matrices, and those have most cliques.
//
// Matrices are built by cliques/matrix.cuh: word w of row i is matrix[w * stride + i], with bits above i only.
#pragma once
#include "cliques/matrix.cuh"

// A number as a type: a compile-time argument of a generic lambda.
template <int Value>
struct constant {
  static constexpr int value = Value;
};

// Measures lane utilization: for every AND of a search, the number of lanes that take part. Free unless `Counting`.
template <bool Counting>
struct lane_meter {
  unsigned long long lane_steps = 0, warp_steps = 0;

  // Called by the lanes that take part, together or separately.
  __device__ __forceinline__ void step() {
    if (!Counting) return;
    ++lane_steps;
    if (lane_id() == __ffs(static_cast<int>(__activemask())) - 1) ++warp_steps;
  }
};

// Counts cliques of Needed vertices in the set `current`, with one lane.
template <int Words, int Needed>
struct lane_search {
  template <class Meter>
  __device__ __forceinline__ static unsigned long long count(const unsigned* matrix, int stride,
                                                             const unsigned (&current)[Words], Meter& meter) {
    unsigned long long found = 0;
#pragma unroll 1
    for (int word = 0; word < Words; ++word) {
      unsigned bits = current[0];
#pragma unroll
      for (int w = 1; w < Words; ++w) {  // registers cannot be indexed at run time
        if (w == word) bits = current[w];
      }
      for (; bits != 0; bits &= bits - 1) {
        const int member = 32 * word + __ffs(static_cast<int>(bits)) - 1;
        unsigned next[Words];
        int size = 0;
        meter.step();
#pragma unroll
        for (int w = 0; w < Words; ++w) {
          next[w] = current[w] & matrix[w * stride + member];
          size += __popc(next[w]);
        }
        if (size >= Needed - 1) found += lane_search<Words, Needed - 1>::count(matrix, stride, next, meter);
      }
    }
    return found;
  }
};

// Counts the 1-bits of many words with fewer popcounts, which run at a quarter of the rate of logic. Full adders on 32
// columns at once keep the lowest bits of the count, and only their carries are counted.
template <int Words>
struct bit_counter {
  unsigned ones = 0, twos = 0, found = 0;

  // Sum and carry of three bits in each of 32 columns.
  __device__ __forceinline__ static unsigned add(unsigned& sum, unsigned a, unsigned b) {
    const unsigned carry = (sum & a) | (sum & b) | (a & b);
    sum = sum ^ a ^ b;
    return carry;
  }

  __device__ __forceinline__ void count(const unsigned (&words)[Words]) {
    if constexpr (Words == 1) {
      found += static_cast<unsigned>(__popc(words[0]));
    } else if constexpr (Words == 2) {
      found += 2 * static_cast<unsigned>(__popc(add(ones, words[0], words[1])));
    } else {
#pragma unroll
      for (int w = 0; w < Words; w += 4) {
        const unsigned first = add(ones, words[w], words[w + 1]), second = add(ones, words[w + 2], words[w + 3]);
        found += 4 * static_cast<unsigned>(__popc(add(twos, first, second)));
      }
    }
  }
  __device__ __forceinline__ unsigned total() const {
    return found + static_cast<unsigned>(__popc(ones)) + 2 * static_cast<unsigned>(__popc(twos));
  }
};

template <int Words>
struct lane_search<Words, 2> {
  template <class Meter>
  __device__ __forceinline__ static unsigned long long count(const unsigned* matrix, int stride,
                                                             const unsigned (&current)[Words], Meter& meter) {
    bit_counter<Words> counter;
#pragma unroll
    for (int word = 0; word < Words; ++word) {
      for (unsigned bits = current[word]; bits != 0; bits &= bits - 1) {
        const int member = 32 * word + __ffs(static_cast<int>(bits)) - 1;
        unsigned next[Words];
        meter.step();
#pragma unroll
        for (int w = 0; w < Words; ++w) next[w] = w < word ? 0u : current[w] & matrix[w * stride + member];
        counter.count(next);
      }
    }
    return counter.total();
  }
};

template <int Words>
struct lane_search<Words, 1> {
  template <class Meter>
  __device__ __forceinline__ static unsigned long long count(const unsigned*, int, const unsigned (&current)[Words],
                                                             Meter&) {
    unsigned found = 0;
#pragma unroll
    for (int word = 0; word < Words; ++word) found += __popc(current[word]);
    return found;
  }
};

// The members adjacent to both of a pair; returns their number.
template <int Words>
__device__ __forceinline__ int common_members(const unsigned* matrix, int stride, int first, int second,
                                              unsigned (&common)[Words]) {
  int size = 0;
#pragma unroll
  for (int w = 0; w < Words; ++w) {
    common[w] = matrix[w * stride + first] & matrix[w * stride + second];
    size += __popc(common[w]);
  }
  return size;
}

template <int Words, int Needed, class Meter>
__device__ __forceinline__ unsigned long long search_pair(const unsigned* matrix, int stride, int first, int second,
                                                          Meter& meter) {
  unsigned common[Words];
  meter.step();
  const int size = common_members<Words>(matrix, stride, first, second, common);
  return size >= Needed - 2 ? lane_search<Words, Needed - 2>::count(matrix, stride, common, meter) : 0;
}

template <int Words, int Needed, class Meter>
__device__ __noinline__ unsigned long long thread_walk(const unsigned* matrix, int stride, branch_range range,
                                                       Meter& meter) {
  unsigned long long found = 0;
  for (int row = range.first; row < range.last; row += range.step) {
    for (int word = row >> 5; word < Words; ++word) {
      if (matrix[word * stride + row] >> lane_id() & 1u) {
        found += search_pair<Words, Needed>(matrix, stride, row, 32 * word + lane_id(), meter);
      }
      __syncwarp();
    }
  }
  return found;
}

// Pairs (row, 1-bit) of a matrix, in order. fill() queues at least 32 pairs unless the rows end; take() gives one to
// each lane while there are any. `slots` has room for 64, because a word has at most 32 bits.
template <int Words>
struct pair_queue {
  const unsigned* matrix;
  int stride;
  branch_range range;
  unsigned* slots;
  int row, word, waiting;

  __device__ pair_queue(const unsigned* matrix_, int stride_, branch_range range_, unsigned* slots_)
      : matrix(matrix_), stride(stride_), range(range_), slots(slots_), row(range_.first), word(row >> 5), waiting(0) {}

  __device__ __forceinline__ void fill() {
    while (waiting < 32 && row < range.last) {
      const unsigned bits = matrix[word * stride + row];
      if (bits >> lane_id() & 1u) {
        slots[waiting + votes_below(bits)] =
            static_cast<unsigned>(row) << 16 | static_cast<unsigned>(32 * word + lane_id());
      }
      waiting += __popc(bits);
      if (++word == Words) {
        row += range.step;
        word = row >> 5;
      }
    }
    __syncwarp();
  }

  // Whether this lane got a pair. The latest pairs go first, so the rest stays in place.
  __device__ __forceinline__ bool take(int& first, int& second) {
    const int taken = min(32, waiting);
    waiting -= taken;
    const unsigned pair = lane_id() < taken ? slots[waiting + lane_id()] : 0u;
    __syncwarp();
    first = static_cast<int>(pair >> 16);
    second = static_cast<int>(pair & 0xffffu);
    return lane_id() < taken;
  }
};

template <int Words, int Needed, class Meter>
__device__ __noinline__ unsigned long long queued_walk(const unsigned* matrix, int stride, branch_range range,
                                                       unsigned* slots, Meter& meter) {
  unsigned long long found = 0;
  pair_queue<Words> pairs(matrix, stride, range, slots);
  for (pairs.fill(); pairs.waiting > 0; pairs.fill()) {
    int first, second;
    if (pairs.take(first, second)) found += search_pair<Words, Needed>(matrix, stride, first, second, meter);
    __syncwarp();
  }
  return found;
}

// Counts the triangles of a matrix of `size` members, at most 32 Words.
template <int Words>
__device__ __noinline__ unsigned long long register_walk(const unsigned* matrix, int stride, int size,
                                                         branch_range range) {
  unsigned own[Words][Words];  // words above the diagonal of rows lane, lane + 32, ..
#pragma unroll
  for (int group = 0; group < Words; ++group) {
#pragma unroll
    for (int w = group; w < Words; ++w) {
      own[group][w] = 32 * group + lane_id() < size ? matrix[w * stride + 32 * group + lane_id()] : 0u;
    }
  }
  unsigned found = 0;
  int row = range.first;
#pragma unroll
  for (int begin = 0; begin < Words; ++begin) {  // rows of [32 begin, 32 begin + 32) have no bits in earlier words
#pragma unroll 1
    for (; row < min(range.last, 32 * begin + 32); row += range.step) {
      unsigned common[Words];
#pragma unroll
      for (int w = begin; w < Words; ++w) common[w] = matrix[w * stride + row];
#pragma unroll
      for (int group = begin; group < Words; ++group) {
        const unsigned adjacent =
            0u - (common[group] >> lane_id() & 1u);  // all ones if the row and the lane's row are adjacent
#pragma unroll
        for (int w = group; w < Words; ++w) found += __popc(common[w] & own[group][w] & adjacent);
      }
    }
  }
  return found;
}
