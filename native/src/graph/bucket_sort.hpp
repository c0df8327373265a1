// bucket_sort.hpp - sorts entries that fit a cache, by an unsigned key.
#pragma once
#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

namespace graphlode::graph {

// Stable least-significant-digit radix sort by `key`, of which `key_bits` bits may differ, between two arrays of one
// bucket. Returns the one that holds the result. `counts` is kept by the caller, so that buckets share it.
template <class Entry>
Entry* sort_bucket(Entry* entries, Entry* spare, std::size_t size, int key_bits, std::vector<std::size_t>& counts) {
  constexpr int digit_bits = 11;
  constexpr std::size_t digit_values = std::size_t{1} << digit_bits;
  constexpr std::size_t comparison_sort_below = 192;
  if (size < comparison_sort_below) {
    std::stable_sort(entries, entries + size, [](const Entry& a, const Entry& b) { return a.key < b.key; });
    return entries;
  }
  const int passes = (key_bits + digit_bits - 1) / digit_bits;
  counts.assign(static_cast<std::size_t>(passes) * digit_values, 0);
  for (std::size_t i = 0; i < size; ++i)
    for (int pass = 0; pass < passes; ++pass)
      ++counts[static_cast<std::size_t>(pass) * digit_values +
               (entries[i].key >> (pass * digit_bits) & (digit_values - 1))];
  for (int pass = 0; pass < passes; ++pass) {
    auto* count = counts.data() + static_cast<std::size_t>(pass) * digit_values;
    const int shift = pass * digit_bits;
    if (count[entries[0].key >> shift & (digit_values - 1)] == size) continue;  // all equal in this digit
    std::exclusive_scan(count, count + digit_values, count, std::size_t{0});
    for (std::size_t i = 0; i < size; ++i) spare[count[entries[i].key >> shift & (digit_values - 1)]++] = entries[i];
    std::swap(entries, spare);
  }
  return entries;
}

}  // namespace graphlode::graph
