// order.hpp - total orders of the vertices for orienting a graph.
#pragma once
#include <cstdint>

#include "graphlode/control.hpp"
#include "graphlode/csr.hpp"
#include "graphlode/memory.hpp"

namespace graphlode::graph {

// Vertices by ascending key, ties by vertex: a stable counting sort. Keys lie in 0 .. num_keys - 1.
template <class Vertex, class Key>
buffer<Vertex> order_by_key(const Key* keys, std::int64_t num_vertices, std::int64_t num_keys);

// Like order_by_key, but returns the original id of each vertex.
buffer<std::int64_t> ids_by_key(const std::int32_t* keys, const std::int64_t* ids, std::int64_t num_vertices,
                                std::int64_t num_keys);

// Vertices by ascending degree, ties by vertex.
template <class Vertex>
buffer<Vertex> order_by_degree(const csr_view<Vertex>& graph);

// An approximate core order in few rounds: each round takes all vertices whose remaining degree is at most 3/2 of the
// average. If vertices are ranked by round, then by vertex, no row of the oriented graph is longer than three times the
// degeneracy.
template <class Vertex>
buffer<Vertex> order_by_approximate_core(const csr_view<Vertex>& graph, int threads, const control& ctl);

}  // namespace graphlode::graph
