// oriented.hpp - each edge once, from the lower to the higher rank of an order.
#pragma once
#include <cstdint>

#include "graphlode/control.hpp"
#include "graphlode/csr.hpp"

namespace graphlode::graph {

// `order[rank]` is a vertex of the symmetric `graph`. Rows and entries of the result are ranks, sorted in each row.
template <class Vertex>
csr<Vertex> orient(const csr_view<Vertex>& graph, const Vertex* order, int threads, const control& ctl);

}  // namespace graphlode::graph
