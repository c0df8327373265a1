// packed_rows.hpp - the entries of a shard: pages in key order, their directory, and where each row begins.
//
// How to read it. Any number of threads may read a `packed_rows` while it is not updated (a fork never is):
//
//   rows.for_each_neighbor(row, [&](std::int32_t neighbor) { ...; return true; });  // false stops
//   rows.for_each_weighted_neighbor(row, [&](std::int32_t neighbor, double weight) { ...; return true; });
//   rows.sweep(first, last, [&](std::span<const key_type> keys, const double* weights) { ... });
//
// The first two start at the row index (two dependent loads: the index, the page) and go over leaves and pages.
// Prefetch with prefetch_index(row) and, some rows later, prefetch_row(row). `sweep` visits all entries of the pages at
// positions first .. last - 1 leaf by leaf, in key order. It is the fastest way to read everything. Split it over
// threads by pages with parallel_chunks(0, rows.num_pages(), 16, ...); a row may begin in one page and end in a later
// one. `sweep_rows` calls f(row, keys, weights) for each run of one row within a leaf. To skip the rest of a row,
// continue at start_of(row + 1), which is one index lookup.
//
// The directory refers to pages by number, so a page may be copied or moved without a change of the row index. A number
// has a position in key order, and a position has a number. An index entry has the leaf (page number, leaf) into which
// the key row << 32 belongs; the first entry of the row is in this leaf or follows it.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "graphlode/control.hpp"
#include "graphlode/csr.hpp"
#include "graphlode/memory.hpp"
#include "graphlode/prefetch.hpp"
#include "graphlode/store/block_pool.hpp"
#include "graphlode/store/layout.hpp"

namespace graphlode::packed {

inline constexpr int index_bits = 12;  // rows of one part of the row index
inline constexpr std::int64_t index_rows = std::int64_t{1} << index_bits;

// A part of the row index. Names are always correct. A slot is where in its leaf the row began when the leaf was last
// spread; it may have moved by a few since, so it is only a starting point. A row known to be empty has a mark instead;
// not every empty row has one.
struct index_part {
  static constexpr std::uint8_t known_empty = 0xff;

  std::array<leaf_name, index_rows> names;
  std::array<std::uint8_t, index_rows> slots;

  void set(std::int64_t row, leaf_name name, int slot) noexcept {
    const auto at = static_cast<std::size_t>(row & (index_rows - 1));
    names[at] = name;
    slots[at] = static_cast<std::uint8_t>(slot);
  }
  // The marked ones of eight slots, one bit each. No unmarked slot has its highest bit set, and the multiplication
  // collects the highest bits of all eight.
  static std::uint64_t marked_of_eight(const std::uint8_t* eight) noexcept {
    std::uint64_t all = 0;
    for (int i = 0; i < 8; ++i) all |= std::uint64_t{eight[i]} << 8 * i;  // a single load on little-endian machines
    return (all >> 7 & 0x0101010101010101) * 0x0102040810204080 >> 56;
  }
  void unmark(std::int64_t row) noexcept { slots[static_cast<std::size_t>(row & (index_rows - 1))] = 0; }
};

// The source of pages for arrays and their versions.
struct pools {
  // A large slab is slightly larger than a huge page of two megabytes, so it gets huge pages and is returned
  // separately.
  static constexpr std::uint32_t slab_of(std::size_t bytes) {
    return static_cast<std::uint32_t>((2 << 20) / bytes + 1);
  }

  explicit pools(bool weighted)
      : pages(bytes_of_page(weighted), slab_of(bytes_of_page(weighted)), false),
        parts(sizeof(index_part), slab_of(sizeof(index_part)), true) {}
  block_pool pages;
  block_pool parts;  // of row indices
};

// Plain data. packed_rows and the plan of an update define who owns the references of `pages`.
struct directory {
  std::int64_t num_pages = 0;
  std::uint32_t num_numbers = 0;    // page numbers that are or were in use
  buffer<key_type> separators;      // by position: the lowest key that belongs into the page; ascending, the first is 0
  buffer<std::uint32_t> numbers;    // by position
  buffer<block> pages;              // by number; empty if the number is free
  buffer<std::uint32_t> positions;  // by number
};

// Where to look for sparse pages next, and how many entries may be written for that; see store/condense.cpp.
struct condensing {
  std::int64_t position = 0, credit = 0;
};

struct cursor {
  std::int64_t position = 0;  // of the page; num_pages: at the end
  int leaf = 0;
  int slot = 0;
};

class packed_rows {
 public:
  packed_rows(std::int64_t num_rows, bool weighted);
  ~packed_rows();
  packed_rows(const packed_rows&) = delete;
  packed_rows& operator=(const packed_rows&) = delete;

  // A version that does not change with later updates of this array. O(pages + rows / 4096).
  std::unique_ptr<packed_rows> fork() const;
  // Adds empty rows.
  void resize(std::int64_t num_rows);

  std::int64_t num_rows() const noexcept { return num_rows_; }
  std::int64_t num_entries() const noexcept { return num_entries_; }
  std::int64_t num_pages() const noexcept { return directory_.num_pages; }
  bool weighted() const noexcept { return weighted_; }

  const page& page_at(std::int64_t position) const noexcept {
    return page_numbered(directory_.numbers[static_cast<std::size_t>(position)]);
  }
  const page& page_numbered(std::uint32_t number) const noexcept {
    return *static_cast<const page*>(directory_.pages[number].data);
  }
  std::int64_t position_of(std::uint32_t number) const noexcept { return directory_.positions[number]; }
  // The lowest key that belongs behind the page at `position`.
  key_type end_of_page(std::int64_t position) const noexcept {
    return position + 1 < num_pages() ? directory_.separators[static_cast<std::size_t>(position) + 1] : no_key;
  }

  // The page, among those at first .. last, into which the key belongs.
  std::int64_t find_page(key_type key, std::int64_t first, std::int64_t last) const noexcept {
    const key_type* const from = directory_.separators.data();
    return std::upper_bound(from + first + 1, from + last + 1, key) - from - 1;
  }

  leaf_name index_of(std::int64_t row) const noexcept { return part_of(row).names[in_part(row)]; }
  bool is_known_empty(std::int64_t row) const noexcept {
    return part_of(row).slots[in_part(row)] == index_part::known_empty;
  }
  // The same for the rows 64 * w .. 64 * w + 63, one bit each.
  std::uint64_t known_empty(std::int64_t w) const noexcept {
    const std::uint8_t* const slots = part_of(64 * w).slots.data() + in_part(64 * w);
    std::uint64_t empty = 0;
    for (int eight = 0; eight < 8; ++eight) empty |= index_part::marked_of_eight(slots + 8 * eight) << 8 * eight;
    return empty;
  }
  void prefetch_index(std::int64_t row) const noexcept {
    prefetch(part_of(row).names.data() + in_part(row));
    prefetch(part_of(row).slots.data() + in_part(row));
  }
  void prefetch_row(std::int64_t row) const noexcept {
    if (is_known_empty(row)) return;
    const leaf_name name = index_of(row);
    const page& at = page_numbered(page_number_of(name));
    prefetch(at.counts.data() + leaf_of(name));
    const int slot = part_of(row).slots[in_part(row)];
    const key_type* const key = at.leaf(leaf_of(name)) + slot;
    prefetch(key - (slot > 0));  // shows whether the row begins there
    prefetch(key);
  }

  // The first entry of the row, or where it would be (possibly behind the last entry of a leaf).
  cursor start_of(std::int64_t row) const noexcept {
    const leaf_name name = index_of(row);
    const page& at = page_numbered(page_number_of(name));
    const int guess = part_of(row).slots[in_part(row)];
    return {position_of(page_number_of(name)), leaf_of(name), at.rank_near(leaf_of(name), first_key_of(row), guess)};
  }

  // The first neighbor if the row begins where the index says or, after changes before it, one slot to the right or
  // left; otherwise -1. Which of these is unpredictable, so there are no branches.
  std::int32_t first_neighbor(std::int64_t row) const noexcept {
    const leaf_name name = index_of(row);
    const page& at = page_numbered(page_number_of(name));
    const int guess = std::clamp<int>(part_of(row).slots[in_part(row)], 1, leaf_slots - 2);
    const key_type* const near = at.leaf(leaf_of(name)) + guess;
    const int moved = (row_of(near[-1]) < row) + (row_of(near[0]) < row) - 1;
    const int slot = guess + moved;
    const key_type* const key = near + moved;
    const bool begins = (row_of(*key) == row) & ((slot == 0) | (row_of(key[-(slot > 0)]) != row));
    const bool inside = slot < at.counts[static_cast<std::size_t>(leaf_of(name))];
    return begins & inside ? neighbor_of(*key) : -1;
  }
  template <class Visit>
  void for_each_neighbor(std::int64_t row, Visit&& visit) const {
    walk_row(row, [&](const page&, int, key_type key) { return visit(neighbor_of(key)); });
  }
  // For weighted arrays only.
  template <class Visit>
  void for_each_weighted_neighbor(std::int64_t row, Visit&& visit) const {
    walk_row(row, [&](const page& at, int slot, key_type key) { return visit(neighbor_of(key), at.weights()[slot]); });
  }

  // visit(keys, weights) for each nonempty leaf of the pages at first .. last - 1. weights is null in unweighted
  // arrays.
  template <class Visit>
  void sweep(std::int64_t first, std::int64_t last, Visit&& visit) const {
    for (auto position = first; position < last; ++position) {
      const page& at = page_at(position);
      for (int l = 0; l < page_leaves; ++l)
        if (const std::size_t count = at.counts[static_cast<std::size_t>(l)])
          visit(std::span<const key_type>(at.leaf(l), count), weighted_ ? at.weights() + l * leaf_slots : nullptr);
    }
  }
  // visit(row, keys, weights) for each run of entries of one row within a leaf.
  template <class Visit>
  void sweep_rows(std::int64_t first, std::int64_t last, Visit&& visit) const {
    sweep(first, last, [&](std::span<const key_type> keys, const double* weights) {
      for (std::size_t begin = 0, end = 0; begin < keys.size(); begin = end) {
        const auto row = row_of(keys[begin]);
        for (end = begin + 1; end < keys.size() && row_of(keys[end]) == row;) ++end;
        visit(row, keys.subspan(begin, end - begin), weights ? weights + begin : nullptr);
      }
    });
  }

  std::int64_t degree(std::int64_t row) const noexcept;
  buffer<std::int64_t> degrees(int threads, const control& ctl) const;
  struct arrays {
    csr<std::int32_t> rows;
    buffer<double> weights;  // empty in unweighted arrays
  };
  arrays compressed(int threads, const control& ctl) const;
  struct entries {
    buffer<key_type> keys;
    buffer<double> weights;
  };
  // The entries of rows whose slot (share_slot) is selected.
  entries rows_in(std::span<const bool> buckets, int threads, const control& ctl) const;
  entries all(int threads, const control& ctl) const;
  entries row(std::int64_t row) const;
  void contains(std::span<const key_type> keys, bool* found) const noexcept;

  struct figures {
    std::int64_t entries, capacity, pages, shared_pages;
    double density;
    std::array<double, levels> density_by_level;  // the fullest window of each size
  };
  figures statistics() const noexcept;
  std::int64_t bytes() const noexcept;
  // An empty string, or what is broken.
  std::string check() const;

 private:
  friend class update_plan;
  struct as_fork {};
  packed_rows(const packed_rows& other, as_fork);

  const index_part& part_of(std::int64_t row) const noexcept {
    return *static_cast<const index_part*>(index_[static_cast<std::size_t>(row >> index_bits)].data);
  }
  static std::size_t in_part(std::int64_t row) noexcept { return static_cast<std::size_t>(row & (index_rows - 1)); }

  // visit(page, slot, key) for each entry of the row until it returns false. Most rows end in the page in which they
  // begin; the position of the page is looked up only for the others.
  template <class Visit>
  void walk_row(std::int64_t row, Visit&& visit) const {
    if (is_known_empty(row)) return;
    const key_type end = first_key_of(row + 1);
    const leaf_name name = index_of(row);
    const page* at = &page_numbered(page_number_of(name));
    int leaf = leaf_of(name), slot = at->rank_near(leaf, first_key_of(row), part_of(row).slots[in_part(row)]);
    for (std::int64_t position = -1;;) {
      for (; leaf < page_leaves; ++leaf, slot = 0) {
        const int begin = leaf * leaf_slots, count = at->counts[static_cast<std::size_t>(leaf)];
        for (; slot < count; ++slot) {
          const key_type key = at->keys[static_cast<std::size_t>(begin + slot)];
          if (key >= end || !visit(*at, begin + slot, key)) return;
        }
      }
      if (position < 0) position = position_of(page_number_of(name));
      if (end_of_page(position) >= end) return;
      at = &page_at(++position);
      leaf = slot = 0;
    }
  }

  std::shared_ptr<pools> pools_;
  directory directory_;
  buffer<block> index_;  // parts of the row index
  std::int64_t num_rows_ = 0;
  std::int64_t num_entries_ = 0;
  bool weighted_ = false;
  condensing condensing_;
  mutable std::atomic<std::uint64_t> stamp_{
      0};  // counts updates and forks: a plan is valid only for the state it was made for
};

}  // namespace graphlode::packed
