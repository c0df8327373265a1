// edge_word.hpp - one edge in one word, so that lists are sorted by comparing words.
//
// The upper half is the end that the list is ordered by, the lower half the other end. Vertices are below 2^31, so
// words are never negative. Edges with the same key are ordered by their other end.
#pragma once
#include <cstdint>

namespace graphlode::locality {

using edge_word = std::int64_t;

enum class sort_key { source, destination };

template <sort_key Key>
constexpr std::int64_t source_of(edge_word word) noexcept {
  return Key == sort_key::source ? word >> 32 : word & 0xffffffff;
}
template <sort_key Key>
constexpr std::int64_t destination_of(edge_word word) noexcept {
  return Key == sort_key::source ? word & 0xffffffff : word >> 32;
}

// Calls `work` with the key as a template argument, so that inner loops need no test.
template <class Work>
auto with_key(sort_key key, Work&& work) {
  return key == sort_key::source ? work.template operator()<sort_key::source>()
                                 : work.template operator()<sort_key::destination>();
}

}  // namespace graphlode::locality
