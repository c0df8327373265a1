// packed_plan.cuh - what a batch of updates, sorted and located, does to leaves and pages.
//
// Counts after the batch are exact, since updates without effect are known. A leaf whose count leaves its bounds makes
// its page a suspect; a warp then looks at the 128 counts of the page and chooses, for every such leaf, the smallest
// window whose density is within the bounds of its level. Windows are aligned, so of two that overlap the larger holds
// the smaller, and only the largest is written. A page that is out of bounds as a whole, or held by an immutable
// version, is flagged: the host gives it fresh pages.
#pragma once
#include "packed_store.cuh"
#include "warp.cuh"

// Looks up one update and says what it does. `last`: no later update of the batch names the same key.
__device__ __forceinline__ word locate_update(const packed_store& store, const packed_batch& batch, unsigned t,
                                              word input, bool last, bool has_weight, double weight) {
  const word key = input & ~delete_bit;
  batch.keys[t] = key;
  if (store.weighted) batch.weights[t] = weight;
  unsigned char kind = update_nothing;
  unsigned leaf = 0, slot = 0;
  if (key >> 32 >= store.num_rows) {
    atomicExch(&batch.info->bad_row, 1u);
  } else {
    leaf = find_leaf(store, key);
    word* const keys = leaf_keys(store, leaf);
    const unsigned count = store.counts[leaf];
    slot = first_not_below(keys, 0u, count, key);
    const bool there = slot < count && keys[slot] == key;
    if (last && (input & delete_bit)) {
      kind = there ? update_delete : update_nothing;
    } else if (last && !there) {
      kind = update_insert;
    } else if (last && store.weighted && has_weight && *weight_of(keys + slot) != weight) {
      kind = update_weight;
      atomicAdd(&batch.info->changed, 1u);
    }
  }
  batch.leaves[t] = leaf;
  batch.kinds[t] = static_cast<unsigned char>(kind | slot << 2);
  return kind == update_insert ? 1ull : kind == update_delete ? 1ull << 32 : 0ull;
}

// What the updates before t do together.
__device__ __forceinline__ word effects_before(const packed_batch& batch, unsigned t) {
  return t == 0 ? 0ull : batch.effects[t - 1] + batch.tile_effects[(t - 1) / effect_tile];
}
// How many more entries there are after such effects.
__device__ __forceinline__ long long growth(word effects) {
  return static_cast<long long>(effects & 0xffffffffu) - static_cast<long long>(effects >> 32);
}

// One past the last update of the leaf whose first update is t: doubling steps, then a binary search.
__device__ __forceinline__ unsigned end_of_run(const packed_batch& batch, unsigned n, unsigned t, unsigned leaf) {
  unsigned low = t + 1, step = 1;
  while (low + step - 1 < n && batch.leaves[low + step - 1] == leaf) {
    low += step;
    step <<= 1;
  }
  unsigned high = min(n, low + step - 1);
  while (low < high) {
    const unsigned middle = low + (high - low) / 2;
    if (batch.leaves[middle] == leaf) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

// The first update of each leaf counts for all of them: whether this one is the first, of updates that do something.
__device__ __forceinline__ bool plan_leaf(const packed_store& store, const packed_batch& batch, unsigned n, unsigned t,
                                          unsigned epoch, leaf_task& task) {
  const unsigned leaf = batch.leaves[t], page = leaf / page_leaves;
  if (t != 0 && batch.leaves[t - 1] == leaf) return false;
  const unsigned end = end_of_run(batch, n, t, leaf);
  const word effects = effects_before(batch, end) - effects_before(batch, t);
  if (effects == 0 && !store.weighted) return false;
  task = leaf_task{leaf, t, end, 0};
  const long long more = growth(effects), count = store.counts[leaf] + more;
  const unsigned total = atomicAdd(store.totals + page, static_cast<unsigned>(more)) + static_cast<unsigned>(more);
  store.next_counts[leaf] = static_cast<unsigned short>(min(count, 65535ll));
  // Whoever adds last sees the page's final total, so none that is out of bounds is missed.
  const bool low = store.num_pages > 1 && (count < lower_slots(0) || total < lower_slots(page_level));
  const bool high = count > leaf_slots || total > upper_slots(page_level);
  if ((low || high || store.held[page]) && atomicExch(store.marks + page, epoch) != epoch) {
    batch.suspects[atomicAdd(&batch.info->num_suspects, 1u)] = page;
  }
  return true;
}

// Plans the leaves of 32 updates: one warp, which adds to the list of tasks once.
__device__ __forceinline__ void plan_leaves(const packed_store& store, const packed_batch& batch, unsigned n,
                                            unsigned first, unsigned epoch) {
  const unsigned t = first + static_cast<unsigned>(lane_id());
  leaf_task task;
  const bool wanted = t < n && plan_leaf(store, batch, n, t, epoch, task);
  const unsigned votes = __ballot_sync(full_mask, wanted);
  if (votes == 0) return;
  unsigned place = 0;
  if (lane_id() == 0) place = atomicAdd(&batch.info->num_leaves, static_cast<unsigned>(__popc(votes)));
  place = __shfl_sync(full_mask, place, 0) + static_cast<unsigned>(votes_below(votes));
  if (wanted) batch.tasks[place] = task;
}

// The level of the window with which each of the lane's four leaves is rewritten, 0 for none.
__device__ __forceinline__ void choose_windows(const unsigned (&counts)[4], bool only_page, unsigned (&levels)[4]) {
  const unsigned lane = static_cast<unsigned>(lane_id());
  unsigned own[4];  // the smallest window that is within bounds, for leaves that are not
  const unsigned pairs[2] = {counts[0] + counts[1], counts[2] + counts[3]};
  for (unsigned i = 0; i < 4; ++i) {
    own[i] = 0;
    levels[i] = 0;
  }
  unsigned sum = pairs[0] + pairs[1];
  for (unsigned level = 1; level <= page_level; ++level) {
    if (level > 2) sum += __shfl_xor_sync(full_mask, sum, 1 << (level - 3));
    for (unsigned i = 0; i < 4; ++i) {
      const bool outside = counts[i] > leaf_slots || (!only_page && counts[i] < lower_slots(0));
      const unsigned entries = level == 1 ? pairs[i / 2] : sum;
      const bool fits = entries <= upper_slots(level) && (only_page || entries >= lower_slots(level));
      if (outside && own[i] == 0 && fits) own[i] = level;
    }
  }
  for (unsigned level = page_level; level >= 1; --level) {
    bool chosen[2];  // for the first and the second pair of leaves of this lane
    if (level == 1) {
      chosen[0] = own[0] == 1 || own[1] == 1;
      chosen[1] = own[2] == 1 || own[3] == 1;
    } else {
      const bool mine = own[0] == level || own[1] == level || own[2] == level || own[3] == level;
      const unsigned votes = __ballot_sync(full_mask, mine), width = 1u << (level - 2);
      const unsigned group = width == 32 ? full_mask : ((1u << width) - 1) << (lane & ~(width - 1));
      chosen[0] = chosen[1] = (votes & group) != 0;
    }
    for (unsigned i = 0; i < 4; ++i) {
      if (chosen[i / 2] && levels[i] == 0) levels[i] = level;
    }
  }
}

// Tells the host of a page that needs fresh pages: one warp, a lane per word of the record.
__device__ __forceinline__ void flag_page(const packed_store& store, const packed_batch& batch, unsigned page) {
  const unsigned lane = static_cast<unsigned>(lane_id()), position = store.positions[page];
  const unsigned pages = static_cast<unsigned>(store.num_pages), last = max(1u, pages / group_pages) - 1;
  const unsigned group = min(position / group_pages, last), begin = group * group_pages;
  const unsigned end = group == last ? pages : begin + group_pages;
  unsigned index = 0;
  if (lane == 0) index = atomicAdd(&batch.info->num_flagged, 1u);
  index = __shfl_sync(full_mask, index, 0);
  if (lane >= record_words) return;
  unsigned own = position;
  if (lane > 0) own = begin + lane - 1 < end ? store.totals[store.pages[begin + lane - 1]] : 0;
  batch.flagged[static_cast<word>(index) * record_words + lane] = own;
}

// Looks at a suspect: one warp.
__device__ __forceinline__ void plan_page(const packed_store& store, const packed_batch& batch, unsigned page) {
  const unsigned lane = static_cast<unsigned>(lane_id()), total = store.totals[page];
  const bool only_page = store.num_pages == 1;
  const bool outside = total > upper_slots(page_level) || (!only_page && total < lower_slots(page_level));
  const unsigned first = page * page_leaves + 4 * lane;
  if (outside || store.held[page]) {
    for (unsigned i = 0; i < 4; ++i) store.levels[first + i] = page_level + 1;
    flag_page(store, batch, page);
    return;
  }
  unsigned counts[4], levels[4];
  for (unsigned i = 0; i < 4; ++i) counts[i] = store.next_counts[first + i];
  choose_windows(counts, only_page, levels);
  for (unsigned i = 0; i < 4; ++i) {
    const unsigned leaf = first + i, level = levels[i];
    store.levels[leaf] = static_cast<unsigned char>(level);
    if (level == 0 || leaf & ((1u << level) - 1)) continue;  // the first leaf of a window stands for it
    const word window = static_cast<word>(level) << 32 | leaf;
    if (level <= narrow_level) {
      batch.narrow[atomicAdd(&batch.info->num_narrow, 1u)] = window;
    } else {
      batch.wide[atomicAdd(&batch.info->num_wide, 1u)] = window;
    }
    atomicAdd(&batch.info->window_leaves, 1u << level);
  }
}
