// linked.hpp - the rows of the vertices that have an edge, with new vertex numbers.
//
// An algorithm with many iterations over all vertices saves time by skipping vertices without edges. In a recursive
// matrix graph these are half of all.
#pragma once
#include <cstdint>

#include "graphlode/control.hpp"
#include "graphlode/csr.hpp"
#include "graphlode/memory.hpp"

namespace graphlode::graph {

template <class Vertex>
struct linked_rows {
  csr<Vertex> rows;
  buffer<Vertex> vertices;  // the original vertex of each new number, ascending
};

// In `symmetric` rows, the length of a row says whether its vertex has an edge. Otherwise all entries are read.
template <class Vertex>
linked_rows<Vertex> link_rows(const csr_view<Vertex>& rows, bool symmetric, int threads, const control& ctl);

}  // namespace graphlode::graph
