// mining/cliques.cu - the number of k-cliques of an oriented graph by pivoting on bit rows.
//
// What is searched and how is told in clique_pivot.cuh, who searches what in clique_pivot_grid.cuh. The bit rows of the
// roots are there already (clique_rows.cu). One launch counts a batch of roots, whatever their sizes; it ends early,
// with what is left in the queue, when its warps have spent their budgets of nodes, so that the host hears a stop.
// MAX_WORDS is the width of the widest bit row; 0: rows of any width, which stay in global memory.
#include "clique_counts.cuh"
#include "clique_pivot_grid.cuh"
#include "platform.cuh"
#define SUM_128 0
#define SUM_LEAVES 1
#if !defined(VERTEX_T) || !defined(MAX_WORDS) || !defined(SUM)
#error "VERTEX_T, MAX_WORDS and SUM are set by the host"
#endif

#if SUM == SUM_128
using leaves_t = leaf_sum;
#else
using leaves_t = leaf_table<false>;
#endif

// Blocks of pivot_warps warps, no more of them than can be resident at once. `table` is the table of binomials up to
// C(table_width, k), or `copies` tables of leaves [k + 1][table_width].
extern "C" __global__ void __launch_bounds__(32 * pivot_warps, MAX_WORDS == 4 || MAX_WORDS == 8 ? 4 : 3)
    clique_pivot(const long long* __restrict__ offsets, const VERTEX_T* __restrict__ neighbors,
                 const VERTEX_T* __restrict__ roots, const long long* __restrict__ slab_shifts, unsigned* slab,
                 long long first, long long middle, long long last, long long begin, long long end,
                 long long drawn_alone, int k, int degree, int per_draw, int cut_out_from, int give_when,
                 unsigned budget, unsigned patience, int stack_words, int overflow_words, unsigned* overflow,
                 const unsigned long long* __restrict__ matchings, unsigned long long* table, int table_width,
                 int copies, unsigned* flags, unsigned* records, unsigned capacity, int stride, pivot_work* work) {
  DYN_SHARED(unsigned, shared);
  unsigned* memory = shared + region_words<MAX_WORDS>() + warp_id() * warp_space::words(degree, stack_words);
  const warp_space space(memory, degree, stack_words, overflow + grid_warp_id() * overflow_words);
  const clique_rows<VERTEX_T> rows{offsets, neighbors, roots, slab_shifts, slab};
  const pivot_job job{first, middle, last, begin, end, drawn_alone, per_draw, patience};
  const task_queue queue{&work->queue, flags, records, capacity, stride};
#if SUM == SUM_128
  const leaves_t leaves{{table, k}, 0, 0};
#else
  const leaves_t leaves{table + grid_warp_id() % copies * (k + 1) * table_width, table_width};
#endif
  pivot_search<leaves_t> search{leaves, queue, space, matchings, k, cut_out_from, give_when, budget, 0, 0, 0, 0};
  count_by_pivoting<MAX_WORDS>(shared, search, rows, job, work);
}
