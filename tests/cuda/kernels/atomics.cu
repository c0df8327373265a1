// atomics.cu - every thread applies each atomic function to the same cells; `old` receives what one of them returned.
template <class T>
__device__ T own(const T* values) {
  return values[blockIdx.x * blockDim.x + threadIdx.x];
}

#define ORDERED(NAME, T)                                                                              \
  extern "C" __global__ void atomics_order_##NAME(const T* values, T* smallest, T* largest, T* old) { \
    old[blockIdx.x * blockDim.x + threadIdx.x] = atomicMin(smallest, own(values));                    \
    atomicMax(largest, own(values));                                                                  \
  }
ORDERED(int32, int)
ORDERED(uint32, unsigned)
ORDERED(int64, long long)
ORDERED(uint64, unsigned long long)

#define LOGIC(NAME, T)                                                                                        \
  extern "C" __global__ void atomics_logic_##NAME(const T* values, T* conjunction, T* disjunction, T* parity, \
                                                  T* exchanged, T* old) {                                     \
    atomicAnd(conjunction, own(values));                                                                      \
    atomicOr(disjunction, own(values));                                                                       \
    atomicXor(parity, own(values));                                                                           \
    old[blockIdx.x * blockDim.x + threadIdx.x] = atomicExch(exchanged, own(values));                          \
  }
LOGIC(int32, int)
LOGIC(uint32, unsigned)
LOGIC(uint64, unsigned long long)

#define SUM(NAME, T)                                                               \
  extern "C" __global__ void atomics_sum_##NAME(const T* values, T* sum, T* old) { \
    old[blockIdx.x * blockDim.x + threadIdx.x] = atomicAdd(sum, own(values));      \
  }
SUM(int32, int)
SUM(uint32, unsigned)
SUM(uint64, unsigned long long)
SUM(float32, float)
SUM(float64, double)

#define DIFFERENCE(NAME, T)                                                                \
  extern "C" __global__ void atomics_difference_##NAME(const T* values, T* rest, T* old) { \
    old[blockIdx.x * blockDim.x + threadIdx.x] = atomicSub(rest, own(values));             \
  }
DIFFERENCE(int32, int)
DIFFERENCE(uint32, unsigned)

// Each thread adds one by compare-and-swap, as often as it takes.
#define SWAP(NAME, T)                                                                          \
  extern "C" __global__ void atomics_swap_##NAME(T* count, T* old) {                           \
    T seen = *count, before;                                                                   \
    while ((before = atomicCAS(count, seen, static_cast<T>(seen + 1))) != seen) seen = before; \
    old[blockIdx.x * blockDim.x + threadIdx.x] = seen;                                         \
  }
SWAP(int32, int)
SWAP(uint32, unsigned)
SWAP(uint64, unsigned long long)

extern "C" __global__ void atomics_exchange_float(const float* values, float* cell, float* old) {
  old[blockIdx.x * blockDim.x + threadIdx.x] = atomicExch(cell, own(values));
}
