// mining/all_cliques.cu - the cliques of every size of an oriented graph in one search by pivoting.
//
// As mining/cliques.cu, but leaves are only counted, in a table by vertices held and pivots passed, and the closed
// forms that hold for one size alone are left out: each leaf then stands for cliques of many sizes at once.
#include "cliques/counts.cuh"
#include "cliques/pivot_grid.cuh"
#include "platform.cuh"
#if !defined(MAX_WORDS)
#error "MAX_WORDS is set by the host"
#endif

// Blocks of pivot_warps warps, no more of them than can be resident at once. `table` is `copies` tables of leaves
// [k + 1][table_width]; k is the largest size to count.
extern "C" __global__ void __launch_bounds__(32 * pivot_warps, 3)
    all_cliques(const long long* __restrict__ offsets, const int* __restrict__ roots,
                const long long* __restrict__ slab_shifts, unsigned* slab, long long first, long long middle,
                long long last, long long begin, long long end, long long tiny, long long drawn_alone,
                long long draws_of_several, int k, int per_draw, int tiny_per_draw, int cut_out_from, int give_when,
                unsigned budget, unsigned patience, int space_words, int overflow_words, unsigned* overflow,
                const unsigned long long* __restrict__ matchings, unsigned long long* table, int table_width,
                int copies, unsigned* flags, unsigned* records, unsigned capacity, int stride, pivot_work* work) {
  DYN_SHARED(unsigned, shared);
  const clique_rows<int> rows{offsets, nullptr, roots, slab_shifts, slab};
  const pivot_job job{first,       middle,           last,     begin,         end,     tiny,
                      drawn_alone, draws_of_several, per_draw, tiny_per_draw, patience};
  const task_queue queue{&work->queue, flags, records, capacity, stride};
  const leaf_table leaves{table + grid_warp_id() % copies * (k + 1) * table_width, table_width};
  unsigned* const frames = overflow + grid_warp_id() * overflow_words;
  const pivot_search<leaf_table> search{
      {leaves, matchings, k, 0, 0}, queue, frames, cut_out_from, give_when, budget, 0, 0};
  count_by_pivoting<MAX_WORDS>(shared, space_words, search, rows, job, work);
}
