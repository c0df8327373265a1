// headers.cu - the functions of include/ on their own.
#include "grid.cuh"
#include "status.cuh"
#include "warp.cuh"

extern "C" __global__ void headers_warp(const long long* values, long long* sum, long long* smallest, long long* scan) {
  const long long i = grid_thread_id();
  sum[i] = warp_sum(values[i]);
  smallest[i] = warp_min(values[i]);
  scan[i] = warp_inclusive_scan(values[i]);
}

// Appends the numbers of the threads whose flag is set.
extern "C" __global__ void headers_append(const int* flags, unsigned long long* length, int* list) {
  const long long i = grid_thread_id();
  const long long place = warp_append(length, flags[i] != 0);
  if (flags[i]) list[place] = static_cast<int>(i);
}

// Warps share out the numbers below `size`, `step` at a time.
extern "C" __global__ void headers_draw(int step, long long size, unsigned long long* next, int* taken) {
  for (long long first = warp_draw(next, step); first < size; first = warp_draw(next, step)) {
    for (long long i = first + lane_id(); i < min(size, first + step); i += 32) atomicAdd(taken + i, 1);
  }
}

// The last block sums what all blocks wrote.
extern "C" __global__ void headers_last_block(unsigned* tickets, long long* written, long long* sum, int* lasts) {
  if (threadIdx.x == 0) written[blockIdx.x] = blockIdx.x + 1;
  if (!last_block(tickets)) return;
  if (threadIdx.x != 0) return;
  for (unsigned block = 0; block < gridDim.x; ++block) *sum += static_cast<volatile long long*>(written)[block];
  atomicAdd(lasts, 1);
}

// Every thread from `first` on raises a fault of its own.
extern "C" __global__ void headers_raise(unsigned long long code, long long first, status_word* status) {
  if (grid_thread_id() >= first) raise_status(status, code, grid_thread_id());
}
