// orbits/blocks.cpp - the one loop of the conversion that profits from wide registers.
#include "orbits/blocks.hpp"

#include "graphlode/clones.hpp"

namespace graphlode::mining::motifs {

GRAPHLODE_CLONES void add_terms(const orbit_terms& terms, const std::array<std::int64_t, block_size>* columns,
                                std::array<std::uint64_t, block_size>& sums) {
  for (const auto& [orbit, factor] : terms) {
    const auto* const values = columns[orbit].data();
    const auto times = static_cast<std::uint64_t>(factor);
    if (factor == 1)
      for (std::size_t i = 0; i < block_size; ++i) sums[i] += static_cast<std::uint64_t>(values[i]);
    else
      for (std::size_t i = 0; i < block_size; ++i) sums[i] += times * static_cast<std::uint64_t>(values[i]);
  }
}

}  // namespace graphlode::mining::motifs
