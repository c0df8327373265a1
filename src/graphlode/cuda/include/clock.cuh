// clock.cuh - a clock that kernels can read, for specializations that measure.
#pragma once
#include "platform.cuh"

// Ticks of the multiprocessor's clock, or nanoseconds under emulation. Only differences within one thread are
// meaningful.
#ifdef GRAPHLODE_EMULATED
#include <chrono>
inline long long clock_ticks() { return std::chrono::steady_clock::now().time_since_epoch().count(); }
#else
__device__ __forceinline__ long long clock_ticks() { return clock64(); }
#endif
