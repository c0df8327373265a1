// atomics.hpp - CUDA's atomic functions. They are truly atomic, because blocks run on several OS threads, and relaxed,
// as on the GPU.
#pragma once
#include <atomic>
#include <bit>
#include <cstdint>

namespace simt {

// Applies `change` to `*address` atomically and returns the old value.
template <class T, class Change>
T update(T* address, Change change) {
  std::atomic_ref<T> target(*address);
  T before = target.load(std::memory_order_relaxed);
  while (!target.compare_exchange_weak(before, change(before), std::memory_order_relaxed)) {
  }
  return before;
}

}  // namespace simt

#define SIMT_ATOMIC(NAME, TYPE, EXPRESSION)                                                    \
  inline TYPE NAME(TYPE* address, TYPE value) {                                                \
    return simt::update(address, [value](TYPE old) { return static_cast<TYPE>(EXPRESSION); }); \
  }
#define SIMT_ATOMIC_WORDS(NAME, EXPRESSION) \
  SIMT_ATOMIC(NAME, int, EXPRESSION)        \
  SIMT_ATOMIC(NAME, unsigned, EXPRESSION)   \
  SIMT_ATOMIC(NAME, unsigned long long, EXPRESSION)

SIMT_ATOMIC(atomicAdd, int, static_cast<unsigned>(old) + static_cast<unsigned>(value))
SIMT_ATOMIC(atomicAdd, unsigned, old + value)
SIMT_ATOMIC(atomicAdd, unsigned long long, old + value)
SIMT_ATOMIC(atomicAdd, float, old + value)
SIMT_ATOMIC(atomicAdd, double, old + value)
SIMT_ATOMIC(atomicSub, int, static_cast<unsigned>(old) - static_cast<unsigned>(value))
SIMT_ATOMIC(atomicSub, unsigned, old - value)
SIMT_ATOMIC_WORDS(atomicMin, value < old ? value : old)
SIMT_ATOMIC_WORDS(atomicMax, old < value ? value : old)
SIMT_ATOMIC(atomicMin, long long, value < old ? value : old)
SIMT_ATOMIC(atomicMax, long long, old < value ? value : old)
SIMT_ATOMIC_WORDS(atomicAnd, old& value)
SIMT_ATOMIC_WORDS(atomicOr, old | value)
SIMT_ATOMIC_WORDS(atomicXor, old ^ value)
SIMT_ATOMIC_WORDS(atomicExch, (static_cast<void>(old), value))
SIMT_ATOMIC(atomicExch, float, (static_cast<void>(old), value))
#undef SIMT_ATOMIC_WORDS
#undef SIMT_ATOMIC

#define SIMT_CAS(TYPE)                                                                                  \
  inline TYPE atomicCAS(TYPE* address, TYPE compare, TYPE value) {                                      \
    std::atomic_ref<TYPE>(*address).compare_exchange_strong(compare, value, std::memory_order_relaxed); \
    return compare;                                                                                     \
  }
SIMT_CAS(int)
SIMT_CAS(unsigned)
SIMT_CAS(unsigned long long)
#undef SIMT_CAS
