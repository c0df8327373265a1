#include "motifs/bits.hpp"

#include "graphlode/clones.hpp"

namespace graphlode::mining::motifs {
namespace {

struct bit_table {
  alignas(64) std::uint64_t words[64] = {};
  constexpr bit_table() {
    for (int b = 0; b < 64; ++b) words[b] = std::uint64_t{1} << b;
  }
};
constexpr bit_table single_bits;

}  // namespace

GRAPHLODE_CLONES void set_common_bits(const std::uint64_t* words, std::uint64_t mask, std::uint64_t* counts,
                                      std::int64_t size) {
  for (std::int64_t i = 0; i < size; ++i) counts[i] = static_cast<std::uint64_t>(__builtin_popcountll(words[i] & mask));
}

GRAPHLODE_CLONES void add_common_bits(const std::uint64_t* words, std::uint64_t mask, std::uint64_t* counts,
                                      std::int64_t size) {
  for (std::int64_t i = 0; i < size; ++i)
    counts[i] += static_cast<std::uint64_t>(__builtin_popcountll(words[i] & mask));
}

GRAPHLODE_CLONES std::uint64_t sum_choose2(const std::uint64_t* counts, std::int64_t size) {
  std::uint64_t twice = 0;
  for (std::int64_t i = 0; i < size; ++i) {
    const auto count = counts[i] & 0xffffffff;  // known to be small, so the product is one instruction
    twice += count * (count - 1);
  }
  return twice / 2;
}

GRAPHLODE_CLONES std::int64_t count_common(const std::uint64_t* a, const std::uint64_t* b, std::int64_t num_words) {
  std::int64_t found = 0;
  for (std::int64_t i = 0; i < num_words; ++i) found += __builtin_popcountll(a[i] & b[i]);
  return found;
}

// A comparison with a table of single bits turns a mask of words into a mask of lanes in one instruction.
GRAPHLODE_CLONES std::uint64_t sum_masked(const std::uint64_t* masks, std::int64_t num_words,
                                          const std::uint64_t* weights) {
  constexpr int few = 8;  // up to this many bits of a word, one by one is faster
  std::uint64_t total = 0;
  for (std::int64_t w = 0; w < num_words; ++w, weights += 64) {
    auto mask = masks[w];
    if (__builtin_popcountll(mask) <= few)
      for (; mask; mask &= mask - 1) total += weights[__builtin_ctzll(mask)];
    else
      for (int b = 0; b < 64; ++b) total += mask & single_bits.words[b] ? weights[b] : 0;
  }
  return total;
}

}  // namespace graphlode::mining::motifs
