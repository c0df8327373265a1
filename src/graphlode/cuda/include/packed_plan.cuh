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

// Where a key is or would be.
struct found_slot {
  unsigned leaf = 0, slot = 0;
  word* keys = nullptr;  // of the leaf
  bool there = false;
};

__device__ __forceinline__ void search_leaf(word key, unsigned count, found_slot& found) {
  found.slot = first_not_below(found.keys, 0u, count, key);
  found.there = found.slot < count && found.keys[found.slot] == key;
}

__device__ __forceinline__ found_slot find_slot(const packed_store& store, word key) {
  found_slot found;
  found.leaf = find_leaf(store, key);
  found.keys = leaf_keys(store, found.leaf);
  search_leaf(key, store.counts[found.leaf], found);
  return found;
}

// The same for the ascending keys of a warp's lanes, which all take part. Where these fall into few leaves, the lanes
// have such a leaf together, an entry each, and search among themselves.
__device__ __forceinline__ found_slot warp_find_slots(const packed_store& store, word key, bool wanted) {
  constexpr int few_leaves = 8;
  const unsigned lane = static_cast<unsigned>(lane_id());
  found_slot found;
  unsigned count = 0;
  if (wanted) {
    found.leaf = find_leaf(store, key);
    found.keys = leaf_keys(store, found.leaf);
    count = store.counts[found.leaf];
  }
  const unsigned before = __shfl_up_sync(full_mask, found.leaf, 1u);
  unsigned left = __ballot_sync(full_mask, wanted && (lane == 0 || before != found.leaf));
  if (__popc(left) > few_leaves) {
    if (wanted) search_leaf(key, count, found);
    return found;
  }
  for (; left != 0; left &= left - 1) {
    const int source = __ffs(static_cast<int>(left)) - 1;
    const unsigned leaf = __shfl_sync(full_mask, found.leaf, source), own = __shfl_sync(full_mask, count, source);
    const word* const keys =
        reinterpret_cast<const word*>(__shfl_sync(full_mask, reinterpret_cast<word>(found.keys), source));
    const word entry = lane < own ? keys[lane] : no_key;
    unsigned below = 0;  // entries below the key
    for (unsigned step = 32; step != 0; step >>= 1) {
      const word other = __shfl_sync(full_mask, entry, static_cast<int>((below + step - 1) & 31u));
      if (below + step <= 32 && other < key) below += step;
    }
    const bool same = __shfl_sync(full_mask, entry, static_cast<int>(below & 31u)) == key;
    if (wanted && found.leaf == leaf) {
      found.slot = below;
      found.there = same && below < own;
    }
  }
  return found;
}

// Says what an update does, and notes it. `last`: no later update of the batch names the same key.
__device__ __forceinline__ word note_update(const packed_store& store, const packed_batch& batch, unsigned t,
                                            word input, const found_slot& found, bool last, bool has_weight,
                                            double weight) {
  unsigned char kind = update_nothing;
  if (last && (input & delete_bit)) {
    kind = found.there ? update_delete : update_nothing;
  } else if (last && !found.there) {
    kind = update_insert;
  } else if (last && store.weighted && has_weight && *weight_of(found.keys + found.slot) != weight) {
    kind = update_weight;
    atomicAdd(&batch.info->changed, 1u);
  }
  batch.keys[t] = input & ~delete_bit;
  if (store.weighted) batch.weights[t] = weight;
  batch.leaves[t] = found.leaf;
  batch.kinds[t] = static_cast<unsigned char>(kind | found.slot << 2);
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

// One past the last update of the leaf that the update t is of: doubling steps, then a binary search.
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

// The updates [t, end) of a leaf: whether they do something, and what that comes to.
__device__ __forceinline__ bool plan_leaf(const packed_store& store, const packed_batch& batch, unsigned leaf,
                                          unsigned t, unsigned end, unsigned epoch) {
  const unsigned page = leaf / page_leaves;
  const word effects = effects_before(batch, end) - effects_before(batch, t);
  if (effects == 0 && !store.weighted) return false;
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

// Plans the leaves of 32 updates: one warp, which adds to the list of tasks once. The first update of each leaf counts
// for all of them.
__device__ __forceinline__ void plan_leaves(const packed_store& store, const packed_batch& batch, unsigned n,
                                            unsigned first, unsigned epoch) {
  const unsigned lane = static_cast<unsigned>(lane_id()), t = first + lane;
  const unsigned leaf = t < n ? batch.leaves[t] : 0;
  unsigned before = __shfl_up_sync(full_mask, leaf, 1u);
  if (lane == 0 && t != 0) before = batch.leaves[t - 1];
  const bool begins = t < n && (t == 0 || before != leaf);
  const unsigned later = __ballot_sync(full_mask, begins) & ~((2u << lane) - 1);
  leaf_task task{leaf, t, 0, 0};
  bool wanted = false;
  if (begins) {
    task.end = later != 0 ? first + static_cast<unsigned>(__ffs(static_cast<int>(later))) - 1
                          : end_of_run(batch, n, min(first + 31, n - 1), leaf);
    wanted = plan_leaf(store, batch, leaf, t, task.end, epoch);
  }
  const unsigned votes = __ballot_sync(full_mask, wanted);
  if (votes == 0) return;
  unsigned place = 0;
  if (lane == 0) place = atomicAdd(&batch.info->num_leaves, static_cast<unsigned>(__popc(votes)));
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

// Tells the host of a page that needs fresh pages: one warp, a lane per word of the record. The first page of a group
// that is out of bounds says what the group comes to; without such a page, every page stays alone.
__device__ __forceinline__ void flag_page(const packed_store& store, const packed_batch& batch, unsigned page) {
  const unsigned lane = static_cast<unsigned>(lane_id()), position = store.positions[page];
  const unsigned pages = static_cast<unsigned>(store.num_pages);
  const page_group group(position, pages);
  const bool in_group = lane > 0 && group.begin + lane - 1 < group.end;
  unsigned own = position;
  if (lane > 0) own = in_group ? store.totals[store.pages[group.begin + lane - 1]] : 0;
  const unsigned outside = __ballot_sync(full_mask, in_group && page_is_outside(store, own));
  const unsigned total = warp_sum(lane > 0 ? own : 0u);
  unsigned index = 0;
  if (lane == 0) {
    index = atomicAdd(&batch.info->num_flagged, 1u);
    const bool first =
        outside != 0 && static_cast<unsigned>(__ffs(static_cast<int>(outside))) == position - group.begin + 2;
    if (outside == 0 || first) {
      atomicAdd(&batch.info->num_fresh, first ? fresh_pages_for(total) : 1u);
      atomicAdd(&batch.info->num_replaced, first ? group.end - group.begin : 1u);
    }
    const bool too_few = total < lower_slots(page_level) && group.end - group.begin < pages;
    if (first && too_few) atomicExch(&batch.info->needs_host, 1u);
  }
  index = __shfl_sync(full_mask, index, 0);
  if (lane < record_words) batch.flagged[static_cast<word>(index) * record_words + lane] = own;
}

// Looks at a suspect: one warp.
__device__ __forceinline__ void plan_page(const packed_store& store, const packed_batch& batch, unsigned page) {
  const unsigned lane = static_cast<unsigned>(lane_id()), total = store.totals[page];
  const bool only_page = store.num_pages == 1;
  const unsigned first = page * page_leaves + 4 * lane;
  if (page_is_outside(store, total) || store.held[page]) {
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
