// rewire.hpp - random graphs with the degrees of a given graph: the null model for motif counts.
#pragma once
#include <cstdint>

#include "graphlode/control.hpp"

namespace graphlode::mining {

// Edges of a simple undirected graph, each once, in any order and direction.
struct edge_list {
  const std::int32_t* src;
  const std::int32_t* dst;
  std::int64_t num_edges;
};

// Makes samples first .. first + samples - 1. Each is a copy of the edges in which, `attempts` times, two random edges
// exchange their ends, unless that would make a self-loop or a repeated edge. Sample i is written to src[i * num_edges
// ..] and dst[i * num_edges ..], i from 0 on. It depends only on the seed and its number. Samples are made in parallel;
// each takes at least 16 bytes per edge.
void rewire(const edge_list& edges, std::int64_t attempts, std::uint64_t seed, std::int64_t first, std::int64_t samples,
            std::int32_t* src, std::int32_t* dst, int threads, const control& ctl);

}  // namespace graphlode::mining
