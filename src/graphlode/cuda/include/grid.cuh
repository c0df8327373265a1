// grid.cuh - what the blocks of a grid do together without waiting for each other.
#pragma once

__device__ __forceinline__ long long grid_thread_id() {
  return static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ __forceinline__ long long grid_threads() { return static_cast<long long>(gridDim.x) * blockDim.x; }

// True in the threads of the block that is the last of the grid to come here, with everything that the other blocks
// wrote before in sight. Called by all threads; `tickets` is zero before the launch and again after.
__device__ __forceinline__ bool last_block(unsigned* tickets) {
  __shared__ bool last;
  __threadfence();  // what this thread wrote must be visible before its block's ticket is
  __syncthreads();
  if (threadIdx.x == 0) {
    last = atomicAdd(tickets, 1u) == gridDim.x - 1;
    if (last) atomicExch(tickets, 0u);
  }
  __syncthreads();
  __threadfence();
  return last;
}
