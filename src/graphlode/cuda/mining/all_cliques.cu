// mining/all_cliques.cu - counts the cliques of every size of an oriented graph in one search by pivoting.
//
// Works like mining/cliques.cu, with two differences. Leaves are only counted, in a table indexed by the numbers of
// held vertices and pivots. And the closed forms for a single size are not used, because each leaf stands for cliques
// of many sizes.
#include "cliques/counts.cuh"
#include "cliques/pivot_grid.cuh"
#include "platform.cuh"
#if !defined(MAX_WORDS)
#error "MAX_WORDS is set by the host"
#endif

// A warp searches one root, one branch of its block's large root, or one queued task at a time. Blocks have pivot_warps
// warps; the grid must not exceed the blocks that can be resident at once. `table` holds `copies` tables of leaves, [k
// + 1][table_width] each; k is the largest size to count. Shared memory: the bit rows and frames of the warps.
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
