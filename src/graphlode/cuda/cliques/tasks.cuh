// cliques/tasks.cuh - queues of tasks of a clique search, by size class, as cliques/plan.cu fills and searches empty
// them.
//
// A task is an edge (u, v) of the oriented graph or a part of one: its candidates are the bits above `place` in row
// `place` of root u. Or, where `place` is not looked at, a range of the places of a root.
#pragma once
#include "warp.cuh"

constexpr int num_classes = 5;     // up to 32, 128, 256, 512 candidates, and beyond
constexpr int widest_rows = 1024;  // bits: a word of a set for each lane; longer rows are for a block, too

struct clique_task {
  long long rows;             // where the bit rows of the root begin in the slab
  unsigned short degree;      // of the root
  unsigned short place, end;  // the entry; for a root, its places [place, end)
  unsigned short part;
};

// 64-bit words only, in the order that clique_plan.py knows.
struct search_work {
  unsigned long long total_low, total_high;
  unsigned long long queued[num_classes], drawn[num_classes];
  unsigned long long lane_steps, warp_steps;  // of measured searches
};

// The queues of all classes, back to back, and the table by which tasks are cut: parts[n] for n candidates.
struct task_queues {
  const clique_task* tasks;
  const long long* begins;  // by class
  const int* parts;
};

// Adds what each lane found to a total of 128 bits.
__device__ __forceinline__ void add_total(search_work* work, unsigned long long found) {
  found = warp_sum(found);
  if (lane_id() != 0 || found == 0) return;
  const unsigned long long before = atomicAdd(&work->total_low, found);
  if (before + found < before) atomicAdd(&work->total_high, 1ull);
}

// Adds what each lane counted of its steps.
__device__ __forceinline__ void add_steps(search_work* work, unsigned long long lane_steps,
                                          unsigned long long warp_steps) {
  lane_steps = warp_sum(lane_steps);
  warp_steps = warp_sum(warp_steps);
  if (lane_id() != 0) return;
  atomicAdd(&work->lane_steps, lane_steps);
  atomicAdd(&work->warp_steps, warp_steps);
}
