// rewire.hpp - random graphs with the degrees of a given one: the null model that motif counts are compared with.
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

// Makes samples first .. first + samples - 1: each is a copy of the edges in which, `attempts` times, two edges chosen
// at random exchange their ends, unless that would make a self edge or an edge twice. Sample i is written to src[i *
// num_edges ..] and dst[i * num_edges ..], i from 0 on. It depends on the seed and its number only. Samples are made in
// parallel; one takes at least 16 bytes per edge while it is made.
void rewire(const edge_list& edges, std::int64_t attempts, std::uint64_t seed, std::int64_t first, std::int64_t samples,
            std::int32_t* src, std::int32_t* dst, int threads, const control& ctl);

}  // namespace graphlode::mining
