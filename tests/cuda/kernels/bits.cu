// bits.cu - functions of one thread: bits, products, minima, cached loads.
extern "C" __global__ void bits_of_words(const unsigned* x, const unsigned* y, long long size, int* ones, int* leading,
                                         int* first, unsigned* reversed, unsigned* high) {
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= size) return;
  ones[i] = __popc(x[i]);
  leading[i] = __clz(static_cast<int>(x[i]));
  first[i] = __ffs(static_cast<int>(x[i]));
  reversed[i] = __brev(x[i]);
  high[i] = __umulhi(x[i], y[i]);
}

extern "C" __global__ void bits_of_long_words(const unsigned long long* x, const unsigned long long* y, long long size,
                                              int* ones, int* leading, int* first, unsigned long long* reversed,
                                              unsigned long long* high) {
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= size) return;
  ones[i] = __popcll(x[i]);
  leading[i] = __clzll(static_cast<long long>(x[i]));
  first[i] = __ffsll(static_cast<long long>(x[i]));
  reversed[i] = __brevll(x[i]);
  high[i] = __umul64hi(x[i], y[i]);
}

#define EXTREMES(NAME, T)                                                                          \
  extern "C" __global__ void bits_extremes_##NAME(const T* x, const T* y, T* smaller, T* larger) { \
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;                                      \
    smaller[i] = min(__ldg(x + i), __ldg(y + i));                                                  \
    larger[i] = max(__ldg(x + i), __ldg(y + i));                                                   \
  }
EXTREMES(int32, int)
EXTREMES(uint32, unsigned)
EXTREMES(int64, long long)
EXTREMES(uint64, unsigned long long)
EXTREMES(float32, float)
EXTREMES(float64, double)

extern "C" __global__ void bits_fences(int* out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = 1;
  __threadfence_block();
  out[i] += 1;
  __threadfence();
  out[i] += 1;
  __threadfence_system();
}
