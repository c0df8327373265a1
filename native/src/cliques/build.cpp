// cliques/build.cpp - looks up rows in the table of marked places, without a branch per entry.
//
// Whether an entry is in the root's row is unpredictable, so a miss sets no bit instead of taking a branch. Places
// ascend along a row, so bits are collected in a register until the word changes. The lower half of a symmetric matrix
// is mirrored afterwards.
#include "cliques/build.hpp"

#include <algorithm>

#include "graphlode/clones.hpp"
#include "graphlode/prefetch.hpp"

namespace graphlode::mining {
namespace {

constexpr int rows_ahead = 4;

// Transposes 64 x 64 bits by exchanging halves of ever smaller squares.
[[gnu::always_inline]] inline void transpose(word* square) {
  word mask = 0xffffffff;
  for (int half = word_bits / 2; half; half /= 2, mask ^= mask << half)
    for (int base = 0; base < word_bits; base += 2 * half)
      for (int k = base; k < base + half; ++k) {
        const word changed = ((square[k] >> half) ^ square[k + half]) & mask;
        square[k + half] ^= changed;
        square[k] ^= changed << half;
      }
}

// Sets the bits below the diagonal from those above it, square by square; bit by bit if a square has few bits.
[[gnu::always_inline]] inline void mirror(word* bits, int size, int width) {
  constexpr int few = 160;
  const int squares = words_for(size);
  for (int down = 0; down < squares; ++down) {
    const int first = down * word_bits, rows = std::min(word_bits, size - first);
    for (int across = down; across < squares; ++across) {
      word square[word_bits];
      int hits = 0;
      for (int r = 0; r < rows; ++r) {
        square[r] = bits[std::int64_t{first + r} * width + across];
        if (across == down) square[r] &= ~word{1} << r;
        hits += count_bits(square[r]);
      }
      word* const mirrored = bits + std::int64_t{across} * word_bits * width + down;
      if (hits <= few) {
        for (int r = 0; r < rows; ++r)
          for (word left = square[r]; left; left &= left - 1)
            mirrored[std::int64_t{lowest_bit(left)} * width] |= word{1} << r;
        continue;
      }
      std::fill(square + rows, square + word_bits, word{0});
      transpose(square);
      for (int r = 0; r < std::min(word_bits, size - across * word_bits); ++r)
        mirrored[std::int64_t{r} * width] |= square[r];
    }
  }
}

// `Words` per row; 0 for any number.
template <int Words, class Vertex, class Place>
[[gnu::always_inline]] inline void fill(const csr_view<Vertex>& graph, const Vertex* row, int size, const Place* places,
                                        bool both, word* bits, int words) {
  const int width = Words ? Words : words;
  std::fill_n(bits, std::int64_t{size} * width, word{0});
  const Vertex last = row[size - 1];
  for (int i = 0; i + 1 < size; ++i) {
    if (i + rows_ahead < size) prefetch(graph.neighbors + graph.offsets[row[i + rows_ahead]]);
    word* const own = bits + std::int64_t{i} * width;
    const Vertex* at = graph.neighbors + graph.offsets[row[i]];
    const Vertex* const end = graph.neighbors + graph.offsets[row[i] + 1];
    word gathered = 0;
    std::uint32_t current = 0;
    for (; at != end && *at <= last; ++at) {
      const auto marked = static_cast<std::uint32_t>(places[*at]);
      const bool hit = marked != 0;
      const std::uint32_t place = marked - 1;
      if (Words != 1 && (hit & (place / word_bits != current))) {
        own[current] |= gathered;
        gathered = 0;
        current = place / word_bits;
      }
      gathered |= word{hit} << (place % word_bits);
    }
    own[current] |= gathered;
  }
  if (both) mirror(bits, size, width);
}

template <class Vertex, class Place>
void fill_for(const csr_view<Vertex>& graph, const Vertex* row, int size, const Place* places, bool both, word* bits,
              int words);

template <>
GRAPHLODE_CLONES void fill_for(const csr_view<std::int32_t>& graph, const std::int32_t* row, int size,
                               const std::uint8_t* places, bool both, word* bits, int words) {
  fill<1>(graph, row, size, places, both, bits, words);
}
template <>
GRAPHLODE_CLONES void fill_for(const csr_view<std::int32_t>& graph, const std::int32_t* row, int size,
                               const std::int32_t* places, bool both, word* bits, int words) {
  fill<0>(graph, row, size, places, both, bits, words);
}
template <>
GRAPHLODE_CLONES void fill_for(const csr_view<std::int64_t>& graph, const std::int64_t* row, int size,
                               const std::uint8_t* places, bool both, word* bits, int words) {
  fill<1>(graph, row, size, places, both, bits, words);
}
template <>
GRAPHLODE_CLONES void fill_for(const csr_view<std::int64_t>& graph, const std::int64_t* row, int size,
                               const std::int32_t* places, bool both, word* bits, int words) {
  fill<0>(graph, row, size, places, both, bits, words);
}

}  // namespace

template <class Vertex>
void fill_rows(const csr_view<Vertex>& graph, std::span<const Vertex> row, const std::uint8_t* places,
               row_direction direction, row_block& block) {
  fill_for(graph, row.data(), static_cast<int>(row.size()), places, direction == row_direction::both, block.bits.data(),
           block.words);
}

template <class Vertex>
void fill_rows(const csr_view<Vertex>& graph, std::span<const Vertex> row, const std::int32_t* places,
               row_direction direction, row_block& block) {
  fill_for(graph, row.data(), static_cast<int>(row.size()), places, direction == row_direction::both, block.bits.data(),
           block.words);
}

template void fill_rows(const csr_view<std::int32_t>&, std::span<const std::int32_t>, const std::uint8_t*,
                        row_direction, row_block&);
template void fill_rows(const csr_view<std::int32_t>&, std::span<const std::int32_t>, const std::int32_t*,
                        row_direction, row_block&);
template void fill_rows(const csr_view<std::int64_t>&, std::span<const std::int64_t>, const std::uint8_t*,
                        row_direction, row_block&);
template void fill_rows(const csr_view<std::int64_t>&, std::span<const std::int64_t>, const std::int32_t*,
                        row_direction, row_block&);

}  // namespace graphlode::mining
