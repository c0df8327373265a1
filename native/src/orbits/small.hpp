// orbits/small.hpp - the orbits of 3 and 4 vertices at each vertex, from which all others are computed.
#pragma once
#include "graphlode/mining/orbit_formulas.hpp"

namespace graphlode::mining::motifs {

// Indexed by rank. Orbits 0, 2, 5, 7 and 11 follow from these and the degree. These fit 64 bits in a graph of 2^31
// edges.
struct small_orbits {
  std::int64_t o1, o3, o4, o6, o8, o9, o10, o12, o13, o14;
};

// `raw` has e5 and e11 and, for edges, fans instead of o12.
buffer<small_orbits> count_small_orbits(const supported_view& graph, const raw_pointers& raw, bool of_edges,
                                        int threads, const control& ctl);

// An upper bound for the copies of any pattern in raw arrays that contain a vertex. A pattern with a path through all
// its vertices has at most as many copies at a vertex as there are paths of four edges, and the same holds for edges;
// main terms exceed this by less than a factor of two. Patterns without such a path are in no raw array.
double most_copies(const supported_view& graph, const buffer<small_orbits>& small, int threads, const control& ctl);

// Throws count_overflow if raw arrays, whose numbers are below `limit`, may not be able to hold this many.
void require_raw_fits(double most, double limit);

// A number of a raw array, counted once.
inline std::int64_t raw_value(const raw_pointers& raw, enum raw which, std::int64_t i) {
  return raw[static_cast<std::size_t>(which)][i] / multiple_of(which);
}

}  // namespace graphlode::mining::motifs
