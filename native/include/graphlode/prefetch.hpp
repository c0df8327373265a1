// prefetch.hpp - memory that will be read, or written, some steps later.
//
// GCC takes a function that does nothing but prefetch for one without effects, and leaves its calls out unless it has
// inlined it early. The empty statement is an effect to it, and costs nothing.
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
