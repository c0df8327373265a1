// store/store.cuh - a shard's entries as pages of leaves, and how a key is found in them.
//
// An entry is a 64-bit key, row above neighbor. A leaf has 32 slots, filled from the left and sorted: one slot per lane
// of a warp. A page has 128 leaves and the data about each leaf. Pages lie in segments that are never moved. Leaves are
// numbered page * 128 + leaf. These numbers do not follow the order of keys; the directory does. Each leaf has a
// separator, the lowest key that it may hold. Each row has the number of the leaf in which its first entry is or would
// be.
//
// Both structs consist of pointers, are filled by the host (store/pool.py, store/batch.py) and are read through a
// pointer. So a launch has few arguments, whatever the number of arrays.
#pragma once
#include "platform.cuh"

using word = unsigned long long;

constexpr unsigned leaf_slots = 32;
constexpr unsigned page_leaves = 128;
constexpr unsigned page_slots = leaf_slots * page_leaves;
constexpr unsigned segment_pages = 64;
constexpr unsigned page_level = 7;    // windows of 1, 2, .. 128 leaves have the levels 0 .. 7
constexpr unsigned narrow_level = 3;  // windows of up to 8 leaves are written by a warp, larger ones by a block
constexpr word delete_bit = 1ull << 63;
constexpr word no_key = ~0ull;

struct packed_store {
  word** segments;  // of pages (stored_page)
  // per page
  unsigned* totals;     // entries after the batch that is being planned
  unsigned* marks;      // the epoch of the last batch that examined the page as a whole
  unsigned* jobs;       // the job that spreads the page; only while pages are spread
  unsigned char* held;  // 1: an immutable version holds the page too, so it must not be written
  // the directory and the rows of one version
  unsigned* positions;    // per page
  unsigned* pages;        // per position
  word* page_separators;  // per position
  unsigned* row_leaves;   // num_rows + 1 of them
  word num_pages, num_rows, weighted;
};

// The same shard with another directory.
__device__ __forceinline__ packed_store with_directory(packed_store store, unsigned* pages, word* separators,
                                                       unsigned* positions, word num_pages) {
  store.pages = pages;
  store.page_separators = separators;
  store.positions = positions;
  store.num_pages = num_pages;
  return store;
}

// The effect of an update, after repetitions and updates without effect are identified.
constexpr unsigned char update_nothing = 0, update_insert = 1, update_delete = 2, update_weight = 3;

// Only 32-bit words. store/batch.py relies on their order.
struct packed_info {
  unsigned bad_row;  // 1: an update names a row that does not exist
  unsigned inserted, deleted, changed;
  unsigned num_leaves;  // leaves with updates
  union {
    unsigned num_suspects;  // pages that may have to be rebalanced
    unsigned num_tasks;     // tasks of a merge that have been counted
  };
  unsigned num_narrow, num_wide, num_flagged;
  unsigned window_leaves;  // leaves of all windows
  unsigned self_loops;     // updates that were dropped
  unsigned tickets;        // zero between launches
  unsigned any_crowded;    // 1: a leaf has too many updates for a single warp
  // of the groups of flagged pages: pages written, pages replaced; 1: some groups are joined
  unsigned num_fresh, num_replaced, any_joined;
};

// The updates [begin, end) of one leaf, and its number of entries before and after them.
struct alignas(16) leaf_task {
  unsigned leaf, begin, end;
  unsigned counts;  // before in the low half, after in the high half
};
__device__ __forceinline__ unsigned count_before(unsigned counts) { return counts & 0xffffu; }
__device__ __forceinline__ unsigned count_after(unsigned counts) { return counts >> 16; }

struct packed_batch {
  word* keys;  // sorted
  double* weights;
  word* effects;       // running sum within a tile of updates: inserts in the low half, deletes in the high half
  word* tile_effects;  // of all updates before the tile
  unsigned* leaves;
  unsigned char* kinds;  // low two bits: effect of the update; above: entries of its leaf with lower keys
  leaf_task* tasks;
  unsigned* suspects;  // pages
  word* narrow;        // windows: first leaf in the low half, level in the high half
  word* wide;
  unsigned* flagged;  // pages that must be written into fresh ones: record_words each
  // larger batches only: the updates after sorting (packed_form), and the sort's workspace
  word* sorted;
  unsigned* places;  // of updates with weights: their index in the batch
  unsigned* space;
  packed_info* info;
  word* reported;     // in mapped memory of the host: the words of the information, once it is complete
  unsigned* counted;  // by sorting (store/sort.cu); zero between batches
};
constexpr unsigned effect_tile = 1024;

// Reports the effects of a batch to the host: each word has the epoch in its upper half, which shows the host that it
// has arrived. The words may arrive in any order, so no word waits until another has crossed the bus.
__device__ __forceinline__ void report_to_host(const packed_batch& batch, const packed_info& info, unsigned epoch) {
  constexpr unsigned num_words = sizeof(packed_info) / sizeof(unsigned);
  const unsigned* const words = reinterpret_cast<const unsigned*>(&info);
  volatile word* const reported = batch.reported;
#pragma unroll
  for (unsigned i = 0; i < num_words; ++i) reported[i] = static_cast<word>(epoch) << 32 | words[i];
}

// For a flagged page the host receives its position and the totals of the pages in its group. Groups are formed as in
// store/groups.py: runs of group_pages pages, where the last run includes the rest of the directory.
constexpr unsigned group_pages = 8;
constexpr unsigned record_words = 2 * group_pages;
constexpr unsigned filled_slots = page_slots * 4 / 5;  // of newly written pages

__device__ __forceinline__ unsigned num_groups(unsigned pages) { return max(1u, pages / group_pages); }

// The group of a position.
struct page_group {
  unsigned begin, end;  // positions
  __device__ __forceinline__ page_group(unsigned position, unsigned pages) {
    const unsigned last = num_groups(pages) - 1, group = min(position / group_pages, last);
    begin = group * group_pages;
    end = group == last ? pages : begin + group_pages;
  }
  __device__ __forceinline__ unsigned length() const { return end - begin; }
};

__host__ __device__ __forceinline__ constexpr unsigned upper_slots(unsigned level) {
  return (leaf_slots << level) * (644 - 8 * level) / 700;
}
__host__ __device__ __forceinline__ constexpr unsigned lower_slots(unsigned level) {
  return (leaf_slots << level) * (56 + 34 * level) / 700;
}

// Whether a page with `total` entries must be rewritten.
__device__ __forceinline__ bool page_is_outside(const packed_store& store, unsigned total) {
  return total > upper_slots(page_level) || (store.num_pages > 1 && total < lower_slots(page_level));
}
// Groups that are rewritten together. A group with too few entries is joined with the next one. If all following groups
// have too few, the group before is joined too. Called by one thread. A joined group contains a flagged page, because
// pages with too few entries are flagged.
struct joined_groups {
  const packed_store& store;
  unsigned pages, groups;
  unsigned first, last;  // the groups that are joined with the given one
  word total = 0;        // the entries of all of them
  word before = 0;       // of those before the given one

  __device__ __forceinline__ joined_groups(const packed_store& store_, unsigned group)
      : store(store_),
        pages(static_cast<unsigned>(store_.num_pages)),
        groups(num_groups(pages)),
        first(group),
        last(group) {
    while (first > 0 && are_joined(first - 1)) --first;
    while (last + 1 < groups && are_joined(last)) ++last;
    for (unsigned i = first; i <= last; ++i) {
      if (i == group) before = total;
      total += entries_of(i);
    }
  }
  __device__ __forceinline__ bool is_one() const { return first == last; }
  __device__ __forceinline__ unsigned begin() const { return range_of(first).begin; }
  __device__ __forceinline__ unsigned length() const { return range_of(last).end - begin(); }
  // There is always one that has too few entries.
  __device__ __forceinline__ unsigned first_with_too_few() const {
    unsigned group = first;
    while (!has_too_few(group)) ++group;
    return group;
  }

 private:
  __device__ __forceinline__ page_group range_of(unsigned group) const { return {group * group_pages, pages}; }
  __device__ __forceinline__ word entries_of(unsigned group) const {
    const page_group range = range_of(group);
    word sum = 0;
#pragma unroll 8
    for (unsigned i = range.begin; i < range.end; ++i) sum += store.totals[store.pages[i]];
    return sum;
  }
  __device__ __forceinline__ bool has_too_few(unsigned group) const {
    return groups > 1 && entries_of(group) < lower_slots(page_level);
  }
  // Whether a group is joined with the next one.
  __device__ __forceinline__ bool are_joined(unsigned group) const {
    if (has_too_few(group)) return true;
    unsigned next = group + 1;
    while (next < groups && has_too_few(next)) ++next;
    return next == groups;
  }
};
// The number of pages for `entries` entries.
__device__ __forceinline__ unsigned fresh_pages_for(word entries) {
  if (entries <= upper_slots(page_level)) return 1;
  return static_cast<unsigned>((entries + filled_slots - 1) / filled_slots);
}

// A page in memory: its keys, the data about each leaf and, in a weighted shard, one weight per key.
struct stored_page {
  word* keys;

  // In words from the first key on.
  static constexpr unsigned separators_at = page_slots, counts_at = separators_at + page_leaves;
  static constexpr unsigned counts_words = page_leaves * sizeof(unsigned short) / sizeof(word);
  static constexpr unsigned next_counts_at = counts_at + counts_words, starts_at = next_counts_at + counts_words,
                            levels_at = starts_at + counts_words;
  static constexpr unsigned weights_at = levels_at + page_leaves / sizeof(word);
  // The size of a whole page. store/pool.py has the same numbers.
  static constexpr unsigned words = weights_at, weighted_words = weights_at + page_slots;
  static_assert(words % 16 == 0 && weighted_words % 16 == 0, "pages begin with a line of the cache");

  __device__ __forceinline__ stored_page(const packed_store& store, unsigned page)
      : keys(store.segments[page / segment_pages] +
             static_cast<word>(page % segment_pages) * (store.weighted ? weighted_words : words)) {}
  __device__ __forceinline__ explicit stored_page(word* first_key) : keys(first_key) {}

  __device__ __forceinline__ word* separators() const { return keys + separators_at; }
  __device__ __forceinline__ unsigned short* counts() const { return shorts(counts_at); }
  // After the batch that is being planned.
  __device__ __forceinline__ unsigned short* next_counts() const { return shorts(next_counts_at); }
  // The entries of the page before the leaf, and a mark; only while pages are spread.
  __device__ __forceinline__ unsigned short* starts() const { return shorts(starts_at); }
  // The level of the window with which the leaf is rewritten; only if the page has the mark of the epoch.
  __device__ __forceinline__ unsigned char* levels() const {
    return reinterpret_cast<unsigned char*>(keys + levels_at);
  }

 private:
  __device__ __forceinline__ unsigned short* shorts(unsigned at) const {
    return reinterpret_cast<unsigned short*>(keys + at);
  }
};

// A leaf by its number: its page, and its index within the page.
struct stored_leaf {
  stored_page page;
  unsigned within;
  __device__ __forceinline__ stored_leaf(const packed_store& store, unsigned leaf)
      : page(store, leaf / page_leaves), within(leaf % page_leaves) {}
  __device__ __forceinline__ stored_leaf(stored_page its_page, unsigned leaf) : page(its_page), within(leaf) {}
  __device__ __forceinline__ word* keys() const { return page.keys + within * leaf_slots; }
  __device__ __forceinline__ unsigned short& count() const { return page.counts()[within]; }
};
// The leaf at a place in key order.
__device__ __forceinline__ stored_leaf leaf_in_order(const packed_store& store, word place) {
  return {stored_page(store, store.pages[place / page_leaves]), static_cast<unsigned>(place % page_leaves)};
}
// The weight of the entry with this key, in a weighted shard.
__device__ __forceinline__ double* weight_of(word* key) {
  return reinterpret_cast<double*>(key + stored_page::weights_at);
}
// Whether two weights differ in any bit, as 0.0 and -0.0 do. The last weight written is kept.
__device__ __forceinline__ bool other_weight(double a, double b) {
  return __double_as_longlong(a) != __double_as_longlong(b);
}

// The first place in [low, high) whose value is at least x (first_not_below) or above x (first_above); otherwise
// `high`.
template <class T, class Place>
__device__ __forceinline__ Place first_not_below(const T* values, Place low, Place high, T x) {
#pragma unroll 1
  while (low < high) {
    const Place middle = low + (high - low) / 2;
    if (values[middle] < x) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}
template <class T, class Place>
__device__ __forceinline__ Place first_above(const T* values, Place low, Place high, T x) {
#pragma unroll 1
  while (low < high) {
    const Place middle = low + (high - low) / 2;
    if (values[middle] <= x) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

__device__ __forceinline__ unsigned kind_of(const packed_batch& batch, unsigned t) { return batch.kinds[t] & 3u; }
__device__ __forceinline__ unsigned slot_of(const packed_batch& batch, unsigned t) { return batch.kinds[t] >> 2; }

// Like first_not_below, by all lanes of a warp: splits into 33 parts at a time, so few loads depend on each other.
template <class T>
__device__ __forceinline__ unsigned warp_first_not_below(const T* values, unsigned low, unsigned high, T x) {
  const unsigned lane = threadIdx.x & 31u;
  while (high - low > 32) {
    const unsigned part = (high - low + 32) / 33, last = low + part * (lane + 1) - 1;
    const bool below = last < high && values[last] < x;
    low += part * static_cast<unsigned>(__popc(__ballot_sync(full_mask, below)));
    high = min(high, low + part);
  }
  const bool below = low + lane < high && values[low + lane] < x;
  return low + static_cast<unsigned>(__popc(__ballot_sync(full_mask, below)));
}

// The first place in [low, high) for which `below` is false, where all places with true come first; otherwise `high`.
// Three loads at a time overlap, so it takes half as long as a binary search.
template <class T, class Below>
__device__ __forceinline__ unsigned search_by_quarters(const T* values, unsigned low, unsigned high, Below below) {
#pragma unroll 1
  while (low < high) {
    const unsigned length = high - low;
    const unsigned first = low + length / 4, second = low + length / 2, third = low + 3 * length / 4;
    const T at_first = values[first], at_second = values[second], at_third = values[third];
    const bool first_is = below(at_first), second_is = below(at_second), third_is = below(at_third);
    high = third_is ? high : second_is ? third : first_is ? second : first;
    low = third_is ? third + 1 : second_is ? second + 1 : first_is ? first + 1 : low;
  }
  return low;
}

// The page in which a key is or would be, and its candidate leaves [low, high].
struct found_page {
  unsigned page, low, high;
  __device__ __forceinline__ found_page(const packed_store& store, word key) {
    const word row = key >> 32;
    const unsigned first = store.row_leaves[row], last = store.row_leaves[row + 1];
    page = first / page_leaves;
    low = first % page_leaves;
    high = last % page_leaves;
    if (page == last / page_leaves) return;
    const unsigned from = store.positions[page], to = store.positions[last / page_leaves];
    const auto is_not_above = [key](word separator) { return separator <= key; };
    const unsigned position = search_by_quarters(store.page_separators, from + 1, to + 1, is_not_above) - 1;
    page = store.pages[position];
    if (position != from) low = 0;
    if (position != to) high = page_leaves - 1;
  }
  // The leaf within the page.
  __device__ __forceinline__ unsigned leaf_within(stored_page stored, word key) const {
    const auto is_not_above = [key](word separator) { return separator <= key; };
    return search_by_quarters(stored.separators(), low + 1, high + 1, is_not_above) - 1;
  }
};

// The leaf in which a key is or would be.
__device__ __forceinline__ unsigned find_leaf(const packed_store& store, word key) {
  const found_page found(store, key);
  return found.page * page_leaves + found.leaf_within(stored_page(store, found.page), key);
}

// One past the highest key that a window may hold if it ends before `leaf` of its page.
__device__ __forceinline__ word end_of_window(const packed_store& store, unsigned page, unsigned leaf) {
  if (leaf < page_leaves) return stored_page(store, page).separators()[leaf];
  const unsigned next = store.positions[page] + 1;
  return next < store.num_pages ? store.page_separators[next] : no_key;
}

// Entries spread evenly over leaves or pages: the first `longer` ones have one entry more than the others.
struct even_spread {
  unsigned quota;
  word longer;
  word turn;  // the entries of the longer leaves
  __device__ __forceinline__ even_spread(word entries, word leaves)
      : quota(static_cast<unsigned>(entries / leaves)), longer(entries % leaves), turn(longer * (quota + 1)) {}
  __device__ __forceinline__ word leaf_of(word rank) const {
    return rank < turn ? divide(rank, quota + 1) : longer + divide(rank - turn, quota);
  }
  __device__ __forceinline__ word start_of(word leaf) const {
    return leaf < longer ? leaf * (quota + 1) : turn + (leaf - longer) * quota;
  }
  __device__ __forceinline__ unsigned count_of(word leaf) const { return quota + (leaf < longer); }

 private:
  static __device__ __forceinline__ word divide(word x, unsigned by) {
    return x >> 32 ? x / by : static_cast<unsigned>(x) / by;  // a 32-bit division is several times faster
  }
};

// Sets the leaf of every row that begins in a window of `leaves` leaves, a power of two. Called by `threads` threads.
// `separators` may be in shared memory; `end` is one past the highest key of the window.
__device__ __forceinline__ void index_rows(const packed_store& store, unsigned first_leaf, const word* separators,
                                           unsigned leaves, word end, unsigned thread, unsigned threads) {
  const word rows = store.num_rows + 1;
  const word begin = min(rows, (separators[0] + 0xffffffffull) >> 32);
  const word stop = end == no_key ? rows : min(rows, (end + 0xffffffffull) >> 32);
  // Several rows at a time, because runs of empty rows can be long and the steps of a search depend on each other.
  constexpr unsigned at_a_time = 4;
  for (word row = begin + thread; row < stop; row += at_a_time * threads) {
    unsigned leaf[at_a_time] = {};
    for (unsigned step = leaves >> 1; step != 0; step >>= 1) {
#pragma unroll
      for (unsigned i = 0; i < at_a_time; ++i) {
        if (separators[leaf[i] + step] <= (row + i * threads) << 32) leaf[i] += step;
      }
    }
#pragma unroll
    for (unsigned i = 0; i < at_a_time; ++i) {
      if (row + i * threads < stop) store.row_leaves[row + i * threads] = first_leaf + leaf[i];
    }
  }
}
