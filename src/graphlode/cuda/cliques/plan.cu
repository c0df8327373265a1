// cliques/plan.cu - decides which edges need a search for cliques, in how many parts, and in which size class.
//
// Reads the candidates of every edge in the rows of its root and drops edges with too few. The work below an edge
// differs by orders of magnitude. A heavy edge becomes several tasks, each with every parts-th branch, so that no
// single task dominates the time. The queues are complete before a search begins, so no warp waits for work to appear.
//
// Rows as in cliques/rows.cuh. Cost: one read of each row.
#include "cliques/rows.cuh"
#include "cliques/tasks.cuh"
#include "platform.cuh"
#include "warp.cuh"
#if !defined(VERTEX_T)
#error "VERTEX_T is set by the host"
#endif

__device__ __forceinline__ int class_of(int size, int degree, int most_per_warp, int one_class) {
  if (size > most_per_warp || degree > widest_rows) return num_classes - 1;
  if (one_class >= 0) return one_class;
  return size <= 32 ? 0 : size <= 128 ? 1 : size <= 256 ? 2 : 3;
}

// All places of a root whose entries are in [begin, end), as one task.
__device__ __forceinline__ clique_task task_of(const clique_root& root, const unsigned* slab, long long begin,
                                               long long end) {
  clique_task task;
  task.rows = root.rows - slab;
  task.degree = static_cast<unsigned short>(root.degree);
  task.place = static_cast<unsigned short>(max(0ll, begin - root.begin));
  task.end = static_cast<unsigned short>(min(static_cast<long long>(root.degree), end - root.begin));
  task.part = 0;
  return task;
}

// Queues the parts of the task of each lane with `wanted`, class by class.
__device__ __forceinline__ void queue_tasks(clique_task* tasks, const long long* class_begins, search_work* work,
                                            bool wanted, int size_class, int parts, clique_task task) {
  for (unsigned left = __ballot_sync(full_mask, wanted); left != 0;) {
    const int chosen = __shfl_sync(full_mask, size_class, __ffs(static_cast<int>(left)) - 1);
    const bool mine = wanted && size_class == chosen;
    left &= ~__ballot_sync(full_mask, mine);
    const int own = mine ? parts : 0, end = warp_inclusive_scan(own);
    unsigned long long first = 0;
    if (lane_id() == 31) first = atomicAdd(&work->queued[chosen], static_cast<unsigned long long>(end));
    first = __shfl_sync(full_mask, first, 31);
    clique_task* const place = tasks + class_begins[chosen] + static_cast<long long>(first) + (end - own);
    for (int part = 0; part < own; ++part) {
      task.part = static_cast<unsigned short>(part);
      place[part] = task;
    }
  }
}

// Writes the tasks of slots [first, last) whose entries are in [begin, end). One warp per slot, one lane per entry. For
// k = 3 the candidates of an edge are the count itself; for k = 4 a task is a root, one lane per slot. by_root: an edge
// has the class of its root. one_class: the class of all tasks of one warp, or -1.
extern "C" __global__ void __launch_bounds__(256)
    clique_plan(const long long* __restrict__ offsets, const VERTEX_T* __restrict__ neighbors,
                const VERTEX_T* __restrict__ roots, const long long* __restrict__ slab_shifts, unsigned* slab,
                long long first, long long last, long long begin, long long end, int k, int by_root, int most_per_warp,
                int one_class, const long long* __restrict__ class_begins, const int* __restrict__ parts_by_size,
                clique_task* tasks, search_work* work) {
  const clique_rows<VERTEX_T> graph{offsets, neighbors, roots, slab_shifts, slab};
  if (k == 4) {
    for (long long base = first + 32 * grid_warp_id(); base < last; base += 32 * grid_warps()) {
      const bool wanted = base + lane_id() < last;
      const clique_root root = graph.at(wanted ? base + lane_id() : base);
      queue_tasks(tasks, class_begins, work, wanted, class_of(root.degree, root.degree, most_per_warp, one_class),
                  parts_by_size[root.degree], task_of(root, slab, begin, end));
    }
    return;
  }
  unsigned long long found = 0;
  for (long long slot = first + grid_warp_id(); slot < last; slot += grid_warps()) {
    const clique_root root = graph.at(slot);
    clique_task task = task_of(root, slab, begin, end);
    const int low = task.place, high = task.end;
    for (int base = low; base < high; base += 32) {
      const int place = base + lane_id();
      int size = 0;
      if (place < high) {
        const unsigned* const row = root.rows + static_cast<long long>(place) * root.words;
        for (int word = place >> 5; word < root.words; ++word) size += __popc(row[word] & bits_above(place, word));
      }
      if (k == 3) {
        found += static_cast<unsigned>(size);
      } else {
        task.place = static_cast<unsigned short>(place);
        const int size_class = class_of(by_root ? root.degree : size, root.degree, most_per_warp, one_class);
        queue_tasks(tasks, class_begins, work, size >= k - 2, size_class, parts_by_size[size], task);
      }
    }
  }
  if (k == 3) add_total(work, found);
}
