// slots.hpp - the slots of rows, and splitting keys by the owner of their row's slot.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "graphlode/control.hpp"
#include "graphlode/memory.hpp"

namespace graphlode::packed {

inline constexpr std::size_t num_slots = 1024;

// The same function as slot_of in common/buckets.py.
inline std::size_t share_slot(std::int64_t row) {
  auto mixed = static_cast<std::uint64_t>(row) * 0x9E3779B97F4A7C15u;
  mixed ^= mixed >> 29;
  mixed *= 0xBF58476D1CE4E5B9u;
  return static_cast<std::size_t>(mixed >> 54);
}

// Places of keys by owner, in the order of the keys within each owner. begins[i] is where those of owner i begin; the
// last element is the number of keys. `owners` has one owner per slot, 0 .. num_owners - 1.
struct owned_places {
  buffer<std::int64_t> places;
  buffer<std::int64_t> begins;
};
owned_places split_by_owner(std::span<const std::uint64_t> keys, std::span<const std::int64_t> owners,
                            std::int64_t num_owners, int threads, const control& ctl);

}  // namespace graphlode::packed
