// pair_keys.hpp - makes keys from pairs of positions that users pass.
#pragma once
#include <cstdint>
#include <span>

#include "graphlode/memory.hpp"

namespace graphlode::packed {

struct pair_keys {
  buffer<std::uint64_t> keys;
  std::int64_t self_loops = 0;  // pairs that have no key
};

// Keys in the order of the pairs. With `both`, each pair has two keys, one per direction. Positions must be below
// num_rows.
template <class Id>
pair_keys keys_of_pairs(std::span<const Id> rows, std::span<const Id> neighbors, std::int64_t num_rows, bool both,
                        int threads);

// What goes with each pair, such as its weight, for each of its keys.
template <class Id, class Value>
buffer<Value> values_of_pairs(std::span<const Id> rows, std::span<const Id> neighbors, std::span<const Value> values,
                              bool both, int threads);

}  // namespace graphlode::packed
