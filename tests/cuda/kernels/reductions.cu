// reductions.cu - the reductions that a warp has instructions for.
extern "C" __global__ void reduce_int32(const int* values, int* sum, int* smallest, int* largest) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  sum[i] = __reduce_add_sync(0xffffffffu, values[i]);
  smallest[i] = __reduce_min_sync(0xffffffffu, values[i]);
  largest[i] = __reduce_max_sync(0xffffffffu, values[i]);
}

extern "C" __global__ void reduce_uint32(const unsigned* values, unsigned* sum, unsigned* smallest, unsigned* largest,
                                         unsigned* conjunction, unsigned* disjunction, unsigned* parity) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  sum[i] = __reduce_add_sync(0xffffffffu, values[i]);
  smallest[i] = __reduce_min_sync(0xffffffffu, values[i]);
  largest[i] = __reduce_max_sync(0xffffffffu, values[i]);
  conjunction[i] = __reduce_and_sync(0xffffffffu, values[i]);
  disjunction[i] = __reduce_or_sync(0xffffffffu, values[i]);
  parity[i] = __reduce_xor_sync(0xffffffffu, values[i]);
}
