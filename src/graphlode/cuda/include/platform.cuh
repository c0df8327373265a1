// platform.cuh - the only place where the GPU compiler and the emulation see different code.
#pragma once

#ifdef GRAPHLODE_EMULATED
#define DYN_SHARED(T, name) T* const name = reinterpret_cast<T*>(simt::active->dynamic_shared())
inline void pause_thread(unsigned) {}
inline void assume_shared(const void*) {}
inline void copy_to_shared(unsigned long long* to, const unsigned long long* from, bool wanted) {
  if (wanted) *to = *from;
}
inline void wait_for_copies() {}
#else
// The bytes are declared once for all types T: two kernels of one source may use them as different types.
extern __shared__ __align__(16) unsigned char graphlode_dynamic_shared[];
#define DYN_SHARED(T, name) T* const name = reinterpret_cast<T*>(graphlode_dynamic_shared)
// Lets a waiting thread yield the processor for about this many nanoseconds.
__device__ __forceinline__ void pause_thread(unsigned nanoseconds) { __nanosleep(nanoseconds); }
// Declares to the compiler that a pointer is to shared memory, which it cannot know across a call.
__device__ __forceinline__ void assume_shared(const void* pointer) { __builtin_assume(__isShared(pointer)); }
// Copies from global to shared memory without a register, so that many copies can be in flight. After wait_for_copies
// the thread sees its own copies; other threads see them after a further barrier.
__device__ __forceinline__ void copy_to_shared(unsigned long long* to, const unsigned long long* from, bool wanted) {
  asm volatile(
      "{\n .reg .pred wanted;\n setp.ne.u32 wanted, %2, 0;\n"
      " @wanted cp.async.ca.shared.global [%0], [%1], 8;\n}" ::"r"(static_cast<unsigned>(__cvta_generic_to_shared(to))),
      "l"(from), "r"(static_cast<unsigned>(wanted)));
}
__device__ __forceinline__ void wait_for_copies() { asm volatile("cp.async.wait_all;" ::: "memory"); }
#endif

constexpr unsigned full_mask = 0xffffffffu;
