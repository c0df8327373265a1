// row_sums.hpp - sums of several values along the rows of a graph, in one pass: what orbits are made of.
#pragma once
#include <cstdint>

#include "graphlode/control.hpp"
#include "graphlode/csr.hpp"

namespace graphlode::mining {

inline constexpr int most_columns = 16;

// sums[v * columns + c] = the sum over the entries of row v, to a neighbour w by an edge e, of weights[e] times
// values[w * columns + c]; without weights they are all 1 and `edges` is not looked at. Returns a bit for each column
// of which a sum does not fit 64 bits.
template <class Vertex, class Edge>
std::uint32_t row_sums(const csr_view<Vertex>& graph, const Edge* edges, const std::int64_t* weights,
                       const std::int64_t* values, int columns, std::int64_t* sums, int threads, const control& ctl);

}  // namespace graphlode::mining
