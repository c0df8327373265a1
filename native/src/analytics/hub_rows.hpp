// hub_rows.hpp - the rows of the highest ranks as bit rows.
//
// In an oriented graph the last ranks are the vertices of highest degree, and most pairs (u, v) of a triangle search
// have v among them. The row of such a v contains only higher ranks, so it fits a short bit row. Intersecting it with
// the bits of u's row is AND + popcount over a few vectors instead of one lookup per neighbor.
#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>

#include "graphlode/csr.hpp"
#include "graphlode/memory.hpp"

namespace graphlode::analytics {

// The number of ranks that are hubs. Half of hubs^2 bits are built per call, which is little compared with the work
// that they save on `num_edges` edges.
constexpr std::int64_t choose_num_hubs(std::int64_t num_vertices, std::int64_t num_edges) {
  const std::int64_t affordable = num_edges < (1 << 16) ? 1024 : num_edges < (1 << 22) ? 4096 : 8192;
  return std::min(num_vertices, affordable);
}

template <class Vertex>
class hub_rows {
 public:
  static constexpr int word_bits = 64;

  explicit hub_rows(const csr_view<Vertex>& oriented)
      : num_hubs_(choose_num_hubs(oriented.num_vertices, oriented.num_entries())),
        first_(oriented.num_vertices - num_hubs_),
        num_words_((num_hubs_ + word_bits - 1) / word_bits),
        starts_(num_hubs_ + 1) {
    // Row h starts at the word of its own bit, because all earlier words are empty.
    std::int64_t words = 0;
    for (std::int64_t h = 0; h < num_hubs_; ++h) {
      starts_[h] = words;
      words += num_words_ - h / word_bits;
    }
    starts_[num_hubs_] = words;
    bits_ = buffer<std::uint64_t>(words);
    bits_.zero();
    for (std::int64_t h = 0; h < num_hubs_; ++h)
      for (const auto w : oriented.row(first_ + h)) set(bits_.data() + starts_[h] - h / word_bits, w - first_);
  }

  std::int64_t first() const { return first_; }  // the lowest rank that is a hub
  std::int64_t num_words() const { return num_words_; }
  std::int64_t first_word(std::int64_t rank) const { return (rank - first_) / word_bits; }
  const std::uint64_t* row(std::int64_t rank) const { return bits_.data() + starts_[rank - first_]; }

  // Computes where the bits of each word begin in the row of neighbors, so that a bit can be mapped to an entry of the
  // graph.
  void count_before() {
    before_ = buffer<std::int32_t>(bits_.size());
    for (std::int64_t h = 0; h < num_hubs_; ++h) {
      std::int32_t before = 0;
      for (auto w = starts_[h]; w < starts_[h + 1]; ++w) {
        before_[w] = before;
        before += std::popcount(bits_[w]);
      }
    }
  }
  // The place, in the neighbors of `rank`, of bit `bit` in word `word` of its bit row. Requires count_before().
  std::int64_t place(std::int64_t rank, std::int64_t word, int bit) const {
    const auto w = starts_[rank - first_] + word;
    return before_[w] + std::popcount(bits_[w] & ((std::uint64_t{1} << bit) - 1));
  }

  static void set(std::uint64_t* words, std::int64_t bit) {
    words[bit / word_bits] |= std::uint64_t{1} << (bit % word_bits);
  }

 private:
  std::int64_t num_hubs_, first_, num_words_;
  buffer<std::int64_t> starts_;
  buffer<std::uint64_t> bits_;
  buffer<std::int32_t> before_;
};

}  // namespace graphlode::analytics
