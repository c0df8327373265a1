// mining/cliques.cu - counts the k-cliques of an oriented graph by pivoting on bit rows.
//
// cliques/pivot.cuh describes the search, cliques/pivot_grid.cuh how it is distributed over warps. cliques/rows.cu must
// have written the bit rows of the roots. One launch counts a batch of roots of any size. It ends early, with the rest
// in the queue, when its warps have spent their budgets of nodes; this lets the host check for a stop request.
// MAX_WORDS is the width of the widest bit row. 0 means rows of any width, which stay in global memory.
#include "cliques/counts.cuh"
#include "cliques/pivot_grid.cuh"
#include "platform.cuh"
#if !defined(MAX_WORDS)
#error "MAX_WORDS is set by the host"
#endif

// A warp searches one root, one branch of its block's large root, or one queued task at a time. Blocks have pivot_warps
// warps; the grid must not exceed the blocks that can be resident at once. `table` is the table of binomials up to C(n,
// k), where n is the longest row rounded up to whole words. Shared memory: the bit rows and frames of the warps.
extern "C" __global__ void __launch_bounds__(32 * pivot_warps, 3)
    clique_pivot(const long long* __restrict__ offsets, const int* __restrict__ roots,
                 const long long* __restrict__ slab_shifts, unsigned* slab, long long first, long long middle,
                 long long last, long long begin, long long end, long long tiny, long long drawn_alone,
                 long long draws_of_several, int k, int per_draw, int tiny_per_draw, int cut_out_from, int give_when,
                 unsigned budget, unsigned patience, int space_words, int overflow_words, unsigned* overflow,
                 const unsigned long long* __restrict__ matchings, const unsigned long long* __restrict__ table,
                 unsigned* flags, unsigned* records, unsigned capacity, int stride, pivot_work* work) {
  DYN_SHARED(unsigned, shared);
  const clique_rows<int> rows{offsets, nullptr, roots, slab_shifts, slab};
  const pivot_job job{first,       middle,           last,     begin,         end,     tiny,
                      drawn_alone, draws_of_several, per_draw, tiny_per_draw, patience};
  const task_queue queue{&work->queue, flags, records, capacity, stride};
  const leaf_sum leaves{{table, k}, 0, 0};
  unsigned* const frames = overflow + grid_warp_id() * overflow_words;
  const pivot_search<leaf_sum> search{
      {leaves, matchings, k, 0, 0}, queue, frames, cut_out_from, give_when, budget, 0, 0};
  count_by_pivoting<MAX_WORDS>(shared, space_words, search, rows, job, work);
}
