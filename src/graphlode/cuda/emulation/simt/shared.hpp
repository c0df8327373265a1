// shared.hpp - static shared memory. `__shared__` variables are thread-local variables of the OS thread that runs the
// block, so concurrent blocks have their own. They are filled with a pattern before each block: a kernel that reads
// shared memory before writing it must find neither zeros nor the values of the previous block.
#pragma once
#include <link.h>

#include <cstddef>
#include <cstring>

#include "block.hpp"

namespace simt {

// The thread-local memory of this compiled kernel, relative to the variable `active` in it.
struct thread_local_segment {
  std::ptrdiff_t active_offset = 0;
  std::size_t bytes = 0;
};

inline int find_segment(dl_phdr_info* library, std::size_t, void* found) {
  const auto address = reinterpret_cast<std::uintptr_t>(&find_segment);
  bool ours = false;
  const ElfW(Phdr)* segment = nullptr;
  for (int i = 0; i < library->dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = library->dlpi_phdr[i];
    const std::uintptr_t begin = library->dlpi_addr + header.p_vaddr;
    if (header.p_type == PT_LOAD && address >= begin && address < begin + header.p_memsz) ours = true;
    if (header.p_type == PT_TLS) segment = &header;
  }
  if (!ours) return 0;
  if (segment && library->dlpi_tls_data) {
    *static_cast<thread_local_segment*>(found) = {
        reinterpret_cast<char*>(&active) - static_cast<char*>(library->dlpi_tls_data), segment->p_memsz};
  }
  return 1;
}

inline void poison_static_shared() {
  static const thread_local_segment segment = [] {
    thread_local_segment found;
    dl_iterate_phdr(find_segment, &found);
    return found;
  }();
  block_runner* const keep = active;
  char* begin = reinterpret_cast<char*>(&active) - segment.active_offset;
  asm("" : "+r"(begin));  // hide that this points into `active`: hardened compilers check its size
  std::memset(begin, poison, segment.bytes);
  active = keep;
}

}  // namespace simt
