// shuffles.cu - the four shuffles, for every type that CUDA shuffles.
template <class T>
__device__ void shuffle(const T* values, int argument, int width, T* indexed, T* up, T* down, T* crossed) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  indexed[i] = __shfl_sync(0xffffffffu, values[i], argument + i, width);
  up[i] = __shfl_up_sync(0xffffffffu, values[i], static_cast<unsigned>(argument), width);
  down[i] = __shfl_down_sync(0xffffffffu, values[i], static_cast<unsigned>(argument), width);
  crossed[i] = __shfl_xor_sync(0xffffffffu, values[i], argument, width);
}

#define SHUFFLE(NAME, T)                                                                                          \
  extern "C" __global__ void shuffle_##NAME(const T* values, int argument, int width, T* indexed, T* up, T* down, \
                                            T* crossed) {                                                         \
    shuffle(values, argument, width, indexed, up, down, crossed);                                                 \
  }
SHUFFLE(int32, int)
SHUFFLE(uint32, unsigned)
SHUFFLE(int64, long long)
SHUFFLE(uint64, unsigned long long)
SHUFFLE(float32, float)
SHUFFLE(float64, double)

// Without a width: the whole warp.
extern "C" __global__ void shuffle_whole_warp(const int* values, int* indexed, int* up, int* down, int* crossed) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  indexed[i] = __shfl_sync(0xffffffffu, values[i], 5);
  up[i] = __shfl_up_sync(0xffffffffu, values[i], 3);
  down[i] = __shfl_down_sync(0xffffffffu, values[i], 3);
  crossed[i] = __shfl_xor_sync(0xffffffffu, values[i], 17);
}
