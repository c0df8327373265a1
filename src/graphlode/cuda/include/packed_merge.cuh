// packed_merge.cuh - where the entries of a full merge go: one page after the other, each filled alike.
//
// How many entries there will be is known only when all have been written, so they do not wait for it: the entry of
// rank r goes to the page r / filled_slots. What the last page lacks is made up for at the end: the last two pages
// share their entries, or become one.
#pragma once
#include "packed_input.cuh"
#include "packed_plan.cuh"

// The updates [begin, end) of a page and the entries that belong to them: all of the page's, or, of a page with many
// updates, those from the first update's key on, up to the key of the update behind the last.
struct alignas(16) merge_task {
  unsigned page, begin, end, bounds;
};
constexpr unsigned bounded_below = 1, bounded_above = 2;

// Pages come to one task each, and there is one more for so many updates.
constexpr unsigned task_updates = 8192;

// What the tasks before one have written, or one alone, with a mark above it.
constexpr word of_task = 1ull << 62, of_all_so_far = 2ull << 62, published_entries = of_task - 1;

// The entry of a rank, counted from the first of its page.
struct filled_place {
  unsigned leaf, slot;
  __device__ __forceinline__ explicit filled_place(unsigned rank) {
    constexpr unsigned quota = filled_slots / page_leaves, longer = filled_slots % page_leaves;
    constexpr unsigned turn = longer * (quota + 1);
    leaf = rank < turn ? rank / (quota + 1) : longer + (rank - turn) / quota;
    slot = rank < turn ? rank % (quota + 1) : (rank - turn) % quota;
  }
};

// The pages of so many entries, as packed_merge.py counts them, too: those that are filled alike and stay so, and how
// many there are with what the last ones become.
struct merged_pages {
  word filled;  // and the entries behind them are spread over
  word num_pages;
  word rest;  // entries
  __device__ __forceinline__ explicit merged_pages(word entries) {
    const word touched = entries == 0 ? 1 : (entries + filled_slots - 1) / filled_slots;
    filled = touched < 2 ? 0 : touched - 2;
    rest = entries - filled * filled_slots;
    num_pages = filled + (rest <= upper_slots(page_level) ? 1 : 2);
  }
};

// Sets the rows that begin in a leaf, which has the keys [separator, end): the lanes of a warp, a leaf each, together
// where a leaf has many rows, as it does where vertices have no edges. All lanes take part; `there` says which have
// one.
__device__ __forceinline__ void index_leaves(const packed_store& store, unsigned leaf, word separator, word end,
                                             bool there) {
  constexpr word few = 8;
  const word rows = store.num_rows + 1;
  const bool any = there && separator != no_key;
  const word begin = any ? min(rows, (separator + 0xffffffffull) >> 32) : 0;
  const word stop = !any ? 0 : end == no_key ? rows : min(rows, (end + 0xffffffffull) >> 32);
  const bool has_many = stop > begin + few;
  if (!has_many) {
    for (word row = begin; row < stop; ++row) store.row_leaves[row] = leaf;
  }
  for (unsigned left = __ballot_sync(full_mask, has_many); left != 0; left &= left - 1) {
    const int source = __ffs(static_cast<int>(left)) - 1;
    const word first = __shfl_sync(full_mask, begin, source), last = __shfl_sync(full_mask, stop, source);
    const unsigned own = __shfl_sync(full_mask, leaf, source);
    for (word row = first + static_cast<word>(lane_id()); row < last; row += 32) store.row_leaves[row] = own;
  }
}
