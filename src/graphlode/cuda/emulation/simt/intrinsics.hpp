// intrinsics.hpp - CUDA's built-in variables and functions, with exactly the overloads of CUDA, so that a source that
// compiles here also compiles for the GPU.
#pragma once
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "block.hpp"

#define threadIdx (simt::active->current().index)
#define blockIdx (simt::active->block_index())
#define blockDim (simt::active->launch().block)
#define gridDim (simt::active->launch().grid)
constexpr int warpSize = 32;

// A default argument is evaluated at the call. This is how a collective knows the line of its caller.
#define SIMT_HERE simt::site where = {__builtin_FILE(), __builtin_LINE()}

namespace simt {

template <class T>
concept register_type = std::is_arithmetic_v<T> && (sizeof(T) == 4 || sizeof(T) == 8);

template <register_type T>
std::uint64_t to_bits(T value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return bits;
}

template <register_type T>
T from_bits(std::uint64_t bits) {
  T value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

constexpr std::uint64_t poison_bits = 0x0101010101010101u * poison;

template <class Function>
void for_each_lane(unsigned mask, Function function) {
  for (; mask; mask &= mask - 1) function(static_cast<unsigned>(std::countr_zero(mask)));
}

// All lanes get the same result, folded from the values of all.
template <class Fold>
[[gnu::always_inline]] inline std::uint64_t meet_fold(operation op, unsigned mask, std::uint64_t value, site where,
                                                      Fold fold) {
  return active->meet(op, mask, value, 0, where, [fold](warp_state& warp, unsigned met) {
    std::uint64_t result = warp.lanes[std::countr_zero(met)].value;
    for_each_lane(met & (met - 1), [&](unsigned lane) { result = fold(result, warp.lanes[lane].value); });
    for_each_lane(met, [&](unsigned lane) { warp.lanes[lane].result = result; });
  });
}

[[gnu::always_inline]] inline unsigned meet_ballot(operation op, unsigned mask, bool predicate, site where) {
  return static_cast<unsigned>(active->meet(op, mask, predicate, 0, where, [](warp_state& warp, unsigned met) {
    unsigned votes = 0;
    for_each_lane(met, [&](unsigned lane) { votes |= static_cast<unsigned>(warp.lanes[lane].value) << lane; });
    for_each_lane(met, [&](unsigned lane) { warp.lanes[lane].result = votes; });
  }));
}

// Every lane reads the value of the lane it names. Reading a lane that does not take part is undefined on a GPU; here
// it returns a conspicuous pattern.
template <register_type T>
[[gnu::always_inline]] inline T meet_shuffle(operation op, unsigned mask, T value, unsigned source, site where) {
  const auto resolve = [](warp_state& warp, unsigned met) {
    for_each_lane(met, [&](unsigned lane) {
      const auto from = static_cast<unsigned>(warp.lanes[lane].argument);
      warp.lanes[lane].result = met >> from & 1 ? warp.lanes[from].value : poison_bits;
    });
  };
  return from_bits<T>(active->meet(op, mask, to_bits(value), static_cast<int>(source), where, resolve));
}

inline unsigned lane() { return active->current().lane(); }

template <class T, class Fold>
T meet_reduce(operation op, unsigned mask, T value, site where, Fold fold) {
  const auto folded = meet_fold(op, mask, to_bits(value), where, [fold](std::uint64_t a, std::uint64_t b) {
    return to_bits(static_cast<T>(fold(from_bits<T>(a), from_bits<T>(b))));
  });
  return from_bits<T>(folded);
}

}  // namespace simt

// ---- barriers and votes

inline void __syncthreads(SIMT_HERE) { simt::active->barrier(simt::operation::syncthreads, false, where); }
inline int __syncthreads_count(int predicate, SIMT_HERE) {
  return static_cast<int>(simt::active->barrier(simt::operation::syncthreads_count, predicate != 0, where));
}
inline int __syncthreads_and(int predicate, SIMT_HERE) {
  return simt::active->barrier(simt::operation::syncthreads_and, predicate == 0, where) == 0;
}
inline int __syncthreads_or(int predicate, SIMT_HERE) {
  return simt::active->barrier(simt::operation::syncthreads_or, predicate != 0, where) != 0;
}
inline void __syncwarp(unsigned mask = ~0u, SIMT_HERE) {
  simt::active->meet(simt::operation::syncwarp, mask, 0, 0, where, [](simt::warp_state&, unsigned) {});
}
inline unsigned __ballot_sync(unsigned mask, int predicate, SIMT_HERE) {
  return simt::meet_ballot(simt::operation::ballot, mask, predicate != 0, where);
}
inline int __any_sync(unsigned mask, int predicate, SIMT_HERE) {
  return simt::meet_ballot(simt::operation::any, mask, predicate != 0, where) != 0;
}
inline int __all_sync(unsigned mask, int predicate, SIMT_HERE) {
  return simt::meet_ballot(simt::operation::all, mask, predicate == 0, where) == 0;
}
// A GPU never promises which lanes run together; here each runs alone.
inline unsigned __activemask() { return simt::active->current().lane_bit(); }

// ---- shuffles
// The warp is divided into segments of `width` lanes, a power of two. A lane whose source is outside its segment keeps
// its own value.

template <simt::register_type T>
T __shfl_sync(unsigned mask, T value, int source, int width = 32, SIMT_HERE) {
  const unsigned inside = static_cast<unsigned>(width) - 1;
  const unsigned from = (simt::lane() & ~inside) | (static_cast<unsigned>(source) & inside);
  return simt::meet_shuffle(simt::operation::shfl, mask, value, from, where);
}
template <simt::register_type T>
T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32, SIMT_HERE) {
  const unsigned lane = simt::lane(), position = lane & (static_cast<unsigned>(width) - 1);
  return simt::meet_shuffle(simt::operation::shfl_up, mask, value, delta <= position ? lane - delta : lane, where);
}
template <simt::register_type T>
T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32, SIMT_HERE) {
  const unsigned lane = simt::lane(), left = static_cast<unsigned>(width) - (lane & (static_cast<unsigned>(width) - 1));
  return simt::meet_shuffle(simt::operation::shfl_down, mask, value, delta < left ? lane + delta : lane, where);
}
template <simt::register_type T>
T __shfl_xor_sync(unsigned mask, T value, int lane_mask, int width = 32, SIMT_HERE) {
  const unsigned lane = simt::lane(), segment = lane & ~(static_cast<unsigned>(width) - 1);
  const unsigned from = (lane ^ static_cast<unsigned>(lane_mask)) & 31u;
  // As on the GPU, a lane may read from its own segment and from lower ones, not from higher ones.
  const unsigned source = from < segment + static_cast<unsigned>(width) ? from : lane;
  return simt::meet_shuffle(simt::operation::shfl_xor, mask, value, source, where);
}

// ---- reductions and matching

#define SIMT_REDUCE(NAME, TYPE, EXPRESSION)                                                 \
  inline TYPE __reduce_##NAME##_sync(unsigned mask, TYPE value, SIMT_HERE) {                \
    return simt::meet_reduce(simt::operation::reduce_##NAME, mask, value, where,            \
                             [](TYPE a, TYPE b) { return static_cast<TYPE>(EXPRESSION); }); \
  }
SIMT_REDUCE(add, unsigned, a + b)
SIMT_REDUCE(add, int, static_cast<unsigned>(a) + static_cast<unsigned>(b))
SIMT_REDUCE(min, unsigned, b < a ? b : a)
SIMT_REDUCE(min, int, b < a ? b : a)
SIMT_REDUCE(max, unsigned, a < b ? b : a)
SIMT_REDUCE(max, int, a < b ? b : a)
SIMT_REDUCE(and, unsigned, a& b)
SIMT_REDUCE(or, unsigned, a | b)
SIMT_REDUCE(xor, unsigned, a ^ b)
#undef SIMT_REDUCE

template <simt::register_type T>
unsigned __match_any_sync(unsigned mask, T value, SIMT_HERE) {
  const auto resolve = [](simt::warp_state& warp, unsigned met) {
    simt::for_each_lane(met, [&](unsigned lane) {
      unsigned equal = 0;
      simt::for_each_lane(met, [&](unsigned other) {
        equal |= static_cast<unsigned>(warp.lanes[other].value == warp.lanes[lane].value) << other;
      });
      warp.lanes[lane].result = equal;
    });
  };
  return static_cast<unsigned>(
      simt::active->meet(simt::operation::match_any, mask, simt::to_bits(value), 0, where, resolve));
}

// ---- bits, loads, fences

inline int __popc(unsigned x) { return std::popcount(x); }
inline int __popcll(unsigned long long x) { return std::popcount(x); }
inline int __clz(int x) { return std::countl_zero(static_cast<unsigned>(x)); }
inline int __clzll(long long x) { return std::countl_zero(static_cast<unsigned long long>(x)); }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }
inline unsigned __brev(unsigned x) {
  unsigned reversed = 0;
  for (int bit = 0; bit < 32; ++bit) reversed = reversed << 1 | (x >> bit & 1);
  return reversed;
}
inline unsigned long long __brevll(unsigned long long x) {
  return static_cast<unsigned long long>(__brev(static_cast<unsigned>(x))) << 32 |
         __brev(static_cast<unsigned>(x >> 32));
}
inline unsigned __umulhi(unsigned a, unsigned b) { return static_cast<unsigned>(1ull * a * b >> 32); }
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return static_cast<unsigned long long>(static_cast<unsigned __int128>(a) * b >> 64);
}
inline long long __double_as_longlong(double x) { return std::bit_cast<long long>(x); }
inline double __longlong_as_double(long long x) { return std::bit_cast<double>(x); }
template <class T>
T __ldg(const T* pointer) {
  return *pointer;
}
inline void __threadfence_block() { std::atomic_thread_fence(std::memory_order_seq_cst); }
inline void __threadfence() { std::atomic_thread_fence(std::memory_order_seq_cst); }
inline void __threadfence_system() { std::atomic_thread_fence(std::memory_order_seq_cst); }

#define SIMT_MIN_MAX(TYPE)                                  \
  inline TYPE min(TYPE a, TYPE b) { return b < a ? b : a; } \
  inline TYPE max(TYPE a, TYPE b) { return a < b ? b : a; }
SIMT_MIN_MAX(int)
SIMT_MIN_MAX(unsigned)
SIMT_MIN_MAX(long)
SIMT_MIN_MAX(unsigned long)
SIMT_MIN_MAX(long long)
SIMT_MIN_MAX(unsigned long long)
SIMT_MIN_MAX(float)
SIMT_MIN_MAX(double)
#undef SIMT_MIN_MAX
#undef SIMT_HERE
