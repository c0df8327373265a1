// build.hpp - from arrays of edges to a simple graph in compressed rows.
#pragma once
#include <cstdint>
#include <span>

#include "graphlode/control.hpp"
#include "graphlode/csr.hpp"
#include "graphlode/memory.hpp"

namespace graphlode::graph {

struct build_options {
  std::int64_t num_vertices = -1;  // -1: the vertices are the ids that occur; else they are 0 .. num_vertices - 1
  bool directed = false;
  bool keep_positions = false;  // also say which input edge each entry came from (the last one of equal edges)
  int threads = 1;
};

template <class Vertex>
struct build_result {
  csr<Vertex> graph;
  buffer<std::int64_t> ids;        // original id of each vertex; empty: 0, 1, 2, ...
  buffer<std::int64_t> positions;  // input edge of each entry; empty unless asked for
  std::int64_t num_vertices = 0;
  std::int64_t num_edges = 0;  // an undirected edge counts once
  std::int64_t self_loops = 0;
  std::int64_t duplicates = 0;
};

// Self-loops and repeated edges are dropped and counted; rows come out sorted. Ids may be any integers when
// num_vertices is -1. Throws input_error for an id outside 0 .. num_vertices - 1.
template <class Id, class Vertex>
build_result<Vertex> build(std::span<const Id> src, std::span<const Id> dst, const build_options& options,
                           const control& ctl);

}  // namespace graphlode::graph
