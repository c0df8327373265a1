// bits.hpp - a set of vertices with one bit per vertex: it fits caches where an array of flags would not.
#pragma once
#include <atomic>
#include <bit>
#include <cstdint>

#include "graphlode/memory.hpp"

namespace graphlode {

inline bool contains_bit(const std::uint64_t* words, std::int64_t i) { return words[i >> 6] >> (i & 63) & 1; }

class bit_set {
 public:
  explicit bit_set(std::int64_t size) : size_(size), words_(static_cast<std::size_t>(num_words())) { words_.zero(); }

  std::int64_t num_words() const { return (size_ + 63) / 64; }
  std::uint64_t& word(std::int64_t i) { return words_[static_cast<std::size_t>(i)]; }
  const std::uint64_t* words() const { return words_.data(); }
  void insert(std::int64_t i) { word(i >> 6) |= std::uint64_t{1} << (i & 63); }
  void clear() { words_.zero(); }
  // For several threads that insert into the same word.
  void insert_shared(std::int64_t i) {
    std::atomic_ref(word(i >> 6)).fetch_or(std::uint64_t{1} << (i & 63), std::memory_order_relaxed);
  }
  // The missing members of a word; none beyond the end.
  std::uint64_t missing(std::int64_t i) const {
    const auto absent = ~words_.data()[i];
    return i + 1 < num_words() || size_ % 64 == 0 ? absent : absent & ((std::uint64_t{1} << size_ % 64) - 1);
  }

 private:
  std::int64_t size_;
  buffer<std::uint64_t> words_;
};

// Calls take(index) for each set bit of a word. The lowest bit has the index `first`.
template <class Take>
void for_each_bit(std::uint64_t word, std::int64_t first, Take&& take) {
  for (; word != 0; word &= word - 1) take(first + std::countr_zero(word));
}

}  // namespace graphlode
