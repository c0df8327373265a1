// status.cuh - how a kernel says that something is wrong: the first fault wins, its code in word 0, its index in
// word 1. The kernel goes on without touching memory it must not; the host raises the error at its next wait. The
// meanings of the codes are in interface.py.
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
