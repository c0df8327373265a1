// prefetch.hpp - prefetches memory that will be read or written some steps later.
//
// GCC considers a function that only prefetches to be free of effects, and drops its calls unless it inlines it early.
// The empty asm statement counts as an effect and costs nothing.
#pragma once

namespace graphlode {

inline void prefetch(const void* at) noexcept {
  __builtin_prefetch(at);
  asm volatile("");
}

inline void prefetch_to_write(const void* at) noexcept {
  __builtin_prefetch(at, 1);
  asm volatile("");
}

}  // namespace graphlode
