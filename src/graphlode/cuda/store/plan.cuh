// store/plan.cuh - the effect of a sorted and located batch on leaves and pages.
//
// Counts after the batch are exact, because updates without effect are known. A leaf whose count leaves its bounds
// makes its page a suspect. A warp then reads the 128 counts of the page and chooses, for every such leaf, the smallest
// window whose density is within the bounds of its level. Windows are aligned, so of two overlapping windows one
// contains the other, and only the larger one is written. A page that is out of bounds as a whole, or held by an
// immutable version, is flagged: the host gives it fresh pages.
#pragma once
#include "store/store.cuh"
#include "warp.cuh"

// Where a key is or would be. Each memory access waits for the previous one, so independent loads are issued together:
// the address of the page with its separators, the count of the leaf with its first keys.
struct found_slot {
  unsigned leaf = 0, count = 0, slot = 0;
  word* keys = nullptr;  // of the leaf
  bool there = false;

  __device__ __forceinline__ found_slot() = default;
  __device__ __forceinline__ found_slot(const packed_store& store, word key) {
    const found_page found(store, key);
    const stored_page page(store, found.page);
    const unsigned within = found.leaf_within(page, key);
    leaf = found.page * page_leaves + within;
    keys = page.keys + within * leaf_slots;
    count = page.counts()[within];
    search_leaf(key);
  }

 private:
  // First eight of 32 slots, then two of eight, then these two: three loads at a time.
  __device__ __forceinline__ void search_leaf(word key) {
    static_assert(leaf_slots == 32, "these are the steps");
    // No branches: a load that depends on the count would wait for it.
    const auto below = [&](unsigned at, word other) { return static_cast<unsigned>((at < count) & (other < key)); };
    const auto same = [&](unsigned at, word other) { return (at < count) & (other == key); };
    const word ends[3] = {keys[7], keys[15], keys[23]};  // undefined for free slots
    const unsigned eight = 8 * (below(7, ends[0]) + below(15, ends[1]) + below(23, ends[2]));
    const word* const some = keys + eight;
    const word middles[3] = {some[1], some[3], some[5]};
    const unsigned two =
        eight + 2 * (below(eight + 1, middles[0]) + below(eight + 3, middles[1]) + below(eight + 5, middles[2]));
    const word first = keys[two], second = keys[two + 1];
    slot = two + below(two, first) + below(two + 1, second);
    there = same(two, first) | same(two + 1, second);
  }
};

// The effects of a tile's updates fit half a word: inserts in its low half, deletes in its high half.
using tile_effect = unsigned;
__device__ __forceinline__ word widened(tile_effect effects) {
  return (effects & 0xffffu) | static_cast<word>(effects >> 16) << 32;
}

// Determines and records the effect of an update. `last`: no later update of the batch has the same key.
__device__ __forceinline__ tile_effect note_update(const packed_store& store, const packed_batch& batch, unsigned t,
                                                   word input, const found_slot& found, bool last, bool has_weight,
                                                   double weight) {
  unsigned char kind = update_nothing;
  if (last && (input & delete_bit)) {
    kind = found.there ? update_delete : update_nothing;
  } else if (last && !found.there) {
    kind = update_insert;
  } else if (last && store.weighted && has_weight && other_weight(*weight_of(found.keys + found.slot), weight)) {
    kind = update_weight;
    atomicAdd(&batch.info->changed, 1u);
  }
  batch.keys[t] = input & ~delete_bit;
  if (store.weighted) batch.weights[t] = weight;
  batch.leaves[t] = found.leaf;
  batch.kinds[t] = static_cast<unsigned char>(kind | found.slot << 2);
  return kind == update_insert ? 1u : kind == update_delete ? 1u << 16 : 0u;
}

// The combined effects of the updates before t.
__device__ __forceinline__ word effects_before(const packed_batch& batch, unsigned t) {
  return t == 0 ? 0ull : batch.effects[t - 1] + batch.tile_effects[(t - 1) / effect_tile];
}
// The change in the number of entries from such effects.
__device__ __forceinline__ long long growth(word effects) {
  return static_cast<long long>(effects & 0xffffffffu) - static_cast<long long>(effects >> 32);
}

// One past the last update in the leaf of update t: doubling steps, then a binary search.
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

// The first update in the leaf of update t, not before `lowest`.
__device__ __forceinline__ unsigned begin_of_run(const packed_batch& batch, unsigned lowest, unsigned t,
                                                 unsigned leaf) {
  unsigned high = t, step = 1;  // all of [high, t] are in the leaf
  while (high >= lowest + step && batch.leaves[high - step] == leaf) {
    high -= step;
    step <<= 1;
  }
  unsigned low = high >= lowest + step ? high - step + 1 : lowest;
  while (low < high) {
    const unsigned middle = low + (high - low) / 2;
    if (batch.leaves[middle] == leaf) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return high;
}

// The updates of a tile during planning, in shared memory. Each word has the leaf in its lower half and, in its upper
// half, the effects of the tile up to this update.
struct noted_updates {
  const word* notes;
  unsigned size;

  static __device__ __forceinline__ word note(unsigned leaf, tile_effect effects) {
    return static_cast<word>(effects) << 32 | leaf;
  }
  __device__ __forceinline__ unsigned leaf(unsigned i) const { return static_cast<unsigned>(notes[i]); }
  __device__ __forceinline__ bool begins(unsigned i) const { return i < size && (i == 0 || leaf(i - 1) != leaf(i)); }
  // The effects of the updates [begin, end).
  __device__ __forceinline__ word effects(unsigned begin, unsigned end) const {
    const auto up_to = [&](unsigned i) { return i == 0 ? 0u : static_cast<tile_effect>(notes[i - 1] >> 32); };
    return widened(up_to(end)) - widened(up_to(begin));
  }
  __device__ __forceinline__ unsigned end_of_run(unsigned i) const {
    const unsigned own = leaf(i);
    unsigned step = 1, end = i + 1;
    while (end + step <= size && leaf(end + step - 1) == own) {
      end += step;
      step <<= 1;
    }
    const auto is_same = [own](word note) { return static_cast<unsigned>(note) == own; };
    return search_by_quarters(notes, end, min(end + step - 1, size), is_same);
  }
};

// The updates of one leaf as a task, if they begin with update i of a tile and have an effect. Lanes without a task
// still know the leaf of their update.
struct noted_task {
  leaf_task task{0, 0, 0, 0};  // numbered within the tile
  word effects = 0;
  bool wanted = false;

  __device__ __forceinline__ noted_task(const noted_updates& updates, unsigned i, bool weighted) {
    if (i < updates.size) task.leaf = updates.leaf(i);
    if (!updates.begins(i)) return;
    task.begin = i;
    task.end = updates.end_of_run(i);
    effects = updates.effects(task.begin, task.end);
    wanted = effects != 0 || weighted;
  }
};

// Adds the `effects` of the updates of a leaf to the counts. One lane per task with known leaf, begin, end and old
// count. Called by all lanes of a warp. Adjacent lanes usually have leaves of the same page; the first of them adds for
// all.
__device__ __forceinline__ void plan_leaves(const packed_store& store, const packed_batch& batch, leaf_task& task,
                                            word effects, bool wanted, unsigned epoch) {
  const unsigned lane = static_cast<unsigned>(lane_id()), page = task.leaf / page_leaves;
  const int more = wanted ? static_cast<int>(growth(effects)) : 0;
  const unsigned before_page = __shfl_up_sync(full_mask, page, 1u);
  const unsigned firsts = __ballot_sync(full_mask, lane == 0 || page != before_page);
  const unsigned later = firsts & ~((2u << lane) - 1);
  const int first = 31 - __clz(static_cast<int>(firsts & ((2u << lane) - 1)));
  const int last = later != 0 ? __ffs(static_cast<int>(later)) - 2 : 31;
  const int summed = warp_inclusive_scan(more);
  const int up_to_last = __shfl_sync(full_mask, summed, last), up_to_first = __shfl_sync(full_mask, summed, first);
  const bool any_wanted = (__ballot_sync(full_mask, wanted) >> first & ((2u << (last - first)) - 1)) != 0;
  const bool is_held = wanted && store.held[page];  // loaded together with the total
  unsigned total = 0;
  if (static_cast<int>(lane) == first && any_wanted) {
    const auto added = static_cast<unsigned>(up_to_last - up_to_first + more);
    total = atomicAdd(store.totals + page, added) + added;
  }
  total = __shfl_sync(full_mask, total, first);
  if (!wanted) return;
  const int count = static_cast<int>(task.counts) + more;
  const unsigned after = min(static_cast<unsigned>(count), 65535u);
  task.counts |= after << 16;
  stored_page(store, page).next_counts()[task.leaf % page_leaves] = static_cast<unsigned short>(after);
  // The last warp to add sees the page's final total, so no page that is out of bounds is missed.
  const unsigned entries = static_cast<unsigned>(count);
  const bool low = store.num_pages > 1 && (entries < lower_slots(0) || total < lower_slots(page_level));
  const bool high = entries > leaf_slots || total > upper_slots(page_level);
  if ((low || high || is_held) && atomicExch(store.marks + page, epoch) != epoch) {
    batch.suspects[atomicAdd(&batch.info->num_suspects, 1u)] = page;
  }
}

// A place in a list for each lane with `wanted`, by one atomic addition to its length. Called by one warp.
__device__ __forceinline__ unsigned place_in_list(unsigned* length, bool wanted) {
  const unsigned votes = __ballot_sync(full_mask, wanted);
  unsigned place = 0;
  if (lane_id() == 0 && votes != 0) place = atomicAdd(length, static_cast<unsigned>(__popc(votes)));
  return __shfl_sync(full_mask, place, 0) + static_cast<unsigned>(votes_below(votes));
}

// The level of the window with which each of the lane's four leaves is rewritten, or 0.
__device__ __forceinline__ void choose_windows(const unsigned (&counts)[4], bool only_page, unsigned (&levels)[4]) {
  const unsigned lane = static_cast<unsigned>(lane_id());
  unsigned own[4];  // for leaves out of bounds: the smallest window that is within bounds
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

// Whether the groups before and behind a group exist and have too few entries to stay alone. Called by one warp; each
// half reads one group.
struct neighbors_too_few {
  bool before, behind;
};
__device__ __forceinline__ neighbors_too_few look_at_neighbors(const packed_store& store, page_group group) {
  const unsigned pages = static_cast<unsigned>(store.num_pages), lane = static_cast<unsigned>(lane_id());
  const bool is_before = lane < 16;
  page_group other = group;
  if (is_before && group.begin > 0) other = page_group(group.begin - 1, pages);
  if (!is_before && group.end < pages) other = page_group(group.end, pages);
  const bool is_there = other.begin != group.begin;
  const unsigned position = other.begin + lane % 16;
  unsigned own = is_there && position < other.end ? store.totals[store.pages[position]] : 0;
  for (int step = 8; step > 0; step /= 2) own += __shfl_xor_sync(full_mask, own, step);
  const unsigned too_few = __ballot_sync(full_mask, is_there && own < lower_slots(page_level));
  return {(too_few & 0xffffu) != 0, (too_few >> 16) != 0};
}

// Reports a page that needs fresh pages to the host. One warp, one lane per word of the record. The first page of a
// group that is out of bounds reports for the group; if there is none, every page stays alone. Of joined groups, the
// first one with too few entries reports.
__device__ __forceinline__ void flag_page(const packed_store& store, const packed_batch& batch, unsigned page) {
  const unsigned lane = static_cast<unsigned>(lane_id()), position = store.positions[page];
  const unsigned pages = static_cast<unsigned>(store.num_pages);
  const page_group group(position, pages);
  const bool in_group = lane > 0 && group.begin + lane - 1 < group.end;
  unsigned own = position;
  if (lane > 0) own = in_group ? store.totals[store.pages[group.begin + lane - 1]] : 0;
  const unsigned outside = __ballot_sync(full_mask, in_group && page_is_outside(store, own));
  const unsigned total = warp_sum(lane > 0 ? own : 0u);
  const neighbors_too_few others = look_at_neighbors(store, group);
  const bool too_few = total < lower_slots(page_level) && num_groups(pages) > 1;
  unsigned index = 0;
  if (lane == 0) {
    index = atomicAdd(&batch.info->num_flagged, 1u);
    const bool first =
        outside != 0 && static_cast<unsigned>(__ffs(static_cast<int>(outside))) == position - group.begin + 2;
    bool is_joined = too_few && others.before;  // inside a run: an earlier group reports
    if (!is_joined && (too_few || others.before || others.behind) && (first || outside == 0)) {
      const joined_groups joined(store, group.begin / group_pages);
      is_joined = !joined.is_one();
      if (is_joined && first && joined.first_with_too_few() * group_pages == group.begin) {
        atomicAdd(&batch.info->num_fresh, fresh_pages_for(joined.total));
        atomicAdd(&batch.info->num_replaced, joined.length());
        atomicExch(&batch.info->any_joined, 1u);
      }
    }
    if (!is_joined && (outside == 0 || first)) {
      atomicAdd(&batch.info->num_fresh, first ? fresh_pages_for(total) : 1u);
      atomicAdd(&batch.info->num_replaced, first ? group.length() : 1u);
    }
  }
  index = __shfl_sync(full_mask, index, 0);
  if (lane < record_words) batch.flagged[static_cast<word>(index) * record_words + lane] = own;
}

// Plans a suspect page. Called by one warp.
__device__ __forceinline__ void plan_page(const packed_store& store, const packed_batch& batch, unsigned page) {
  const unsigned first = 4 * static_cast<unsigned>(lane_id());
  const stored_page stored(store, page);
  const bool only_page = store.num_pages == 1;
  // Issue all loads together.
  const unsigned total = store.totals[page];
  const bool is_held = store.held[page];
  unsigned counts[4], levels[4];
#pragma unroll
  for (unsigned i = 0; i < 4; ++i) counts[i] = stored.next_counts()[first + i];
  if (page_is_outside(store, total) || is_held) {
    for (unsigned i = 0; i < 4; ++i) stored.levels()[first + i] = page_level + 1;
    flag_page(store, batch, page);
    return;
  }
  choose_windows(counts, only_page, levels);
  for (unsigned i = 0; i < 4; ++i) {
    const unsigned leaf = first + i, level = levels[i];
    stored.levels()[leaf] = static_cast<unsigned char>(level);
    if (level == 0 || leaf & ((1u << level) - 1)) continue;  // the first leaf of a window represents it
    const word window = static_cast<word>(level) << 32 | (page * page_leaves + leaf);
    if (level <= narrow_level) {
      batch.narrow[atomicAdd(&batch.info->num_narrow, 1u)] = window;
    } else {
      batch.wide[atomicAdd(&batch.info->num_wide, 1u)] = window;
    }
    atomicAdd(&batch.info->window_leaves, 1u << level);
  }
}
