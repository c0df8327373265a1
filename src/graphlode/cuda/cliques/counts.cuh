// cliques/counts.cuh - where the leaves of a pivoting search are counted: a 128-bit sum, or a table of leaves.
//
// A leaf with h held vertices and p pivots stands for C(p, k - h) cliques of size k. If the number of cliques has a
// bound below 2^128, leaves are summed directly. Otherwise, and when all sizes are counted at once, the kernel counts
// how often each (h, p) occurs, and the host computes the totals in integers of any size.
#pragma once
#include "warp.cuh"

// Binomials C(n, r) for r <= most_chosen, as pairs of 64-bit words, the lower one first.
struct binomial_table {
  const unsigned long long* __restrict__ words;
  int most_chosen;

  __device__ __forceinline__ const unsigned long long* at(int n, int r) const {
    return words + 2 * (static_cast<long long>(n) * (most_chosen + 1) + r);
  }
};

struct wide_word {
  unsigned long long low, high;
};

// The sum of one warp, in shared memory.
struct leaf_sum {
  static constexpr bool all_sizes = false;

  binomial_table binomials;
  unsigned long long low, high;

  // Adds `times` leaves with r vertices still needed. Called by one lane.
  __device__ __forceinline__ void add(int /*held*/, int r, int pivots, unsigned long long times) {
    if (r < 0 || r > pivots) return;
    const wide_word product = times_binomial(pivots, r, times);
    low += product.low;
    high += product.high + (low < product.low ? 1ull : 0ull);
  }

  // The same, called by several lanes at once.
  __device__ __forceinline__ void add_together(int /*held*/, int r, int pivots, unsigned long long times) {
    if (r < 0 || r > pivots) return;
    const wide_word product = times_binomial(pivots, r, times);
    const unsigned long long before = atomicAdd(&low, product.low);
    const unsigned long long carried = product.high + (before + product.low < before ? 1ull : 0ull);
    if (carried != 0) atomicAdd(&high, carried);
  }

  // Adds the sums of all warps of the block to `total`, two words. Called by all threads of the block.
  __device__ __forceinline__ void flush(unsigned long long* total) const {
    __shared__ wide_word sums[32];
    if (lane_id() == 0) sums[warp_id()] = {low, high};
    __syncthreads();
    if (threadIdx.x != 0) return;
    wide_word sum{0, 0};
    for (int warp = 0; warp < warps_per_block(); ++warp) {
      sum.low += sums[warp].low;
      sum.high += sums[warp].high + (sum.low < sums[warp].low ? 1ull : 0ull);
    }
    if (sum.low != 0) {
      const unsigned long long before = atomicAdd(total, sum.low);
      if (before + sum.low < before) ++sum.high;
    }
    if (sum.high != 0) atomicAdd(total + 1, sum.high);
  }

 private:
  __device__ __forceinline__ wide_word times_binomial(int n, int r, unsigned long long times) const {
    const unsigned long long* choices = binomials.at(n, r);
    const unsigned long long choices_low = __ldg(choices), choices_high = __ldg(choices + 1);
    return {choices_low * times, __umul64hi(choices_low, times) + choices_high * times};
  }
};

// leaves[h][p] in global memory, in several copies so that warps rarely compete. A leaf must stand for cliques of every
// size, so the closed forms for a single size are not used.
struct leaf_table {
  static constexpr bool all_sizes = true;

  unsigned long long* leaves;
  int width;  // the number of values of p

  __device__ __forceinline__ void add(int held, int /*r*/, int pivots, unsigned long long times) {
    atomicAdd(&leaves[static_cast<long long>(held) * width + pivots], times);
  }
  __device__ __forceinline__ void add_together(int held, int r, int pivots, unsigned long long times) {
    add(held, r, pivots, times);
  }

  __device__ __forceinline__ void flush(unsigned long long*) const {}
};
