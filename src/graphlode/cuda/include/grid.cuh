// grid.cuh - what the blocks of a grid can do together without waiting for each other.
#pragma once

__device__ __forceinline__ long long grid_thread_id() {
  return static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ __forceinline__ long long grid_threads() { return static_cast<long long>(gridDim.x) * blockDim.x; }

// True in the last block of the grid that calls it. That block sees everything the other blocks wrote before. All
// threads call it. `tickets` must be zero before the launch, and is zero again afterwards.
__device__ __forceinline__ bool last_block(unsigned* tickets) {
  __shared__ bool last;
  __threadfence();  // make this thread's writes visible before its block takes a ticket
  __syncthreads();
  if (threadIdx.x == 0) {
    last = atomicAdd(tickets, 1u) == gridDim.x - 1;
    if (last) atomicExch(tickets, 0u);
  }
  __syncthreads();
  __threadfence();
  return last;
}
