// store/leaves.cu - what is kept of every leaf, looked at or set right for all leaves of a shard.
//
// Leaves in the order of the directory. What is kept of them lies in their pages, so that there is no array to read.
#include "grid.cuh"
#include "store/store.cuh"
#include "warp.cuh"

// The entries of every leaf, as they are or, with `next`, as they will be after the batch that is planned: a thread per
// leaf.
extern "C" __global__ void packed_leaf_counts(const packed_store* store_at, int next, unsigned short* counts) {
  const packed_store store = *store_at;
  const long long leaves = static_cast<long long>(store.num_pages) * page_leaves;
  for (long long i = grid_thread_id(); i < leaves; i += grid_threads()) {
    const stored_leaf leaf = leaf_in_order(store, static_cast<word>(i));
    counts[i] = (next ? leaf.page.next_counts() : leaf.page.counts())[leaf.within];
  }
}

// The separator of every leaf: a thread per leaf.
extern "C" __global__ void packed_leaf_separators(const packed_store* store_at, word* separators) {
  const packed_store store = *store_at;
  const long long leaves = static_cast<long long>(store.num_pages) * page_leaves;
  for (long long i = grid_thread_id(); i < leaves; i += grid_threads()) {
    const stored_leaf leaf = leaf_in_order(store, static_cast<word>(i));
    separators[i] = leaf.page.separators()[leaf.within];
  }
}

// Forgets a batch that was planned and not written: a warp per page.
extern "C" __global__ void packed_forget_plan(const packed_store* store_at) {
  const packed_store store = *store_at;
  for (word position = static_cast<word>(grid_warp_id()); position < store.num_pages;
       position += static_cast<word>(grid_warps())) {
    const unsigned page = store.pages[position];
    const stored_page stored(store, page);
    unsigned own = 0;
    for (unsigned leaf = static_cast<unsigned>(lane_id()); leaf < page_leaves; leaf += 32) {
      const unsigned short count = stored.counts()[leaf];
      stored.next_counts()[leaf] = count;
      own += count;
    }
    const unsigned total = warp_sum(own);
    if (lane_id() == 0) store.totals[page] = total;
  }
}
