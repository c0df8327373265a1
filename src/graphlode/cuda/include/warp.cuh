// warp.cuh - collectives of a warp. All 32 lanes must call them.
#pragma once
#include "platform.cuh"

__device__ __forceinline__ int lane_id() { return static_cast<int>(threadIdx.x & 31u); }
__device__ __forceinline__ int warp_id() { return static_cast<int>(threadIdx.x >> 5); }
__device__ __forceinline__ int warps_per_block() { return static_cast<int>(blockDim.x >> 5); }

// The index of this warp in the grid, and the number of warps: for grid-stride loops with one warp per item.
__device__ __forceinline__ long long grid_warp_id() {
  return static_cast<long long>(blockIdx.x) * warps_per_block() + warp_id();
}
__device__ __forceinline__ long long grid_warps() { return static_cast<long long>(gridDim.x) * warps_per_block(); }

template <class T>
__device__ __forceinline__ T warp_sum(T value) {
  for (int distance = 16; distance > 0; distance >>= 1) value += __shfl_xor_sync(full_mask, value, distance);
  return value;
}

template <class T>
__device__ __forceinline__ T warp_min(T value) {
  for (int distance = 16; distance > 0; distance >>= 1) value = min(value, __shfl_xor_sync(full_mask, value, distance));
  return value;
}

// Inclusive prefix sum over the lanes.
template <class T>
__device__ __forceinline__ T warp_inclusive_scan(T value) {
  for (int distance = 1; distance < 32; distance <<= 1) {
    const T below = __shfl_up_sync(full_mask, value, distance);
    if (lane_id() >= distance) value += below;
  }
  return value;
}

// The number of lanes below this one that are set in `votes`.
__device__ __forceinline__ int votes_below(unsigned votes) { return __popc(votes & ((1u << lane_id()) - 1u)); }

// A place in a growing list for each lane with `wanted`, by one atomic addition to its length. Undefined for other
// lanes.
__device__ __forceinline__ long long warp_append(unsigned long long* length, bool wanted) {
  const unsigned votes = __ballot_sync(full_mask, wanted);
  if (votes == 0) return 0;
  unsigned long long first = 0;
  if (lane_id() == 0) first = atomicAdd(length, static_cast<unsigned long long>(__popc(votes)));
  first = __shfl_sync(full_mask, first, 0);
  return static_cast<long long>(first) + votes_below(votes);
}

// Draws the next `step` numbers of a counter that all warps of the grid share.
__device__ __forceinline__ long long warp_draw(unsigned long long* counter, int step) {
  unsigned long long first = 0;
  if (lane_id() == 0) first = atomicAdd(counter, static_cast<unsigned long long>(step));
  return static_cast<long long>(__shfl_sync(full_mask, first, 0));
}
