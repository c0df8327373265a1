// barabasi_albert.hpp - edges of the preferential attachment model (Barabasi and Albert, Science 286, 1999).
#pragma once
#include <cstdint>

#include "graphlode/control.hpp"
#include "graphlode/generate/edges.hpp"

namespace graphlode::generate {

// A star of m edges around vertex 0, then vertices m + 1 .. num_vertices - 1, each with m different earlier neighbors
// chosen in proportion to their degrees: m (num_vertices - m) edges. Needs 1 <= m < num_vertices <= 2^31.
edges<std::int32_t> barabasi_albert(std::int64_t num_vertices, std::int64_t m, std::uint64_t seed, const control& ctl);

}  // namespace graphlode::generate
