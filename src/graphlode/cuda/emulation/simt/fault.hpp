// fault.hpp - what went wrong in a kernel, and where. The first fault of a launch is kept, later ones are dropped.
#pragma once
#include <atomic>
#include <cstdarg>
#include <cstdio>

#include "vector_types.hpp"

namespace simt {

// Where the kernel source calls a collective. Compared by line, because one file name can have several addresses.
struct site {
  const char* file;
  unsigned line;
};

// Read by Python: emulation/module.py has the same fields.
struct fault_report {
  int happened = 0;
  unsigned block[3] = {};
  unsigned thread[3] = {};
  char text[500] = {};
};

// The state that all OS threads of a launch share.
struct launch_state {
  dim3 grid, block;
  std::size_t shared_bytes = 0;
  std::atomic<unsigned long long> next_block{0};
  std::atomic<bool> stop{false};
  std::atomic<bool> reported{false};
  fault_report* report = nullptr;

  [[gnu::format(printf, 4, 0)]] void fault(uint3 at_block, uint3 at_thread, const char* format, va_list arguments) {
    if (!reported.exchange(true)) {
      report->happened = 1;
      report->block[0] = at_block.x, report->block[1] = at_block.y, report->block[2] = at_block.z;
      report->thread[0] = at_thread.x, report->thread[1] = at_thread.y, report->thread[2] = at_thread.z;
      std::vsnprintf(report->text, sizeof report->text, format, arguments);
    }
    stop = true;
  }
};

}  // namespace simt
