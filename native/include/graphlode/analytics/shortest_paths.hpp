// shortest_paths.hpp - distances from a source along edges of non-negative length, and a tree of shortest ways.
#pragma once
#include <cstdint>

#include "graphlode/control.hpp"
#include "graphlode/csr.hpp"
#include "graphlode/memory.hpp"

namespace graphlode::analytics {

template <class Vertex>
struct shortest_path_tree {
  buffer<double> distances;  // infinite: not reached
  buffer<Vertex> parents;    // as told in shortest_path_parents.hpp; -1 for the source and whoever is not reached
  std::int64_t reached = 0;
};

// `lengths` has one value per entry. `bucket_width` is positive and changes the time that it takes, never the answer.
// `symmetric` says that every row is also the row of those who lead to its vertex, with the same lengths.
template <class Vertex>
shortest_path_tree<Vertex> find_shortest_paths(const csr_view<Vertex>& graph, const double* lengths,
                                               std::int64_t source, double bucket_width, bool symmetric, int threads,
                                               const control& ctl);

}  // namespace graphlode::analytics
