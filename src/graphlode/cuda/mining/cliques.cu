// mining/cliques.cu - the number of k-cliques of an oriented graph by pivoting on bit rows.
//
// What is searched and how is told in cliques/pivot.cuh, who searches what in cliques/pivot_grid.cuh. The bit rows of
// the roots are there already (cliques/rows.cu). One launch counts a batch of roots, whatever their sizes; it ends
// early, with what is left in the queue, when its warps have spent their budgets of nodes, so that the host hears a
// stop. MAX_WORDS is the width of the widest bit row; 0: rows of any width, which stay in global memory.
#include "cliques/counts.cuh"
#include "cliques/pivot_grid.cuh"
#include "platform.cuh"
#if !defined(MAX_WORDS)
#error "MAX_WORDS is set by the host"
#endif

// Blocks of pivot_warps warps, no more of them than can be resident at once. `table` is the table of binomials up to
// C(n, k), n being the longest row in whole words.
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
