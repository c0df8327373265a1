// platform.cuh - the one place where the GPU compiler and the emulation see different text.
#pragma once

#ifdef GRAPHLODE_EMULATED
#define DYN_SHARED(T, name) T* const name = reinterpret_cast<T*>(simt::active->dynamic_shared())
inline void pause_thread(unsigned) {}
inline void assume_shared(const void*) {}
#else
// The bytes are declared once, whatever T is: two kernels of one source may use them as different types.
extern __shared__ __align__(16) unsigned char graphlode_dynamic_shared[];
#define DYN_SHARED(T, name) T* const name = reinterpret_cast<T*>(graphlode_dynamic_shared)
// Lets a thread that waits for others leave the processor to them for about so many nanoseconds.
__device__ __forceinline__ void pause_thread(unsigned nanoseconds) { __nanosleep(nanoseconds); }
// Tells the compiler that a pointer leads to shared memory, where it cannot see it: across a call.
__device__ __forceinline__ void assume_shared(const void* pointer) { __builtin_assume(__isShared(pointer)); }
#endif

constexpr unsigned full_mask = 0xffffffffu;
