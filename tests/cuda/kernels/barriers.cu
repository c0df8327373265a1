// barriers.cu - block barriers, and the shared memory that they guard.
#include "platform.cuh"

extern "C" __global__ void barrier_votes(const int* flags, int* count, int* any, int* all) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  count[i] = __syncthreads_count(flags[i]);
  any[i] = __syncthreads_or(flags[i]);
  all[i] = __syncthreads_and(flags[i]);
}

// Reverses the block's values through static memory, sums them through dynamic memory in a tree.
extern "C" __global__ void barrier_reverse_and_sum(const int* values, int* reversed, long long* sums) {
  __shared__ int kept[1024];
  DYN_SHARED(long long, partial);
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  kept[threadIdx.x] = values[i];
  partial[threadIdx.x] = values[i];
  __syncthreads();
  reversed[i] = kept[blockDim.x - 1 - threadIdx.x];
  for (unsigned left = blockDim.x; left > 1;) {
    const unsigned half = (left + 1) / 2;
    __syncthreads();
    if (threadIdx.x + half < left) partial[threadIdx.x] += partial[threadIdx.x + half];
    left = half;
  }
  if (threadIdx.x == 0) sums[blockIdx.x] = partial[0];
}

// Blocks that run side by side go through the same variable many times; none must see another's.
extern "C" __global__ void barrier_keep_apart(int rounds, int* strange) {
  __shared__ int owner;
  __shared__ int last;
  for (int i = 0; i < rounds; ++i) {
    if (threadIdx.x == 0) owner = static_cast<int>(blockIdx.x);
    if (threadIdx.x == blockDim.x - 1) last = i;
    __syncthreads();
    if (owner != static_cast<int>(blockIdx.x) || last != i) strange[blockIdx.x] = 1;
    __syncthreads();
  }
}

// What shared memory holds before anything was written to it.
extern "C" __global__ void barrier_unwritten(unsigned* fixed, unsigned* dynamic) {
  __shared__ unsigned word;
  DYN_SHARED(unsigned, words);
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  fixed[i] = word;
  dynamic[i] = words[threadIdx.x];
  __syncthreads();
  if (threadIdx.x == 0) word = 0;
  words[threadIdx.x] = 0;
}

// A warp's lanes hand values on through shared memory, with nothing but __syncwarp between.
extern "C" __global__ void barrier_within_warps(const int* values, int* next) {
  __shared__ int kept[1024];
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  kept[threadIdx.x] = values[i];
  __syncwarp();
  const unsigned end = min(blockDim.x, (threadIdx.x / 32 + 1) * 32);
  next[i] = threadIdx.x + 1 < end ? kept[threadIdx.x + 1] : -1;
}

extern "C" __global__ void barrier_indices(unsigned* out) {
  const unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  const unsigned threads = blockDim.x * blockDim.y * blockDim.z;
  unsigned* const mine = out + 6 * (block * threads + thread);
  mine[0] = threadIdx.x, mine[1] = threadIdx.y, mine[2] = threadIdx.z;
  mine[3] = blockIdx.x, mine[4] = blockIdx.y, mine[5] = blockIdx.z;
}
