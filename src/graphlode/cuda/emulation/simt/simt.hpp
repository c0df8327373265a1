// simt.hpp - everything that g++ needs to compile a CUDA source for a CPU. See docs/simt-emulation.md.
//
// The standard headers come first, because the macros below redefine words that they use.
#pragma once
#include "atomics.hpp"
#include "intrinsics.hpp"
#include "launch.hpp"

#define GRAPHLODE_EMULATED 1

#define __global__
#define __device__
#define __host__
#define __constant__ static const
// `used` prevents the compiler from assuming that a variable which no code writes is zero.
#define __shared__ static thread_local __attribute__((used))
#define __launch_bounds__(...)
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
