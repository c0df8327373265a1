// faults.cu - what a GPU would answer with a hang or with undefined values. One thread of one block misbehaves.
#define ALL 0xffffffffu
#define CULPRIT (threadIdx.x == static_cast<unsigned>(thread) && blockIdx.x == static_cast<unsigned>(block))

extern "C" __global__ void fault_none(int* out) {
  out[blockIdx.x * blockDim.x + threadIdx.x] = __popc(__ballot_sync(ALL, 1));
}

extern "C" __global__ void fault_leaves_before_the_vote(int block, int thread) {
  if (!CULPRIT) __ballot_sync(ALL, 1);
}

extern "C" __global__ void fault_does_not_name_itself(int block, int thread) {
  if (CULPRIT) __syncwarp(ALL & ~(1u << thread % 32));
}

extern "C" __global__ void fault_meets_in_another_collective(int block, int thread) {
  if (CULPRIT) {
    __all_sync(ALL, 1);
  } else {
    __any_sync(ALL, 1);
  }
}

extern "C" __global__ void fault_meets_on_another_line(int block, int thread) {
  if (CULPRIT) {
    __ballot_sync(ALL, 1);
  } else {
    __ballot_sync(ALL, 0);
  }
}

extern "C" __global__ void fault_masks_differ(int block, int thread) { __shfl_sync(CULPRIT ? ALL >> 1 : ALL, 1, 0); }

extern "C" __global__ void fault_never_arrives(int block, int thread) {
  if (!CULPRIT) __reduce_max_sync(ALL, 1);
  __syncthreads();
}

extern "C" __global__ void fault_leaves_before_the_barrier(int block, int thread) {
  if (CULPRIT) return;
  __syncthreads();
}

extern "C" __global__ void fault_barrier_in_a_branch(int block, int thread) {
  if (CULPRIT) {
    __syncthreads();
  } else {
    __syncthreads();
  }
}

extern "C" __global__ void fault_another_barrier(int block, int thread) {
  if (CULPRIT) {
    __syncthreads_or(1);
  } else {
    __syncthreads_and(1);
  }
}

// Deeper than any stack, and not by a tail call.
__device__ __noinline__ int descend(int depth, volatile int* out) {
  volatile int room[64];
  room[depth % 64] = depth;
  const int below = depth == 0 ? 0 : descend(depth - 1, out);
  out[0] = room[depth % 64];
  return below + room[depth % 64];
}
extern "C" __global__ void fault_stack(int depth, int* out) { out[1] = descend(depth, out); }
