// platform.cuh - the one place where the GPU compiler and the emulation see different text.
#pragma once

#ifdef GRAPHLODE_EMULATED
#define DYN_SHARED(T, name) T* const name = reinterpret_cast<T*>(simt::active->dynamic_shared())
#else
// The bytes are declared once, whatever T is: two kernels of one source may use them as different types.
extern __shared__ __align__(16) unsigned char graphlode_dynamic_shared[];
#define DYN_SHARED(T, name) T* const name = reinterpret_cast<T*>(graphlode_dynamic_shared)
#endif

constexpr unsigned full_mask = 0xffffffffu;
