// entry_weights.hpp - the weight of every entry of an undirected graph's rows, from one weight per edge.
#pragma once
#include "graphlode/control.hpp"
#include "graphlode/csr.hpp"
#include "graphlode/memory.hpp"

namespace graphlode::graph {

// `edge_weights` has one value for each entry whose neighbor is above its row's vertex, in row order.
template <class Vertex>
buffer<double> weights_of_entries(const csr_view<Vertex>& symmetric, const double* edge_weights, int threads,
                                  const control& ctl);

}  // namespace graphlode::graph
