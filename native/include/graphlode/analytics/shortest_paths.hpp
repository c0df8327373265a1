// shortest_paths.hpp - distances from a source along edges of nonnegative length, and a tree of shortest paths.
#pragma once
#include <cstdint>

#include "graphlode/control.hpp"
#include "graphlode/csr.hpp"
#include "graphlode/memory.hpp"

namespace graphlode::analytics {

template <class Vertex>
struct shortest_path_tree {
  buffer<double> distances;  // infinite: not reached
  buffer<Vertex> parents;    // see shortest_path_parents.hpp; -1 for the source and unreached vertices
  std::int64_t reached = 0;
};

// `lengths` has one value per entry. `bucket_width` is positive; it affects the time, never the result. `symmetric`
// says that every entry exists in both directions, with equal lengths.
template <class Vertex>
shortest_path_tree<Vertex> find_shortest_paths(const csr_view<Vertex>& graph, const double* lengths,
                                               std::int64_t source, double bucket_width, bool symmetric, int threads,
                                               const control& ctl);

}  // namespace graphlode::analytics
