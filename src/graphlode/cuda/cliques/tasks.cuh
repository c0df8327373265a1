// cliques/tasks.cuh - the task queues of a clique search, by size class. cliques/plan.cu fills them, searches empty
// them.
//
// A task is an edge (u, v) of the oriented graph or a part of one. Its candidates are the bits above `place` in row
// `place` of root u. For k = 4, a task is a range of the places of a root.
#pragma once
#include "warp.cuh"

constexpr int num_classes = 5;     // up to 32, 128, 256, 512 candidates, and beyond
constexpr int widest_rows = 1024;  // bits: one word of a set per lane; longer rows need a block

struct clique_task {
  long long rows;             // where the bit rows of the root begin in the slab
  unsigned short degree;      // of the root
  unsigned short place, end;  // the entry; for a root, its places [place, end)
  unsigned short part;
};

// Only 64-bit words. cliques/plan.py relies on their order.
struct search_work {
  unsigned long long total_low, total_high;
  unsigned long long queued[num_classes], drawn[num_classes];
  unsigned long long lane_steps, warp_steps;  // only in measured searches
};

// The queues of all classes, back to back, and the number of parts of a task: parts[n] for n candidates.
struct task_queues {
  const clique_task* tasks;
  const long long* begins;  // by class
  const int* parts;
};

// Adds the counts of all lanes to a 128-bit total. Called by all lanes of a warp.
__device__ __forceinline__ void add_total(search_work* work, unsigned long long found) {
  found = warp_sum(found);
  if (lane_id() != 0 || found == 0) return;
  const unsigned long long before = atomicAdd(&work->total_low, found);
  if (before + found < before) atomicAdd(&work->total_high, 1ull);
}

// Adds the step counts of all lanes. Called by all lanes of a warp.
__device__ __forceinline__ void add_steps(search_work* work, unsigned long long lane_steps,
                                          unsigned long long warp_steps) {
  lane_steps = warp_sum(lane_steps);
  warp_steps = warp_sum(warp_steps);
  if (lane_id() != 0) return;
  atomicAdd(&work->lane_steps, lane_steps);
  atomicAdd(&work->warp_steps, warp_steps);
}
