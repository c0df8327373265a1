// motifs/triangle.hpp - what one triangle a < b < c adds to the sums over triangles.
#pragma once
#include <array>
#include <cstdint>

#include "motifs/binomials.hpp"

namespace graphlode::mining::motifs {

struct triangle_numbers {
  std::array<std::int64_t, 3> degrees;   // of a, b, c
  std::array<std::int32_t, 3> opposite;  // triangles at bc, ac, ab
  std::int64_t above;                    // neighbors of a, b and c that rank above c, each for itself
  std::uint64_t cliques;                 // common neighbors of all three
};

inline void add_triangle_sums(const triangle_numbers& t, motif_sums& sums) {
  std::array<std::uint64_t, 3> tails, others;
  for (std::size_t i = 0; i < 3; ++i) {
    tails[i] = static_cast<std::uint64_t>(t.degrees[i] - 2);
    others[i] = static_cast<std::uint64_t>(t.opposite[i] - 1);
  }
  sums[sum::cobras] += others[0] * tails[0] + others[1] * tails[1] + others[2] * tails[2];
  sums[sum::gems] += others[0] * others[1] + others[0] * others[2] + others[1] * others[2];
  sums[sum::five_cycle_corrections] += static_cast<std::uint64_t>(t.above);
  if (!t.cliques) return;
  sums[sum::cliques4] += t.cliques;
  sums[sum::tailed_cliques] += product(t.cliques, tails[0] + tails[1] + tails[2] - 3);
  sums[sum::hatted] += product(t.cliques, others[0] + others[1] + others[2] - 3);
  sums[sum::almost_cliques] += choose2(t.cliques);
}

}  // namespace graphlode::mining::motifs
