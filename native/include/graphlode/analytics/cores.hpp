// cores.hpp - core numbers by peeling in rounds.
#pragma once
#include <cstdint>

#include "graphlode/control.hpp"
#include "graphlode/csr.hpp"
#include "graphlode/memory.hpp"

namespace graphlode::analytics {

struct peeling {
  buffer<std::int32_t> core;
  buffer<std::int32_t> round;
  std::int32_t num_rounds = 0;
};

// A round removes at once every remaining vertex whose remaining degree is at most k and gives it core number k; when
// none is left, k becomes the smallest remaining degree. The vertices by ascending round, ties in any fixed way, are a
// degeneracy order: whoever is removed in a round has at most k neighbors that are removed in it or later.
template <class Vertex>
peeling peel(const csr_view<Vertex>& symmetric, int threads, const control& ctl);

}  // namespace graphlode::analytics
