// graph/packed_pages.cu - whole pages of a shard: written into fresh ones with their updates, and read.
//
// Pages that overflow, run empty or are held by an immutable version come in groups that follow each other in the
// directory. Every entry of a group, old or new, has a rank that follows from counts alone, and with it a slot in the
// group's fresh pages: each is written once, in no order. A full merge is one group of all pages. The host chooses the
// groups and the fresh pages (packed_groups.py) and makes the new directory, whose separators and rows follow last.
#include "block.cuh"
#include "grid.cuh"
#include "packed_write.cuh"

// 64-bit words only, in the order that packed_groups.py knows.
struct page_job {
  long long page;
  long long applies;  // 0: its updates are written; 1: not yet; 2: not yet, and the base does not know of them either
  long long first_fresh, num_fresh;
  word base;     // the rank of its first entry in the group
  word total;    // the entries of the group, after the batch
  word effects;  // of the updates before the page's own
};
constexpr long long applies_from_the_start = 2;
struct fresh_page {
  long long page;
  long long index, num_fresh;  // in its group
  word total;
  long long origin;     // the first old page of the group
  long long successor;  // the next page of the directory, or -1
};

// Where the entries of a group go: evenly over its pages, then evenly over the leaves of each.
struct group_target {
  const packed_store& store;
  const fresh_page* fresh;
  even_spread pages;
  __device__ __forceinline__ group_target(const packed_store& store_, const page_job& job, const fresh_page* all)
      : store(store_), fresh(all + job.first_fresh), pages(job.total, static_cast<word>(job.num_fresh)) {}
  __device__ __forceinline__ void put(word rank, word key, double weight) const {
    const word index = pages.leaf_of(rank);
    const even_spread leaves(pages.count_of(index), page_leaves);
    const unsigned within = static_cast<unsigned>(rank - pages.start_of(index));
    const unsigned leaf = static_cast<unsigned>(leaves.leaf_of(within));
    const unsigned slot = within - static_cast<unsigned>(leaves.start_of(leaf));
    const unsigned page = static_cast<unsigned>(fresh[index].page);
    word* const target = page_keys(store, page) + leaf * leaf_slots + slot;
    *target = key;
    if (store.weighted) *weight_of(target) = weight;
    if (slot == 0 && (index != 0 || leaf != 0)) store.separators[page * page_leaves + leaf] = key;
  }
};

// The jobs and the fresh pages of a full merge, in the order of the directory, by blocks of 1,024 threads. The first
// one adds up the entries before each page, several pages a thread so that their totals are on the way together; the
// others write what is known before.
extern "C" __global__ void __launch_bounds__(1024)
    packed_merge_jobs(const packed_store* store_at, const unsigned* new_pages, unsigned num_fresh, word total,
                      page_job* jobs, fresh_page* fresh) {
  const packed_store store = *store_at;
  constexpr unsigned per_thread = 8;
  __shared__ word sums[32];
  if (blockIdx.x != 0) {
    const long long first = grid_thread_id() - blockDim.x, step = grid_threads() - blockDim.x;
    const unsigned origin = store.pages[0];
    for (long long i = first; i < num_fresh; i += step) {
      const long long next = i + 1 < num_fresh ? static_cast<long long>(new_pages[i + 1]) : -1ll;
      fresh[i] = fresh_page{new_pages[i], i, num_fresh, total, origin, next};
    }
    for (long long i = first; i < static_cast<long long>(store.num_pages); i += step) {
      page_job& job = jobs[i];
      job.page = store.pages[i];
      job.applies = applies_from_the_start;
      job.first_fresh = 0;
      job.num_fresh = num_fresh;
      job.total = total;
    }
    return;
  }
  word carried = 0;
  for (word begin = 0; begin < store.num_pages; begin += per_thread * blockDim.x) {
    const word first = begin + per_thread * threadIdx.x;
    unsigned pages[per_thread], totals[per_thread];
    for (unsigned i = 0; i < per_thread; ++i) pages[i] = first + i < store.num_pages ? store.pages[first + i] : 0;
    for (unsigned i = 0; i < per_thread; ++i) totals[i] = first + i < store.num_pages ? store.totals[pages[i]] : 0;
    word own = 0, all;
    for (unsigned i = 0; i < per_thread; ++i) own += totals[i];
    word before = carried + block_scan(own, sums, all) - own;
    for (unsigned i = 0; i < per_thread && first + i < store.num_pages; ++i) {
      jobs[first + i].base = before;
      before += totals[i];
    }
    carried += all;
  }
}

// Old entries into fresh pages: a block per job. Where the updates of each leaf begin is looked up first, so that an
// entry has to be compared with those of its leaf only.
extern "C" __global__ void __launch_bounds__(256)
    packed_spread_old(const packed_store* store_at, const packed_batch* batch_at, unsigned n, page_job* jobs,
                      unsigned num_jobs, const fresh_page* fresh) {
  const packed_store store = *store_at;
  const packed_batch batch = *batch_at;
  __shared__ unsigned starts[page_leaves + 1], begins[page_leaves + 1];
  __shared__ word effects[page_leaves];  // of the batch's updates before each leaf
  for (unsigned i = blockIdx.x; i < num_jobs; i += gridDim.x) {
    page_job job = jobs[i];
    const unsigned page = static_cast<unsigned>(job.page), first = page * page_leaves;
    if (warp_id() == 0) scan_counts(store.counts + first, page_leaves, starts);
    if (warp_id() == 1 && job.applies) {
      const unsigned begin = warp_first_not_below(batch.keys, 0u, n, store.separators[first]);
      if (lane_id() == 0) begins[0] = begin;
    }
    if (warp_id() == 2 && job.applies) {
      const word end_key = end_of_window(store, page, page_leaves);
      const unsigned end = end_key == no_key ? n : warp_first_not_below(batch.keys, 0u, n, end_key);
      if (lane_id() == 0) begins[page_leaves] = end;
    }
    if (!job.applies && threadIdx.x == 0) begins[0] = begins[page_leaves] = 0;
    __syncthreads();
    const unsigned begin = begins[0], end = begins[page_leaves];
    job.effects = effects_before(batch, begin);
    if (job.applies == applies_from_the_start) job.base += static_cast<word>(growth(job.effects));
    if (threadIdx.x < page_leaves) {
      const unsigned leaf = threadIdx.x;
      const unsigned own = leaf == 0 ? begin : first_not_below(batch.keys, begin, end, store.separators[first + leaf]);
      begins[leaf] = own;
      effects[leaf] = effects_before(batch, own);
      store.starts[first + leaf] = static_cast<unsigned short>(starts[leaf]);
    }
    if (threadIdx.x == 0) {
      store.jobs[page] = i;
      jobs[i] = job;
    }
    __syncthreads();
    const group_target target(store, job, fresh);
    word* const from = page_keys(store, page);
    for (unsigned slot = threadIdx.x; slot < page_slots; slot += blockDim.x) {
      const unsigned leaf = slot / leaf_slots, place = starts[leaf] + slot % leaf_slots;
      if (place >= starts[leaf + 1]) continue;
      const word key = from[slot];
      double weight = store.weighted ? *weight_of(from + slot) : 0.0;
      const word before = static_cast<word>(growth(effects[leaf] - job.effects));
      const survivor entry =
          apply_updates(batch, begins[leaf], begins[leaf + 1], effects[leaf], place + before, key, weight);
      if (entry.stays) target.put(job.base + entry.rank, key, weight);
    }
    __syncthreads();  // the next job overwrites what is shared
  }
}

// New entries into fresh pages, a thread per update; then the counts of the fresh pages [begin, end), a thread per
// leaf. With `merging`, all updates are meant, else those of flagged pages that have a job in this launch.
extern "C" __global__ void packed_spread_new(const packed_store* store_at, const packed_batch* batch_at, unsigned n,
                                             unsigned epoch, int merging, const page_job* jobs, unsigned num_jobs,
                                             const fresh_page* fresh, unsigned begin, unsigned end) {
  const packed_store store = *store_at;
  const packed_batch batch = *batch_at;
  for (long long i = grid_thread_id(); i < n; i += grid_threads()) {
    const unsigned t = static_cast<unsigned>(i), leaf = batch.leaves[t], page = leaf / page_leaves;
    if (kind_of(batch, t) != update_insert) continue;
    if (!merging && (store.marks[page] != epoch || store.levels[leaf] <= page_level)) continue;
    const unsigned index = store.jobs[page];  // of an earlier launch, unless the job there is the page's
    if (index >= num_jobs || jobs[index].page != page) continue;
    const page_job job = jobs[index];
    const word key = batch.keys[t];
    const long long within = store.starts[leaf] + slot_of(batch, t) + growth(effects_before(batch, t) - job.effects);
    const group_target target(store, job, fresh);
    target.put(job.base + static_cast<word>(within), key, store.weighted ? batch.weights[t] : 0.0);
  }
  const long long last = static_cast<long long>(end) * page_leaves;
  for (long long i = static_cast<long long>(begin) * page_leaves + grid_thread_id(); i < last; i += grid_threads()) {
    const fresh_page page = fresh[i / page_leaves];
    const word within = static_cast<word>(i) % page_leaves;
    const word leaf = static_cast<word>(page.page) * page_leaves + within;
    const even_spread pages(page.total, static_cast<word>(page.num_fresh));
    const unsigned total = pages.count_of(static_cast<word>(page.index));
    const unsigned count = even_spread(total, page_leaves).count_of(within);
    store.counts[leaf] = store.next_counts[leaf] = static_cast<unsigned short>(count);
    if (within == 0) store.totals[page.page] = total;
    if (page.index == 0 && within == 0) {
      store.separators[leaf] = store.separators[static_cast<word>(page.origin) * page_leaves];
    } else if (count == 0) {
      store.separators[leaf] = no_key;  // only where a single page is nearly empty
    }
  }
}

// The directory and, a block per fresh page, the rows that start in it. `store_at` is the new version.
extern "C" __global__ void __launch_bounds__(256)
    packed_finish(const packed_store* store_at, const fresh_page* fresh, unsigned num_fresh) {
  const packed_store store = *store_at;
  __shared__ word separators[page_leaves];
  for (long long i = grid_thread_id(); i < static_cast<long long>(store.num_pages); i += grid_threads()) {
    const unsigned page = store.pages[i];
    store.positions[page] = static_cast<unsigned>(i);
    store.page_separators[i] = store.separators[static_cast<word>(page) * page_leaves];
  }
  for (unsigned i = blockIdx.x; i < num_fresh; i += gridDim.x) {
    const unsigned first = static_cast<unsigned>(fresh[i].page) * page_leaves;
    if (threadIdx.x < page_leaves) separators[threadIdx.x] = store.separators[first + threadIdx.x];
    const long long next = fresh[i].successor;
    const word end = next < 0 ? no_key : store.separators[static_cast<word>(next) * page_leaves];
    __syncthreads();
    index_rows(store, first, separators, page_leaves, end, threadIdx.x, blockDim.x);
    __syncthreads();
  }
}

// Leaves in the order of the directory with their gaps, which get no_key: a thread per slot.
extern "C" __global__ void packed_slots(const packed_store* store_at, long long first, long long leaves, word* keys,
                                        double* weights) {
  const packed_store store = *store_at;
  for (long long i = grid_thread_id(); i < leaves * leaf_slots; i += grid_threads()) {
    const word position = static_cast<word>(first) + static_cast<word>(i) / leaf_slots;
    const unsigned leaf =
        store.pages[position / page_leaves] * page_leaves + static_cast<unsigned>(position % page_leaves);
    const unsigned slot = static_cast<unsigned>(i) % leaf_slots;
    word* const from = leaf_keys(store, leaf) + slot;
    const bool there = slot < store.counts[leaf];
    keys[i] = there ? *from : no_key;
    if (store.weighted) weights[i] = there ? *weight_of(from) : 0.0;
  }
}

// Neighbors and weights without gaps, a thread per slot. `begins` has the entries before each leaf of the directory.
extern "C" __global__ void packed_gather(const packed_store* store_at, const long long* begins, int* neighbors,
                                         double* weights) {
  const packed_store store = *store_at;
  const long long slots = static_cast<long long>(store.num_pages) * page_slots;
  for (long long i = grid_thread_id(); i < slots; i += grid_threads()) {
    const word position = static_cast<word>(i) / leaf_slots;
    const unsigned leaf =
        store.pages[position / page_leaves] * page_leaves + static_cast<unsigned>(position % page_leaves);
    const unsigned slot = static_cast<unsigned>(i) % leaf_slots;
    if (slot >= store.counts[leaf]) continue;
    word* const from = leaf_keys(store, leaf) + slot;
    neighbors[begins[position] + slot] = static_cast<int>(*from);
    if (store.weighted) weights[begins[position] + slot] = *weight_of(from);
  }
}

// The entries before each row, a thread per row and one for the end.
extern "C" __global__ void packed_offsets(const packed_store* store_at, const long long* begins, long long* offsets) {
  const packed_store store = *store_at;
  for (long long row = grid_thread_id(); row <= static_cast<long long>(store.num_rows); row += grid_threads()) {
    const unsigned leaf = store.row_leaves[row];
    const word position = static_cast<word>(store.positions[leaf / page_leaves]) * page_leaves + leaf % page_leaves;
    const unsigned count = store.counts[leaf];
    offsets[row] = begins[position] + first_not_below(leaf_keys(store, leaf), 0u, count, static_cast<word>(row) << 32);
  }
}

// Whether keys are there, a thread per key.
extern "C" __global__ void packed_contains(const packed_store* store_at, const word* keys, long long n,
                                           unsigned char* found) {
  const packed_store store = *store_at;
  for (long long i = grid_thread_id(); i < n; i += grid_threads()) {
    const word key = keys[i];
    bool there = false;
    if (key >> 32 < store.num_rows) {
      const unsigned leaf = find_leaf(store, key), count = store.counts[leaf];
      const word* const entries = leaf_keys(store, leaf);
      const unsigned slot = first_not_below(entries, 0u, count, key);
      there = slot < count && entries[slot] == key;
    }
    found[i] = there;
  }
}
