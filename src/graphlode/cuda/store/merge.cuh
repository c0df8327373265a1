// store/merge.cuh - where the entries of a full merge go: one page after the other, all filled alike.
//
// The total is known only when all entries have been written, so their places do not depend on it: the entry of rank r
// goes to page r / filled_slots. The end is corrected afterwards: the last two pages share their entries, or become
// one.
#pragma once
#include "store/input.cuh"
#include "store/plan.cuh"

// The updates [begin, end) of a page and the entries that belong to them. These are all entries of the page or, for a
// page with many updates, the entries from the key of the first update up to the key of the update after the last.
struct alignas(16) merge_task {
  unsigned page, begin, end, bounds;
};
constexpr unsigned bounded_below = 1, bounded_above = 2;
constexpr unsigned no_page = 0xffffffffu;  // a task that has nothing to do

// The maximum number of updates of a task. Each page has one task, plus one per task_updates updates. They share shared
// memory with the page, in each of the six blocks of a multiprocessor.
constexpr unsigned task_updates = 768;

// The value that a task publishes: entries written by it alone or by all tasks so far, with a mark above.
constexpr word of_task = 1ull << 62, of_all_so_far = 2ull << 62, published_entries = of_task - 1;

// The place of an entry, by its rank within its page.
struct filled_place {
  static constexpr unsigned quota = filled_slots / page_leaves, longer = filled_slots % page_leaves;
  unsigned leaf, slot;
  __device__ __forceinline__ explicit filled_place(unsigned rank) {
    constexpr unsigned turn = longer * (quota + 1);
    leaf = rank < turn ? rank / (quota + 1) : longer + (rank - turn) / quota;
    slot = rank < turn ? rank % (quota + 1) : (rank - turn) % quota;
  }
  // The rank of the first entry of a leaf.
  static __device__ __forceinline__ unsigned start_of(unsigned leaf) { return leaf * quota + min(leaf, longer); }
};

// Like filled_place, for a page of `entries` entries.
struct spread_place {
  unsigned leaf, slot;
  __device__ __forceinline__ spread_place(unsigned rank, unsigned entries) {
    const unsigned quota = entries / page_leaves, longer = entries % page_leaves, turn = longer * (quota + 1);
    leaf = rank < turn ? rank / (quota + 1) : longer + (rank - turn) / quota;
    slot = rank - leaf * quota - min(leaf, longer);
  }
};

// 32 marks, and the number of marks before them.
struct alignas(8) marked_row {
  unsigned bits, before;
};
__device__ __forceinline__ void mark(marked_row* rows, unsigned place) {
  atomicOr(&rows[place / 32].bits, 1u << place % 32);
}
// Counts the marks before each row. Called by one warp.
template <unsigned num_rows>
__device__ __forceinline__ void count_marks(marked_row (&rows)[num_rows]) {
  constexpr unsigned own_rows = (num_rows + 31) / 32;
  const unsigned first = static_cast<unsigned>(lane_id()) * own_rows;
  unsigned counts[own_rows], sum = 0;
#pragma unroll
  for (unsigned i = 0; i < own_rows; ++i) {
    counts[i] = first + i < num_rows ? static_cast<unsigned>(__popc(rows[first + i].bits)) : 0u;
    sum += counts[i];
  }
  unsigned before = warp_inclusive_scan(sum) - sum;
#pragma unroll
  for (unsigned i = 0; i < own_rows; ++i) {
    if (first + i < num_rows) rows[first + i].before = before;
    before += counts[i];
  }
}

// The pages of a merge that writes `entries` entries. store/merge.py computes the same.
struct merged_pages {
  word filled;  // pages that are filled alike and stay so; the rest is spread over the pages behind them
  word num_pages;
  word rest;  // entries
  __device__ __forceinline__ explicit merged_pages(word entries) {
    const word touched = entries == 0 ? 1 : (entries + filled_slots - 1) / filled_slots;
    filled = touched < 2 ? 0 : touched - 2;
    rest = entries - filled * filled_slots;
    num_pages = filled + (rest <= upper_slots(page_level) ? 1 : 2);
  }
  // The number of entries of a page behind the filled ones.
  __device__ __forceinline__ unsigned rest_of(word page) const {
    return even_spread(rest, num_pages - filled).count_of(page);
  }
};

// The first of `rows` rows that begins at a key or behind it.
__device__ __forceinline__ unsigned first_row_of(unsigned rows, word key) {
  return key == no_key ? rows : static_cast<unsigned>(min(static_cast<word>(rows), (key + 0xffffffffull) >> 32));
}

// The four leaves of a lane, from `leaf` on, the first row that begins in or behind each of them, and the first one
// behind all four.
struct four_leaves {
  unsigned leaf;
  unsigned rows[4], end;
  __device__ __forceinline__ unsigned leaf_of(unsigned row) const {
    return leaf + (row >= rows[1]) + (row >= rows[2]) + (row >= rows[3]);
  }
};

// Leaves with very many rows, which occur where many consecutive vertices have no edges. Their warp leaves them to the
// whole block, in shared memory, if there is room.
struct waiting_leaves {
  static constexpr unsigned most = 64, many_rows = 1024;
  unsigned count;
  four_leaves leaves[most];

  __device__ __forceinline__ bool take(const four_leaves& own) {
    const unsigned place = own.end > own.rows[0] + many_rows ? atomicAdd(&count, 1u) : most;
    if (place < most) leaves[place] = own;
    return place < most;
  }
  // Called by all threads of the block, after all warps have added their leaves.
  __device__ __forceinline__ void index(const packed_store& store) const {
    for (unsigned i = 0; i < min(count, most); ++i) {
      const four_leaves& its = leaves[i];
      for (unsigned row = its.rows[0] + threadIdx.x; row < its.end; row += blockDim.x) {
        store.row_leaves[row] = its.leaf_of(row);
      }
    }
  }
};

// Indexes the rows that begin in the leaves of all lanes of a warp. If a lane has many rows, the warp indexes them
// together.
__device__ __forceinline__ void index_leaves(const packed_store& store, const four_leaves& own,
                                             waiting_leaves& waiting) {
  constexpr unsigned few = 16;
  unsigned* const leaves = store.row_leaves;
  const bool waits = waiting.take(own), has_many = !waits && own.end > own.rows[0] + few;
  if (!has_many && !waits) {
#pragma unroll 1
    for (unsigned row = own.rows[0]; row < own.end; ++row) leaves[row] = own.leaf_of(row);
  }
  for (unsigned left = __ballot_sync(full_mask, has_many); left != 0; left &= left - 1) {
    const int source = __ffs(static_cast<int>(left)) - 1;
    four_leaves its{__shfl_sync(full_mask, own.leaf, source), {}, __shfl_sync(full_mask, own.end, source)};
#pragma unroll
    for (unsigned i = 0; i < 4; ++i) its.rows[i] = __shfl_sync(full_mask, own.rows[i], source);
    for (unsigned row = its.rows[0] + static_cast<unsigned>(lane_id()); row < its.end; row += 32) {
      leaves[row] = its.leaf_of(row);
    }
  }
}
