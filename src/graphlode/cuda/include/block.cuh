// block.cuh - collectives of a block. All its threads must call them.
#pragma once
#include "warp.cuh"

// Inclusive prefix sum over the threads of the block. `total` receives the sum of all. `sums` are 32 values in shared
// memory.
template <class T>
__device__ __forceinline__ T block_scan(T value, T* sums, T& total) {
  T scanned = warp_inclusive_scan(value);
  if (lane_id() == 31) sums[warp_id()] = scanned;
  __syncthreads();
  if (warp_id() == 0) {
    const T all = warp_inclusive_scan(lane_id() < warps_per_block() ? sums[lane_id()] : T(0));
    __syncwarp();
    sums[lane_id()] = all;
  }
  __syncthreads();
  if (warp_id() > 0) scanned += sums[warp_id() - 1];
  total = sums[31];
  __syncthreads();  // the next call overwrites the sums
  return scanned;
}

// Draws the next number of a counter that all blocks of the grid share. `drawn` is in shared memory.
__device__ __forceinline__ long long block_draw(unsigned long long* counter, unsigned long long& drawn) {
  __syncthreads();
  if (threadIdx.x == 0) drawn = atomicAdd(counter, 1ull);
  __syncthreads();
  return static_cast<long long>(drawn);
}
