// store/merge_page.cuh - the page that a block merges with its updates, in shared memory and without gaps.
//
// Nothing moves to make room for new entries. They are stored behind the others, and bits mark which of the written
// entries are new. The bits determine where each entry is.
#pragma once
#include "store/merge.cuh"

constexpr unsigned merge_threads = 256, merge_warps = merge_threads / 32;
constexpr unsigned most_entries = upper_slots(page_level);  // of a page
constexpr unsigned most_written = most_entries + task_updates;

// The key of a sorted update, with its delete bit.
struct sorted_updates {
  const word* packed;
  packed_form form;
  __device__ __forceinline__ word operator[](unsigned t) const { return form.unpack(packed[t]); }
  __device__ __forceinline__ word key(unsigned t) const { return (*this)[t] & ~delete_bit; }
};

// The state of a block that merges a page, in shared memory.
struct page_in_merge {
  word keys[most_entries + 1 + task_updates + 1];  // entries and one behind them, then updates, later the new keys
  marked_row goes[(most_entries + 31) / 32];       // marks of the removed entries
  marked_row comes[(most_written + 31) / 32];      // marks of the new ones, among the entries that the task writes
  unsigned short starts[page_leaves];              // of the leaves, if entries have weights
  unsigned sums[32];
  unsigned ticket, changed;
  unsigned written;  // number of entries that the task writes
  unsigned first;    // the place of the first of them in its page
  // The fresh pages that the entries go to.
  static constexpr unsigned most_near = 4;
  static_assert((filled_slots + most_written) / filled_slots < most_near, "all of them");
  word* near[most_near];

  static constexpr unsigned first_update = most_entries + 1;
  __device__ __forceinline__ word* updates() { return keys + first_update; }
  __device__ __forceinline__ const word* updates() const { return keys + first_update; }
  __device__ __forceinline__ void clear() {
    constexpr unsigned num_goes = sizeof(goes) / sizeof(*goes), num_comes = sizeof(comes) / sizeof(*comes);
    static_assert(num_goes + num_comes <= merge_threads, "a thread each");
    const unsigned thread = threadIdx.x;
    if (thread < num_goes) goes[thread] = {0, 0};
    if (thread - num_goes < num_comes) comes[thread - num_goes] = {0, 0};
    if (thread == 0) changed = 0;
  }
};

// The counts of four leaves. Each lane of a warp holds four of a page.
struct alignas(8) four_counts {
  unsigned short of[4];
};
__device__ __forceinline__ four_counts load_counts(stored_page page, const sorted_updates& updates,
                                                   const merge_task& task) {
  const unsigned first = 4 * static_cast<unsigned>(lane_id());
  four_counts counts = *reinterpret_cast<const four_counts*>(page.counts() + first);
  if (task.bounds == 0) return counts;
  // A task with a part of a page skips leaves that are entirely below or above it.
  const word* const separators = page.separators() + first;
  const word lowest = task.bounds & bounded_below ? updates.key(task.begin) : 0;
  const word highest = task.bounds & bounded_above ? updates.key(task.end) : no_key;
#pragma unroll
  for (unsigned i = 0; i < 4; ++i) {
    const word end = first + i + 1 < page_leaves ? separators[i + 1] : no_key;
    if (end <= lowest || separators[i] >= highest) counts.of[i] = 0;
  }
  return counts;
}

// Starts loading the entries of a page into shared memory, without gaps, and returns their number. Every warp counts
// for itself, so no warp waits.
__device__ __forceinline__ unsigned load_page(const packed_store& store, const sorted_updates& updates,
                                              const merge_task& task, page_in_merge& own) {
  const unsigned lane = static_cast<unsigned>(lane_id()), warp = static_cast<unsigned>(warp_id());
  const stored_page page(store, task.page);
  const word* const from = page.keys + threadIdx.x;
  const four_counts counts = load_counts(page, updates, task);
  const unsigned all = counts.of[0] + counts.of[1] + counts.of[2] + counts.of[3];
  const unsigned behind = warp_inclusive_scan(all);
  // The leaves of a warp are merge_warps apart, so they have the same position among the four leaves of a lane, and
  // belong to every other lane.
  static_assert(merge_warps == 8, "");
  unsigned start = behind - all, count = counts.of[0];
#pragma unroll
  for (unsigned i = 1; i < 4; ++i) {
    if (warp % 4 < i) continue;
    start += counts.of[i - 1];
    count = counts.of[i];
  }
  unsigned leaf = count << 16 | start;
  const unsigned of_next = __shfl_down_sync(full_mask, leaf, 1u);
  if (warp >= 4) leaf = of_next;
#pragma unroll
  for (unsigned i = 0; i < page_leaves / merge_warps; ++i) {
    const unsigned its = __shfl_sync(full_mask, leaf, static_cast<int>(2 * i));
    const bool has_slot = its >= (lane + 1) << 16;  // the count is in the upper half
    copy_to_shared(own.keys + (its & 0xffffu) + lane, from + i * merge_threads, has_slot);
  }
  if (store.weighted && lane % merge_warps == warp) {
    unsigned before = behind - all;
    for (unsigned i = 0; i < 4; ++i) {
      own.starts[4 * lane + i] = static_cast<unsigned short>(before);
      before += counts.of[i];
    }
  }
  return __shfl_sync(full_mask, behind, 31);
}

// Searches assume at least this many entries and one behind them, so that their steps are constants.
constexpr unsigned least_searched = 2048;
static_assert(least_searched <= most_entries && most_entries < 2 * least_searched, "");
__device__ __forceinline__ void fill_up(page_in_merge& own, unsigned count) {
  const unsigned end = max(count + 1, least_searched);
#pragma unroll 1
  for (unsigned entry = count + threadIdx.x; entry < end; entry += merge_threads) own.keys[entry] = no_key;
}
// The first entry whose key is not below `key`.
__device__ __forceinline__ unsigned entry_of(const page_in_merge& own, unsigned count, word key) {
  // In bytes, which saves one multiplication per step.
  const auto key_at = [&own](unsigned place) {
    return *reinterpret_cast<const word*>(reinterpret_cast<const char*>(own.keys) + place);
  };
  constexpr unsigned size = sizeof(word);
  // After the first step, each half has as many candidates as the remaining steps can distinguish.
  const unsigned further = max(count, least_searched) - least_searched + 1;
  unsigned place = key_at((least_searched - 1) * size) < key ? further * size : 0;
#pragma unroll
  for (unsigned step = least_searched / 2; step != 0; step /= 2) {
    if (key_at(place + (step - 1) * size) < key) place += step * size;
  }
  return place / size;
}

// The weight of an entry of the page, in a weighted shard.
__device__ __forceinline__ double weight_of_entry(const packed_store& store, unsigned page, const page_in_merge& own,
                                                  unsigned entry) {
  const unsigned leaf = first_above(own.starts, 1u, page_leaves, static_cast<unsigned short>(entry)) - 1;
  return *weight_of(stored_page(store, page).keys + leaf * leaf_slots + entry - own.starts[leaf]);
}

// Closes the gaps of removed entries. Entries only move to the left. All threads read entries before any thread
// overwrites them.
__device__ __forceinline__ void close_gaps(page_in_merge& own, unsigned count) {
  constexpr unsigned at_a_time = 7;
  if (warp_id() == 0) count_marks(own.goes);
  __syncthreads();
  for (unsigned first = threadIdx.x; first - threadIdx.x < count; first += at_a_time * merge_threads) {
    word keys[at_a_time];
#pragma unroll
    for (unsigned i = 0; i < at_a_time; ++i) {
      const unsigned entry = first + i * merge_threads;
      if (entry < count) keys[i] = own.keys[entry];
    }
    __syncthreads();
#pragma unroll
    for (unsigned i = 0; i < at_a_time; ++i) {
      const unsigned entry = first + i * merge_threads;
      if (entry >= count) break;
      const marked_row row = own.goes[entry / 32];
      if (row.bits >> lane_id() & 1u) continue;
      own.keys[entry - row.before - static_cast<unsigned>(votes_below(row.bits))] = keys[i];
    }
  }
}
// The index, before the gaps are closed, of the entry that is at `place` afterwards.
__device__ __forceinline__ unsigned entry_before_gaps(const page_in_merge& own, unsigned place, unsigned count) {
  unsigned low = place, high = count;  // the last entry with at most `place` remaining entries before it
  while (high - low > 1) {
    const unsigned middle = low + (high - low) / 2;
    const marked_row row = own.goes[middle / 32];
    const unsigned gone = row.before + static_cast<unsigned>(__popc(row.bits & ((1u << middle % 32) - 1)));
    (middle - gone <= place ? low : high) = middle;
  }
  return low;
}
