// cliques/enumerate.cu - k-cliques by enumeration: the set below every edge as a bit matrix, searched by AND +
// popcount.
//
// Tasks come from cliques/plan.cu: edges of the oriented graph or parts of them, by number of candidates. Each size
// class has its own specialization with the shared memory and registers that it needs: up to 32, 128, 256 and 512
// candidates (1, 4, 8, 16 words). A warp owns one task at a time and draws it from a counter. Larger tasks are for
// cliques/wide.cu. cliques/enumerate.cuh describes the search of a task. For k = 4 a task is a root, and its matrix is
// that of its neighbors.
//
// Cost: every clique is visited, k - 1 of its vertices one by one and the last by popcount. After KCMiner: edge tasks,
// tasks assigned before the search, scheduling between lanes, matrices built according to sparsity, size classes.
#include "cliques/enumerate.cuh"
#include "cliques/rows.cuh"
#include "cliques/tasks.cuh"
#include "clock.cuh"
#include "platform.cuh"
#include "warp.cuh"
#if !defined(WALK) || !defined(WORDS)
#error "WALK and WORDS are set by the host"
#endif

constexpr int threads_per_block = WORDS <= 4 ? 256 : WORDS <= 8 ? 128 : 64;

// Minimum number of resident blocks per multiprocessor. It limits the registers, which otherwise depend on the deepest
// search.
constexpr int blocks_at_least = WORDS == 1 ? 5 : WORDS == 4 ? 4 : WORDS == 8 ? 6 : 4;

// One record per task of a measured launch.
struct task_record {
  long long ticks;
  int size, edges;  // candidates, and the edges among them
};

// Searches the root's own rows without building a matrix. This lane holds one word of the set.
template <class Meter>
__device__ __forceinline__ unsigned long long search_rows(const enumerate_space<WORDS>& space, const bit_matrix& rows,
                                                          int words, unsigned own, int needed, int part, int parts,
                                                          Meter& meter) {
  unsigned long long found = 0;
  walk_sets(rows, words, own, branch_range{part, 32 * words, parts}, needed, space.frames,
            [&](int, unsigned child, int, int left) {
              if (lane_id() < words) meter.step();
              if (left == 1) found += static_cast<unsigned>(__popc(child));
              return left > 1;
            });
  return found;
}

// Counts tasks [first, last) of one class of up to 32 WORDS candidates. One warp per task. Dynamic shared memory:
// space_words per warp. Only measured searches write `records`.
extern "C" __global__ void __launch_bounds__(threads_per_block, blocks_at_least)
    clique_enumerate(const unsigned* __restrict__ slab, const clique_task* __restrict__ tasks,
                     const long long* __restrict__ class_begins, const int* __restrict__ parts_by_size, long long first,
                     long long last, int k, int at_once, int in_registers, int schedule_from,
                     const float* __restrict__ thresholds, int size_class, int space_words, int stride, int frame_words,
                     task_record* records, search_work* work) {
  DYN_SHARED(unsigned, memory);
  const enumerate_rules rules{k, at_once, in_registers, schedule_from, thresholds};
  const enumerate_space<WORDS> space(memory + warp_id() * space_words, stride, frame_words);
  tasks += class_begins[size_class];
  last = min(last, static_cast<long long>(work->queued[size_class]));
  const int step = WORDS == 1 && k <= 5 ? 4 : 1;  // small tasks: draw several, to spare the counter
  lane_meter<measured> meter;
  unsigned long long found = 0;
  for (;;) {
    const long long drawn = first + warp_draw(&work->drawn[size_class], step);
    if (drawn >= last) break;
    for (long long index = drawn; index < min(drawn + step, last); ++index) {
      const clique_task task = tasks[index];
      const int words = words_for(task.degree);
      const bit_matrix rows{slab + task.rows, words, 1};
      if (k == 4) {
        copy_matrix(rows.words, task.degree, width_for<WORDS>(task.degree), space.matrix, stride);
        const branch_range range{task.place + task.part, task.end, parts_by_size[task.degree]};
        found += search_matrix(space, rules, task.degree, 3, range, meter);
        __syncwarp();
        continue;
      }
      const unsigned own = lane_id() < words ? rows.at(task.place, lane_id()) & bits_above(task.place, lane_id()) : 0u;
      const int size = static_cast<int>(__reduce_add_sync(full_mask, static_cast<unsigned>(__popc(own))));
      if constexpr (walk == WALK_ROWS) {
        found += search_rows(space, rows, words, own, k - 2, task.part, parts_by_size[size], meter);
        continue;
      }
      const long long started = measured ? clock_ticks() : 0;
      found += search_set(space, rules, rows, words, own, size, k - 2, task.part, parts_by_size[size], meter);
      if (measured) {
        const long long ticks = clock_ticks() - started;
        list_members(words, [&](int) { return own; }, space.members);
        const int edges = edges_inside(rows, words, own, space.members, size);
        if (lane_id() == 0) records[class_begins[size_class] + index] = task_record{ticks, size, edges};
        __syncwarp();
      }
    }
  }
  add_total(work, found);
  if (measured) add_steps(work, meter.lane_steps, meter.warp_steps);
}
