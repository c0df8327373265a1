// clique_counts.cuh - where the leaves of a pivoting search go: a sum of 128 bits, or a table of leaves.
//
// A leaf with h vertices held and p pivots passed stands for C(p, k - h) cliques of size k. Where the number of cliques
// has a bound below 2^128, leaves are summed as they come. Otherwise, and for all sizes at once, the kernel only counts
// how often each (h, p) occurs; the host does the rest in whole numbers of any size.
#pragma once
#include "warp.cuh"

// Binomials C(n, r) for r <= most_chosen as pairs of 64-bit words, the lower first.
struct binomial_table {
  const unsigned long long* __restrict__ words;
  int most_chosen;

  __device__ __forceinline__ const unsigned long long* at(int n, int r) const {
    return words + 2 * (static_cast<long long>(n) * (most_chosen + 1) + r);
  }
};

// The sum of one lane.
struct leaf_sum {
  static constexpr bool all_sizes = false;

  binomial_table binomials;
  unsigned long long low, high;

  // `times` leaves with r vertices still needed.
  __device__ __forceinline__ void add(int /*held*/, int r, int pivots, unsigned long long times) {
    if (r < 0 || r > pivots) return;
    const unsigned long long* choices = binomials.at(pivots, r);
    const unsigned long long choices_low = __ldg(choices), choices_high = __ldg(choices + 1);
    const unsigned long long product = choices_low * times;
    low += product;
    high += __umul64hi(choices_low, times) + choices_high * times + (low < product ? 1ull : 0ull);
  }

  // Adds the sums of all threads of the block to `total`, two words. Called by all threads.
  __device__ __forceinline__ void flush(unsigned long long* total) {
    __shared__ unsigned long long sums[32][2];
    for (int distance = 16; distance > 0; distance >>= 1) {
      const unsigned long long other_low = __shfl_xor_sync(full_mask, low, distance);
      high += __shfl_xor_sync(full_mask, high, distance);
      low += other_low;
      high += low < other_low ? 1ull : 0ull;
    }
    if (lane_id() == 0) {
      sums[warp_id()][0] = low;
      sums[warp_id()][1] = high;
    }
    __syncthreads();
    if (threadIdx.x != 0) return;
    for (int warp = 1; warp < warps_per_block(); ++warp) {
      low += sums[warp][0];
      high += sums[warp][1] + (low < sums[warp][0] ? 1ull : 0ull);
    }
    if (low != 0) {
      const unsigned long long before = atomicAdd(total, low);
      if (before + low < before) ++high;
    }
    if (high != 0) atomicAdd(total + 1, high);
  }
};

// leaves[h][p] in global memory, in as many copies as the host likes, so that warps seldom meet.
// AllSizes: leaves must stand for cliques of every size, so the forms that hold for one size alone are not used.
template <bool AllSizes>
struct leaf_table {
  static constexpr bool all_sizes = AllSizes;

  unsigned long long* leaves;
  int width;  // of a row: the number of values of p

  __device__ __forceinline__ void add(int held, int /*r*/, int pivots, unsigned long long times) {
    atomicAdd(&leaves[static_cast<long long>(held) * width + pivots], times);
  }

  __device__ __forceinline__ void flush(unsigned long long*) {}
};
