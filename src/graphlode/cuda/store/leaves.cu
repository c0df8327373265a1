// store/leaves.cu - reads or repairs the data about each leaf, for all leaves of a shard.
//
// Leaves are in directory order. Their data lies in their pages, so there is no array of it to read.
#include "grid.cuh"
#include "store/store.cuh"
#include "warp.cuh"

// Writes the number of entries of every leaf: the current one or, with `next`, the one after the planned batch. One
// thread per leaf.
extern "C" __global__ void packed_leaf_counts(const packed_store* store_at, int next, unsigned short* counts) {
  const packed_store store = *store_at;
  const long long leaves = static_cast<long long>(store.num_pages) * page_leaves;
  for (long long i = grid_thread_id(); i < leaves; i += grid_threads()) {
    const stored_leaf leaf = leaf_in_order(store, static_cast<word>(i));
    counts[i] = (next ? leaf.page.next_counts() : leaf.page.counts())[leaf.within];
  }
}

// Writes the separator of every leaf. One thread per leaf.
extern "C" __global__ void packed_leaf_separators(const packed_store* store_at, word* separators) {
  const packed_store store = *store_at;
  const long long leaves = static_cast<long long>(store.num_pages) * page_leaves;
  for (long long i = grid_thread_id(); i < leaves; i += grid_threads()) {
    const stored_leaf leaf = leaf_in_order(store, static_cast<word>(i));
    separators[i] = leaf.page.separators()[leaf.within];
  }
}

// Forgets a batch that was planned and not written. One warp per page.
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
