// orbits/small.hpp - the orbits of 3 and 4 vertices at each vertex, which all others are made of.
#pragma once
#include "graphlode/mining/orbit_formulas.hpp"

namespace graphlode::mining::motifs {

// By rank. Orbits 0, 2, 5, 7 and 11 follow from these and the degree; these fit 64 bits in a graph of 2^31 edges.
struct small_orbits {
  std::int64_t o1, o3, o4, o6, o8, o9, o10, o12, o13, o14;
};

// `raw` has e5 and e11 and, at edges, fans instead of o12.
buffer<small_orbits> count_small_orbits(const supported_view& graph, const raw_pointers& raw, bool of_edges,
                                        int threads, const control& ctl);

// More copies of any pattern in raw arrays than a vertex is in. It is in at most as many copies of a pattern with a
// path along all its vertices as in paths of four edges, and so it is with the edges; main terms have less than that
// again too much. Patterns without such a path are in no raw array.
double most_copies(const supported_view& graph, const buffer<small_orbits>& small, int threads, const control& ctl);

// Throws count_overflow if raw arrays, which hold less than `limit`, may not hold so many.
void require_raw_fits(double most, double limit);

// A number of a raw array, once.
inline std::int64_t raw_value(const raw_pointers& raw, enum raw which, std::int64_t i) {
  return raw[static_cast<std::size_t>(which)][i] / multiple_of(which);
}

}  // namespace graphlode::mining::motifs
