// updates.hpp - a batch for a packed array: sorted first, then located.
//
// A key leaves two bits free: bit 63 says that the update is a delete, bit 31 that its key exists.
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
// The change in the number of entries by a located update.
constexpr int growth_of(key_type flagged) { return is_delete(flagged) ? -1 : !is_present(flagged); }

// Whether two weights have the same bits, so that overwriting changes nothing. Also true for equal NaNs.
inline bool same_bits(double a, double b) { return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b); }

// A batch as passed by the caller: in order of time, with keys in any order.
struct batch_view {
  std::span<const key_type> keys;
  const bool* deletes = nullptr;    // null: all are inserts
  const double* weights = nullptr;  // null: an unweighted array, or new entries get 1 and others keep their weight
};

struct updates {
  std::size_t size = 0;
  buffer<key_type> keys;         // ascending and, except for flags, unique
  buffer<double> weights;        // empty in unweighted arrays
  buffer<std::uint32_t> places;  // once located: position of the page * page_leaves + leaf
  std::int64_t inserted = 0, deleted = 0, changed = 0;

  bool keep_weights = false;  // existing entries keep their weights

  bool weighted() const noexcept { return weights.data() != nullptr; }
};

// Sorts by key; the last of equal keys stays. Throws input_error for a key whose row or neighbor is out of range.
updates sort_batch(const packed_rows& rows, const batch_view& batch, int threads, const control& ctl);

// Finds where each update belongs, flags the keys that exist, and drops updates without effect.
void locate(const packed_rows& rows, updates& batch, int threads, const control& ctl);

// All entries after the batch, without locating it: sorts the existing entries together with the batch. The result has
// no flags, deletes or places; its counts say what the batch did.
updates sort_together(const packed_rows& rows, const batch_view& batch, int threads, const control& ctl);

}  // namespace graphlode::packed
