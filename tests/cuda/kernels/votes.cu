// votes.cu - every vote and match of a warp, by all of its lanes and by groups of them.
extern "C" __global__ void vote_together(const int* flags, const int* narrow, const long long* wide, unsigned* ballot,
                                         int* any, int* all, unsigned* equal_narrow, unsigned* equal_wide) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  ballot[i] = __ballot_sync(0xffffffffu, flags[i]);
  any[i] = __any_sync(0xffffffffu, flags[i]);
  all[i] = __all_sync(0xffffffffu, flags[i]);
  equal_narrow[i] = __match_any_sync(0xffffffffu, narrow[i]);
  equal_wide[i] = __match_any_sync(0xffffffffu, wide[i]);
}

// Lanes whose bit is set in `chosen` meet among themselves, the others among themselves: two groups at a time.
extern "C" __global__ void vote_in_groups(const int* flags, unsigned chosen, unsigned* ballot, unsigned* sum) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const unsigned lane = threadIdx.x % 32;
  if (chosen >> lane & 1u) {
    ballot[i] = __ballot_sync(chosen, flags[i]);
    sum[i] = __reduce_add_sync(chosen, lane);
  } else {
    ballot[i] = __ballot_sync(~chosen, flags[i]);
    sum[i] = __reduce_add_sync(~chosen, lane);
  }
}

// A lane that has left is not missed by those that do not name it.
extern "C" __global__ void vote_without_the_first(const int* flags, unsigned* ballot) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (threadIdx.x % 32 == 0) return;
  ballot[i] = __ballot_sync(0xfffffffeu, flags[i]);
}

extern "C" __global__ void vote_activemask(unsigned* active) {
  active[blockIdx.x * blockDim.x + threadIdx.x] = __activemask();
}
