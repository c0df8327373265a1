// store/store.cuh - a shard's entries as pages of leaves, and how a key is found in them.
//
// An entry is a 64-bit key, row above neighbor. A leaf has 32 slots, left packed and sorted: one per lane of a warp. A
// page has 128 leaves, and with them all that is kept of each leaf. Pages lie in segments that are never moved; leaves
// are numbered page * 128 + leaf, so these numbers do not follow the order of keys: the directory does. Each leaf has a
// separator, the lowest key that it may hold, and each row the number of the leaf in which its first entry is or would
// be.
//
// Both structs hold pointers only, are filled by the host (store/pool.py, store/batch.py) and are read
// through a pointer: a launch then has few arguments, whatever the number of arrays.
#pragma once
#include "platform.cuh"

using word = unsigned long long;

constexpr unsigned leaf_slots = 32;
constexpr unsigned page_leaves = 128;
constexpr unsigned page_slots = leaf_slots * page_leaves;
constexpr unsigned segment_pages = 64;
constexpr unsigned page_level = 7;    // windows of 1, 2, .. 128 leaves have the levels 0 .. 7
constexpr unsigned narrow_level = 3;  // windows up to 8 leaves are written by a warp, larger ones by a block
constexpr word delete_bit = 1ull << 63;
constexpr word no_key = ~0ull;

struct packed_store {
  word** segments;  // of pages (stored_page)
  // per page
  unsigned* totals;     // entries, after the batch that is being planned
  unsigned* marks;      // the epoch of the last batch that looked at the page as a whole
  unsigned* jobs;       // which job spreads the page; only while pages are spread
  unsigned char* held;  // 1: an immutable version holds the page too, so it must not be written
  // the directory, and the rows: of one version
  unsigned* positions;    // per page
  unsigned* pages;        // per position
  word* page_separators;  // per position
  unsigned* row_leaves;   // one more than there are rows
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

// Which update does what, after repetitions and updates without effect are told apart.
constexpr unsigned char update_nothing = 0, update_insert = 1, update_delete = 2, update_weight = 3;

// 32-bit words only, in the order that store/batch.py knows.
struct packed_info {
  unsigned bad_row;  // 1: an update names a row that is not there
  unsigned inserted, deleted, changed;
  unsigned num_leaves;  // leaves with updates
  union {
    unsigned num_suspects;  // pages that may have to be rebalanced
    unsigned num_tasks;     // of a merge, that have been counted
  };
  unsigned num_narrow, num_wide, num_flagged;
  unsigned window_leaves;  // leaves of all windows together
  unsigned self_loops;     // updates that were dropped
  unsigned tickets;        // zero between launches
  unsigned any_crowded;    // 1: a leaf has so many updates that more than a warp must write them
  // what the groups of flagged pages come to: pages that are written and that are replaced; 1: some groups are joined
  unsigned num_fresh, num_replaced, any_joined;
};

// The updates [begin, end) of one leaf, and how many entries it has before and after them.
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
  unsigned char* kinds;  // what the update does, in the low two bits; above, the entries of its leaf below its key
  leaf_task* tasks;
  unsigned* suspects;  // pages
  word* narrow;        // windows: first leaf below, level above
  word* wide;
  unsigned* flagged;  // pages that must be written into fresh ones: record_words each
  // larger batches only: the updates as sorting leaves them (packed_form), and its own space
  word* sorted;
  unsigned* places;  // of updates that have weights: which they were
  unsigned* space;
  packed_info* info;
  word* told;         // in memory that the host sees: the words of the information, once all of it is known
  unsigned* counted;  // by sorting (store/sort.cu); zero between batches
};
constexpr unsigned effect_tile = 1024;

// Tells the host what a batch did: each word with the epoch above it, by which the host knows that it is there. They
// may arrive in any order, so that none waits until another one has crossed the bus.
__device__ __forceinline__ void tell_host(const packed_batch& batch, const packed_info& info, unsigned epoch) {
  constexpr unsigned num_words = sizeof(packed_info) / sizeof(unsigned);
  const unsigned* const words = reinterpret_cast<const unsigned*>(&info);
  volatile word* const told = batch.told;
#pragma unroll
  for (unsigned i = 0; i < num_words; ++i) told[i] = static_cast<word>(epoch) << 32 | words[i];
}

// Of a flagged page the host learns its position and the totals of the pages of its group, as store/groups.py forms
// them: runs of group_pages pages, of which the last takes the rest of the directory along.
constexpr unsigned group_pages = 8;
constexpr unsigned record_words = 2 * group_pages;
constexpr unsigned filled_slots = page_slots * 4 / 5;  // of pages that are written anew

__device__ __forceinline__ unsigned num_groups(unsigned pages) { return max(1u, pages / group_pages); }

// The group that a position is in.
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

// Whether a page with so many entries cannot stay as it is.
__device__ __forceinline__ bool page_is_outside(const packed_store& store, unsigned total) {
  return total > upper_slots(page_level) || (store.num_pages > 1 && total < lower_slots(page_level));
}
// Groups that are written together: one with too few entries takes the next one along, and if all that follow have too
// few, the one before. One thread. Pages that have too few entries are flagged, so that there is a flagged one among
// those of such a group.
struct joined_groups {
  const packed_store& store;
  unsigned pages, groups;
  unsigned first, last;  // that are joined with the one in question
  word total = 0;        // the entries of all
  word before = 0;       // of those before the one in question

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
  // Of those that have too few entries there is one.
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
// How many pages take so many entries.
__device__ __forceinline__ unsigned fresh_pages_for(word entries) {
  if (entries <= upper_slots(page_level)) return 1;
  return static_cast<unsigned>((entries + filled_slots - 1) / filled_slots);
}

// A page where it lies: its keys, what is kept of each leaf and, in a weighted shard, as many weights as keys.
struct stored_page {
  word* keys;

  // In words, from the first key on.
  static constexpr unsigned separators_at = page_slots, counts_at = separators_at + page_leaves;
  static constexpr unsigned counts_words = page_leaves * sizeof(unsigned short) / sizeof(word);
  static constexpr unsigned next_counts_at = counts_at + counts_words, starts_at = next_counts_at + counts_words,
                            levels_at = starts_at + counts_words;
  static constexpr unsigned weights_at = levels_at + page_leaves / sizeof(word);
  // Of a whole page, as store/pool.py knows it, too.
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
  // Entries of the page before the leaf, and a mark; only while pages are spread.
  __device__ __forceinline__ unsigned short* starts() const { return shorts(starts_at); }
  // Of the window that the leaf is rewritten with; only if the page has the epoch's mark.
  __device__ __forceinline__ unsigned char* levels() const {
    return reinterpret_cast<unsigned char*>(keys + levels_at);
  }

 private:
  __device__ __forceinline__ unsigned short* shorts(unsigned at) const {
    return reinterpret_cast<unsigned short*>(keys + at);
  }
};

// A leaf by its number: its page, and which it is of that.
struct stored_leaf {
  stored_page page;
  unsigned within;
  __device__ __forceinline__ stored_leaf(const packed_store& store, unsigned leaf)
      : page(store, leaf / page_leaves), within(leaf % page_leaves) {}
  __device__ __forceinline__ stored_leaf(stored_page its_page, unsigned leaf) : page(its_page), within(leaf) {}
  __device__ __forceinline__ word* keys() const { return page.keys + within * leaf_slots; }
  __device__ __forceinline__ unsigned short& count() const { return page.counts()[within]; }
};
// The leaf that comes at a place in the order of keys.
__device__ __forceinline__ stored_leaf leaf_in_order(const packed_store& store, word place) {
  return {stored_page(store, store.pages[place / page_leaves]), static_cast<unsigned>(place % page_leaves)};
}
// The weight of the entry whose key is here, in a weighted shard.
__device__ __forceinline__ double* weight_of(word* key) {
  return reinterpret_cast<double*>(key + stored_page::weights_at);
}
// Whether two weights differ in any bit, as 0.0 and -0.0 do: the last one written stays.
__device__ __forceinline__ bool other_weight(double a, double b) {
  return __double_as_longlong(a) != __double_as_longlong(b);
}

// The first place in [low, high) whose value is not below x / is above x; `high` if there is none.
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

// As first_not_below, by the lanes of a warp together: 33 parts at a time, so few looks one after another.
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

// The first place in [low, high) whose value is not `below`, where all that are come first; `high` if there is none.
// Three looks at a time: they are on their way together, so a search takes half as long as one that halves.
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

// The page in which a key is or would be, and the leaves [low, high] of it that come into question.
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
  // Which leaf of it, where it lies.
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

// One past the highest key that a window which ends before `leaf` of its page may hold.
__device__ __forceinline__ word end_of_window(const packed_store& store, unsigned page, unsigned leaf) {
  if (leaf < page_leaves) return stored_page(store, page).separators()[leaf];
  const unsigned next = store.positions[page] + 1;
  return next < store.num_pages ? store.page_separators[next] : no_key;
}

// Entries spread evenly over leaves, or over pages: the first `longer` ones have one more than the others.
struct even_spread {
  unsigned quota;
  word longer;
  word turn;  // the entries of the longer leaves together
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
    return x >> 32 ? x / by : static_cast<unsigned>(x) / by;  // the short division is several times faster
  }
};

// Sets the leaf of every row that starts in a window of `leaves` leaves, a power of two, by `threads` threads that see
// its separators. `separators` may lie in shared memory; `end` is one past the highest key of the window.
__device__ __forceinline__ void index_rows(const packed_store& store, unsigned first_leaf, const word* separators,
                                           unsigned leaves, word end, unsigned thread, unsigned threads) {
  const word rows = store.num_rows + 1;
  const word begin = min(rows, (separators[0] + 0xffffffffull) >> 32);
  const word stop = end == no_key ? rows : min(rows, (end + 0xffffffffull) >> 32);
  // Several rows at a time: stretches of rows without entries can be long, and each look waits for the one before.
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
