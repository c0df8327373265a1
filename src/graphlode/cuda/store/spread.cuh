// store/spread.cuh - where the entries of a group of pages go: evenly over its fresh pages, then over their leaves.
//
// Every entry, old or new, has a rank that follows from counts alone, and the rank gives its slot. The old and new
// entries of one old leaf go to adjacent slots. So a warp computes the slot of the first rank and counts on from there.
#pragma once
#include "store/write.cuh"

// Only 64-bit words. store/groups.py relies on their order.
struct page_job {
  long long page;
  long long applies;  // 0: its updates are written; 1: not yet
  long long first_fresh, num_fresh;
  word base;     // the rank of its first entry in the group
  word total;    // the entries of the group after the batch
  word effects;  // of the updates before those of the page
};
struct fresh_page {
  long long page;
  long long index, num_fresh;  // in its group
  word total;
  long long origin;     // the first old page of the group
  long long successor;  // the next page of the directory, or -1
};

// A block has one page, or one part of it if there are few pages. Its warps take leaves_at_a_time leaves at a time.
constexpr unsigned spread_warps = 8, leaves_at_a_time = 4;
constexpr unsigned most_parts = page_leaves / spread_warps / leaves_at_a_time;

// The first fresh pages that a block writes to, in shared memory. Usually these are all.
struct near_pages {
  static constexpr unsigned most = 8;
  word first;  // index in the group
  word* keys[most];
};

struct group_target {
  const packed_store& store;
  const fresh_page* fresh;
  const near_pages* near;  // may be null
  word total, num_pages;
  even_spread pages;

  // The slot of a rank, and data about its page.
  struct place {
    word index;  // of the page in the group
    unsigned leaf, slot;
    unsigned quota, longer;  // entries of its leaves
    word* keys;
  };

  __device__ __forceinline__ group_target(const packed_store& store_, const page_job& job, const fresh_page* all,
                                          const near_pages* near_)
      : store(store_),
        fresh(all + job.first_fresh),
        near(near_),
        total(job.total),
        num_pages(static_cast<word>(job.num_fresh)),
        pages(job.total, static_cast<word>(job.num_fresh)) {}

  __device__ __forceinline__ void enter_page(place& at) const {
    const unsigned count = pages.count_of(at.index);
    at.quota = count / page_leaves;
    at.longer = count % page_leaves;
    if (near && at.index - near->first < near_pages::most) {
      at.keys = near->keys[at.index - near->first];
    } else {
      at.keys = stored_page(store, static_cast<unsigned>(fresh[at.index].page)).keys;
    }
  }
  // The group must have an entry. A rank behind all entries, of a leaf that keeps none, gives the last place.
  __device__ __forceinline__ place place_of(word rank) const {
    rank = min(rank, total - 1);
    place at;
    at.index = pages.leaf_of(rank);
    enter_page(at);
    const unsigned within = static_cast<unsigned>(rank - pages.start_of(at.index));
    const even_spread leaves(pages.count_of(at.index), page_leaves);
    at.leaf = static_cast<unsigned>(leaves.leaf_of(within));
    at.slot = within - static_cast<unsigned>(leaves.start_of(at.leaf));
    return at;
  }
  // Advances by `distance` ranks. Only for small distances, because it passes leaf by leaf. Stops at the last place.
  __device__ __forceinline__ void advance(place& at, unsigned distance) const {
    at.slot += distance;
    for (unsigned size; at.slot >= (size = at.quota + (at.leaf < at.longer));) {
      if (at.leaf + 1 == page_leaves && at.index + 1 == num_pages) return;
      at.slot -= size;
      if (++at.leaf == page_leaves) {
        at.leaf = 0;
        ++at.index;
        enter_page(at);
      }
    }
  }
  __device__ __forceinline__ void put_behind(place at, unsigned distance, word key, double weight) const {
    advance(at, distance);
    word* const target = at.keys + at.leaf * leaf_slots + at.slot;
    *target = key;
    if (store.weighted) *weight_of(target) = weight;
    if (at.slot == 0 && (at.index != 0 || at.leaf != 0)) stored_page(at.keys).separators()[at.leaf] = key;
  }
  __device__ __forceinline__ void put(word rank, word key, double weight) const {
    put_behind(place_of(rank), 0, key, weight);
  }
};

// A leaf with more updates than this is hot: each entry searches its update instead of reading all of them.
constexpr unsigned most_met_updates = 64;
// A leaf with more updates than this is crowded: packed_spread_new writes its new entries with all threads.
constexpr unsigned most_own_updates = 128;

// A leaf of a page that is spread: its entries, the updates [begin, end), and the effects of all updates before.
struct spread_leaf {
  unsigned count, begin, end;
  word effects;
  word rank;  // of its first entry, after the updates before
};

// The updates of a page, in shared memory if there is room.
struct page_updates {
  static constexpr unsigned most_staged = 4096;
  const word* keys;
  const unsigned char* kinds;
  unsigned origin;  // the first update in both arrays
};

// Spreads a leaf with few updates. One warp: one lane per entry, and per update in groups of 32. `at` is the place of
// the leaf's first entry, and afterwards that of the next leaf.
__device__ __forceinline__ void spread_with_few(const packed_batch& batch, const page_updates& updates,
                                                const group_target& target, const spread_leaf& leaf, word key,
                                                double weight, group_target::place& at) {
  const unsigned lane = static_cast<unsigned>(lane_id()), below_lane = (1u << lane) - 1;
  const bool weighted = target.store.weighted != 0;
  bool stays = lane < leaf.count;
  int shift = 0, more = 0;  // how far this lane's entry moves; entries that the updates so far have added
  for (unsigned first = leaf.begin; first < leaf.end; first += 32) {
    const unsigned t = first + lane, met = min(32u, leaf.end - first);
    const unsigned char known = t < leaf.end ? updates.kinds[t - updates.origin] : update_nothing;
    const word update = t < leaf.end ? updates.keys[t - updates.origin] : no_key;
    const double own_weight = t < leaf.end && weighted ? batch.weights[t] : 0.0;
    const unsigned kind = known & 3u;
    const unsigned inserts = __ballot_sync(full_mask, kind == update_insert);
    const unsigned deletes = __ballot_sync(full_mask, kind == update_delete);
    if (kind == update_insert) {
      const int before = more + __popc(inserts & below_lane) - __popc(deletes & below_lane);
      target.put_behind(at, static_cast<unsigned>((known >> 2) + before), update, own_weight);
    }
    unsigned passed = 0;  // updates with keys up to this lane's key
    for (unsigned step = 1u << (31 - __clz(static_cast<int>(met))); step != 0; step >>= 1) {
      const word other = __shfl_sync(full_mask, update, static_cast<int>((passed + step - 1) & 31u));
      if (passed + step <= 32 && other <= key) passed += step;
    }
    const unsigned up_to_key = passed < 32 ? (1u << passed) - 1 : full_mask;
    shift += __popc(inserts & up_to_key) - __popc(deletes & up_to_key);
    more += __popc(inserts) - __popc(deletes);
    const int nearest = static_cast<int>((passed - 1) & 31u);
    const bool named = __shfl_sync(full_mask, update, nearest) == key && passed != 0;
    if (named && (deletes >> nearest & 1u)) stays = false;
    if (weighted) {
      const bool changes = (__ballot_sync(full_mask, kind == update_weight) >> nearest & 1u) != 0;
      const double other = __shfl_sync(full_mask, own_weight, nearest);
      if (named && changes) weight = other;
    }
  }
  if (stays) target.put_behind(at, static_cast<unsigned>(static_cast<int>(lane) + shift), key, weight);
  target.advance(at, static_cast<unsigned>(static_cast<int>(leaf.count) + more));
}

// The same for any number of updates.
__device__ __forceinline__ void spread_with_many(const packed_batch& batch, const group_target& target,
                                                 const spread_leaf& leaf, word key, double weight,
                                                 group_target::place& at) {
  const unsigned lane = static_cast<unsigned>(lane_id());
  if (lane < leaf.count) {
    const survivor entry = apply_updates(batch, leaf.begin, leaf.end, leaf.effects, lane, key, weight);
    if (entry.stays) target.put(leaf.rank + entry.rank, key, weight);
  }
  const long long more = growth(effects_before(batch, leaf.end) - leaf.effects);
  at = target.place_of(leaf.rank + leaf.count + static_cast<word>(more));
  if (leaf.end - leaf.begin > most_own_updates) {
    if (lane == 0) atomicExch(&batch.info->any_crowded, 1u);
    return;
  }
  for (unsigned t = leaf.begin + lane; t < leaf.end; t += 32) {
    if (kind_of(batch, t) != update_insert) continue;
    const word rank =
        leaf.rank + slot_of(batch, t) + static_cast<word>(growth(effects_before(batch, t) - leaf.effects));
    target.put(rank, batch.keys[t], target.store.weighted ? batch.weights[t] : 0.0);
  }
}

// Finds where the updates of each leaf of a page begin, among [begin, end), the updates of the page. Copies them to
// `keys` and `kinds` if they fit. Called by all threads of a block, after a barrier; ends with one.
__device__ __forceinline__ page_updates stage_updates(const packed_store& store, const packed_batch& batch,
                                                      unsigned page, unsigned begin, unsigned end, unsigned* begins,
                                                      word* keys, unsigned char* kinds) {
  if (end - begin > page_updates::most_staged) {  // every leaf searches its first update
    if (threadIdx.x < page_leaves) {
      const word lowest = stored_page(store, page).separators()[threadIdx.x];
      begins[threadIdx.x] = threadIdx.x == 0 ? begin : first_not_below(batch.keys, begin, end, lowest);
    }
    if (threadIdx.x == 0) begins[page_leaves] = end;
    __syncthreads();
    return {batch.keys, batch.kinds, 0};
  }
  if (threadIdx.x <= page_leaves) begins[threadIdx.x] = end;
  __syncthreads();
  for (unsigned t = begin + threadIdx.x; t < end; t += blockDim.x) {
    const unsigned leaf = batch.leaves[t];
    keys[t - begin] = batch.keys[t];
    kinds[t - begin] = batch.kinds[t];
    if (t == begin || batch.leaves[t - 1] != leaf) begins[leaf % page_leaves] = t;
  }
  __syncthreads();
  if (warp_id() == 0) {  // a leaf without updates begins where the next one does
    const unsigned first = 4 * static_cast<unsigned>(lane_id());
    unsigned lowest = end, own[4];
    for (unsigned i = 4; i-- > 0;) lowest = own[i] = min(lowest, begins[first + i]);
    unsigned behind = lowest;
    for (int distance = 1; distance < 32; distance <<= 1) {
      behind = min(behind, __shfl_down_sync(full_mask, behind, static_cast<unsigned>(distance)));
    }
    behind = __shfl_down_sync(full_mask, behind, 1u);
    if (lane_id() == 31) behind = end;
    for (unsigned i = 0; i < 4; ++i) begins[first + i] = min(own[i], behind);
  }
  __syncthreads();
  return {keys, kinds, begin};
}
