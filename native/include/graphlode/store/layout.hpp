// layout.hpp - the layout of a page of the packed array, and bounds on how full its parts may be.
//
// An entry is a 64-bit key, row << 32 | neighbor. A leaf is 32 slots, filled from the left and sorted. A page is 128
// leaves. Each leaf has a separator, the lowest key that belongs into it: a key belongs into the last leaf whose
// separator is not above it. Separators change only when entries are spread again, so a leaf may gain and lose entries
// without changes elsewhere. If a row begins with a leaf, the separator is the lowest key of the row. The constants are
// those of graphlode/common/store.py.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace graphlode::packed {

using key_type = std::uint64_t;

inline constexpr int leaf_slots = 32;
inline constexpr int page_leaves = 128;
inline constexpr int page_slots = leaf_slots * page_leaves;
inline constexpr int levels = 8;  // windows of 1, 2, 4 .. 128 leaves
inline constexpr int leaf_bits = 7;
inline constexpr key_type no_key = ~key_type{0};  // above every key

inline constexpr std::int64_t fill_entries = 3276;  // of a newly written page: 0.80

constexpr std::int64_t row_of(key_type key) { return static_cast<std::int64_t>(key >> 32); }
constexpr std::int32_t neighbor_of(key_type key) { return static_cast<std::int32_t>(key & 0x7FFFFFFF); }
constexpr key_type first_key_of(std::int64_t row) { return static_cast<key_type>(row) << 32; }
// The first row whose keys are all at or above `key`.
constexpr std::int64_t first_row_from(key_type key) {
  return static_cast<std::int64_t>(key >> 32) + ((key & 0xFFFFFFFF) != 0);
}

// Bounds on the entries of a window of 2^level leaves. A single leaf may be full.
constexpr std::int64_t most_entries(int level) {
  if (level == 0) return leaf_slots;
  const double density = 0.92 + (0.84 - 0.92) * level / (levels - 1);
  return static_cast<std::int64_t>(density * static_cast<double>(leaf_slots << level));
}
constexpr std::int64_t fewest_entries(int level) {
  const double density = 0.08 + (0.42 - 0.08) * level / (levels - 1);
  return static_cast<std::int64_t>(density * static_cast<double>(leaf_slots << level));
}
inline constexpr std::int64_t most_in_page = most_entries(levels - 1);
inline constexpr std::int64_t fewest_in_page = fewest_entries(levels - 1);

struct alignas(64) page {
  std::array<std::uint8_t, page_leaves> counts;  // entries of each leaf
  std::array<key_type, page_leaves> separators;  // ascending; no_key for the empty leaves at the end
  std::int64_t count;                            // entries of all leaves
  alignas(64) std::array<key_type, page_slots> keys;

  // The weights of a weighted array are stored behind each page; see bytes_of_page.
  double* weights() noexcept { return reinterpret_cast<double*>(this + 1); }
  const double* weights() const noexcept { return reinterpret_cast<const double*>(this + 1); }

  const key_type* leaf(int l) const noexcept { return keys.data() + l * leaf_slots; }
  key_type* leaf(int l) noexcept { return keys.data() + l * leaf_slots; }

  // The last of the leaves first .. last whose separator is not above the key, or `first`.
  int find_leaf(key_type key, int first = 0, int last = page_leaves - 1) const noexcept {
    while (first < last) {
      const int middle = (first + last + 1) / 2;
      if (separators[static_cast<std::size_t>(middle)] <= key)
        first = middle;
      else
        last = middle - 1;
    }
    return first;
  }
  // The same as rank_in_leaf, starting from a guess. A better guess reads less of the leaf.
  int rank_near(int l, key_type key, int guess) const noexcept {
    const key_type* from = leaf(l);
    const int all = counts[static_cast<std::size_t>(l)];
    int below = std::min(guess, all);
    while (below > 0 && from[below - 1] >= key) --below;
    while (below < all && from[below] < key) ++below;
    return below;
  }
  // The number of entries of leaf l below the key.
  int rank_in_leaf(int l, key_type key) const noexcept {
    const key_type* from = leaf(l);
    int below = 0;
    for (int left = counts[static_cast<std::size_t>(l)]; left > 0;) {
      const int half = (left + 1) / 2;
      below += from[below + half - 1] < key ? half : 0;
      left -= half;
    }
    return below;
  }
};

constexpr std::size_t bytes_of_page(bool weighted) {
  return sizeof(page) + (weighted ? sizeof(double) * page_slots : 0);
}

// A leaf of a directory: the number of its page, and its index within the page.
using leaf_name = std::uint32_t;
constexpr leaf_name name_of(std::uint32_t page_number, int leaf) {
  return page_number << leaf_bits | static_cast<leaf_name>(leaf);
}
constexpr std::uint32_t page_number_of(leaf_name name) { return name >> leaf_bits; }
constexpr int leaf_of(leaf_name name) { return static_cast<int>(name & (page_leaves - 1)); }

}  // namespace graphlode::packed
