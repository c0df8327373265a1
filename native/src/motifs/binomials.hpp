// motifs/binomials.hpp - binomials of degrees and of triangle counts, in 64 bits where they fit.
//
// Degrees and numbers at an edge are below 2^31. A 128-bit division takes ten times as long as everything else, so it
// is used only where necessary.
#pragma once
#include <cstdint>

#include "graphlode/mining/motifs.hpp"

namespace graphlode::mining::motifs {

// The 128-bit product of two 64-bit numbers.
inline wide product(std::uint64_t a, std::uint64_t b) { return static_cast<wide>(a) * b; }

// C(x, 2) for x < 2^32.
inline std::uint64_t choose2(std::uint64_t x) { return x * (x - 1) / 2; }
inline wide wide_choose2(std::uint64_t x) { return product(x, x - 1) / 2; }
inline wide choose3(std::uint64_t x) {
  constexpr std::uint64_t fits = std::uint64_t{1} << 21;
  if (x < 3) return 0;
  return x < fits ? static_cast<wide>(x * (x - 1) * (x - 2) / 6) : product(choose2(x), x - 2) / 3;
}
inline wide choose4(std::uint64_t x) {
  constexpr std::uint64_t fits = std::uint64_t{1} << 16;
  if (x < 4) return 0;
  return x < fits ? static_cast<wide>(x * (x - 1) * (x - 2) / 6 * (x - 3) / 4) : choose3(x) * (x - 3) / 4;
}

}  // namespace graphlode::mining::motifs
