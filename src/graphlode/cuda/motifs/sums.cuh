// motifs/sums.cuh - exact 128-bit sums, and the memory in which all motif passes gather them.
//
// Each thread sums alone. Warps then add up their lanes and add the result atomically. No term is negative.
#pragma once
#include "motifs/graph.cuh"
#include "status.cuh"
#include "warp.cuh"

struct wide_sum {
  unsigned long long low = 0, high = 0;

  __device__ __forceinline__ void add(unsigned long long value) {
    low += value;
    high += low < value;
  }
  __device__ __forceinline__ void add_product(unsigned long long a, unsigned long long b) {
    add(a * b);
    high += __umul64hi(a, b);
  }
  // Subtracts a value that the sum is known to contain.
  __device__ __forceinline__ void subtract(unsigned long long value) {
    high -= low < value;
    low -= value;
  }
};

// In the order of SUMS in motifs.py. Some are multiples of the sums that `graphlode.mining.motifs` defines, so that
// every term is an integer; the driver divides.
enum motif_sum {
  sum_wedges,
  sum_triangles,
  sum_stars3,
  sum_paths3,
  sum_tailed,
  sum_diamonds,
  sum_squares,
  sum_cliques4,
  sum_stars4,
  sum_prongs,
  sum_paths4,
  sum_forks,
  sum_longtails,
  sum_bulls,
  sum_tailed_squares,
  sum_five_cycles,
  sum_five_cycle_corrections,
  sum_hourglasses,
  sum_cobras,
  sum_stingrays,
  sum_houses,
  sum_k23,
  sum_books3,
  sum_gems,
  sum_tailed_cliques,
  sum_wedge_diamonds,
  sum_wheels,
  sum_hatted,
  sum_almost_cliques,
  num_motif_sums
};

// Only 64-bit words. motifs.py relies on their order.
struct motif_work {
  status_word status;
  unsigned long long sums[2 * num_motif_sums];
};

// Adds the sums of all lanes to the shared sum. Called by all lanes of a warp.
__device__ __noinline__ void flush_sum(motif_work* work, motif_sum which, wide_sum sum) {
  for (int distance = 16; distance > 0; distance >>= 1) {
    const unsigned long long low = __shfl_xor_sync(full_mask, sum.low, distance);
    const unsigned long long high = __shfl_xor_sync(full_mask, sum.high, distance);
    sum.add(low);
    sum.high += high;
  }
  if (lane_id() != 0 || (sum.low | sum.high) == 0) return;
  const unsigned long long before = atomicAdd(&work->sums[2 * which], sum.low);
  sum.high += before + sum.low < before;
  if (sum.high != 0) atomicAdd(&work->sums[2 * which + 1], sum.high);
}
__device__ __forceinline__ void flush_sum(motif_work* work, motif_sum which, unsigned long long value) {
  wide_sum sum;
  sum.low = value;
  flush_sum(work, which, sum);
}
