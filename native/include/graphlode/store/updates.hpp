// updates.hpp - a batch on its way into a packed array: sorted, then located.
//
// A key leaves two bits free: bit 63 says that the update is a delete, bit 31 that its key is already there.
#pragma once
#include <bit>
#include <cstdint>
#include <span>

#include "graphlode/control.hpp"
#include "graphlode/memory.hpp"
#include "graphlode/store/packed_rows.hpp"

namespace graphlode::packed {

inline constexpr key_type delete_flag = key_type{1} << 63;
inline constexpr key_type present_flag = key_type{1} << 31;

constexpr key_type plain(key_type flagged) { return flagged & ~(delete_flag | present_flag); }
constexpr bool is_delete(key_type flagged) { return (flagged & delete_flag) != 0; }
constexpr bool is_present(key_type flagged) { return (flagged & present_flag) != 0; }
// What the update adds to the number of entries, once it is located.
constexpr int growth_of(key_type flagged) { return is_delete(flagged) ? -1 : !is_present(flagged); }

// Whether a weight is overwritten by itself: also true for what is not a number.
inline bool same_bits(double a, double b) { return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b); }

// A batch as the caller gives it: in order of time, any order of keys.
struct batch_view {
  std::span<const key_type> keys;
  const bool* deletes = nullptr;    // null: all are inserts
  const double* weights = nullptr;  // null: the array has none, or new entries weigh 1 and others keep their weight
};

struct updates {
  std::size_t size = 0;
  buffer<key_type> keys;         // ascending and, but for flags, unique
  buffer<double> weights;        // empty without
  buffer<std::uint32_t> places;  // once located: position of the page * page_leaves + leaf
  std::int64_t inserted = 0, deleted = 0, changed = 0;

  bool keep_weights = false;  // entries that are there already keep theirs

  bool weighted() const noexcept { return weights.data() != nullptr; }
};

// Sorts by key; of equal keys the last stays. Throws input_error for a key whose row or neighbor is out of range.
updates sort_batch(const packed_rows& rows, const batch_view& batch, int threads, const control& ctl);

// Finds where each update belongs, marks what is there already, and drops what would change nothing.
void locate(const packed_rows& rows, updates& batch, int threads, const control& ctl);

// All entries as they are after the batch, without locating it: existing ones and the batch in one sort. The result has
// no flags, no deletes and no places; its counts say what the batch did.
updates sort_together(const packed_rows& rows, const batch_view& batch, int threads, const control& ctl);

}  // namespace graphlode::packed
