// status.cuh - how a kernel reports a fault. The first fault wins: word 0 gets its code, word 1 its index. The kernel
// continues without touching invalid memory, and the host raises the error at its next wait. interface.py has the
// meanings of the codes.
#pragma once

struct status_word {
  unsigned long long code;
  long long index;
};

constexpr unsigned long long fault_bad_neighbor = 1;
constexpr unsigned long long fault_queue_full = 2;

__device__ __forceinline__ void raise_status(status_word* status, unsigned long long code, long long index) {
  if (atomicCAS(&status->code, 0ull, code) == 0ull) status->index = index;
}
