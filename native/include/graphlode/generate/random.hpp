// random.hpp - random numbers that are a pure function of (seed, stream, counter).
//
// Word i of a stream is the i-th output of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014), started at a hash of the
// seed and the stream's number. Any word can be computed on its own. So threads can generate parts of a graph without
// passing state on, and the result does not depend on the number of threads. Two seeds start 2^64 / 2 positions apart
// on average, so streams of 10^12 words overlap with a probability of about 10^-7.
#pragma once
#include <bit>
#include <cstdint>

namespace graphlode::generate {

inline constexpr std::uint64_t golden = 0x9E3779B97F4A7C15;  // 2^64 / golden ratio, odd: the step of the counter

constexpr std::uint64_t mix(std::uint64_t x) noexcept {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
  return x ^ (x >> 31);
}

// One number for each use of random words, so that no two uses share words.
enum class purpose : std::uint64_t { words, rmat, labels, pairs, attachment, rewiring };

class stream {
 public:
  constexpr stream(std::uint64_t seed, purpose use, std::uint64_t part = 0) noexcept
      : start_(mix(mix(mix(seed + golden) + static_cast<std::uint64_t>(use) + 1) + (part + 1) * golden)) {}

  constexpr std::uint64_t word(std::uint64_t counter) const noexcept { return mix(start_ + (counter + 1) * golden); }

 private:
  std::uint64_t start_;
};

// A value below `bound` from one word. The bias is at most bound / 2^64.
__extension__ using wide = unsigned __int128;
constexpr std::uint64_t below(std::uint64_t word, std::uint64_t bound) noexcept {
  return static_cast<std::uint64_t>((static_cast<wide>(word) * bound) >> 64);
}

// A value in (0, 1], never 0, so that its logarithm is finite.
constexpr double unit(std::uint64_t word) noexcept { return static_cast<double>((word >> 11) + 1) * 0x1p-53; }

// A keyed permutation of [0, size) in which any entry can be computed on its own: a Feistel network on the smallest
// power of two that holds `size`, applied repeatedly until the value is below `size` (at most twice on average).
class permutation {
 public:
  permutation(std::uint64_t seed, purpose use, std::uint64_t size) noexcept : size_(size) {
    const int bits = size > 1 ? static_cast<int>(std::bit_width(size - 1)) : 0;
    low_bits_ = bits / 2;
    low_mask_ = (std::uint64_t{1} << low_bits_) - 1;
    high_mask_ = (std::uint64_t{1} << (bits - low_bits_)) - 1;
    const stream keys(seed, use, ~std::uint64_t{0});
    for (int round = 0; round < rounds; ++round) keys_[round] = keys.word(static_cast<std::uint64_t>(round));
  }

  std::uint64_t operator()(std::uint64_t index) const noexcept {
    if (low_bits_ == 0) return size_ == 2 ? index ^ (keys_[0] & 1) : index;
    do index = step(index);
    while (index >= size_);
    return index;
  }

 private:
  static constexpr int rounds = 8;

  std::uint64_t step(std::uint64_t index) const noexcept {
    std::uint64_t low = index & low_mask_, high = index >> low_bits_;
    for (int round = 0; round < rounds; round += 2) {
      high ^= mix(low + keys_[round]) & high_mask_;
      low ^= mix(high + keys_[round + 1]) & low_mask_;
    }
    return high << low_bits_ | low;
  }

  std::uint64_t size_, low_mask_, high_mask_, keys_[rounds];
  int low_bits_;
};

}  // namespace graphlode::generate
