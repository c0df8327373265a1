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

// A round removes all remaining vertices whose remaining degree is at most k, and gives them core number k. If there
// are none, k becomes the smallest remaining degree. Sorting the vertices by round, with ties broken in any fixed way,
// gives a degeneracy order: a removed vertex has at most k neighbors that are removed in its round or later.
template <class Vertex>
peeling peel(const csr_view<Vertex>& symmetric, int threads, const control& ctl);

}  // namespace graphlode::analytics
