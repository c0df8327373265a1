// build.hpp - builds a simple graph in compressed rows from arrays of edges.
#pragma once
#include <cstdint>
#include <span>

#include "graphlode/control.hpp"
#include "graphlode/csr.hpp"
#include "graphlode/memory.hpp"

namespace graphlode::graph {

struct build_options {
  std::int64_t num_vertices = -1;  // -1: the vertices are the ids that occur; otherwise 0 .. num_vertices - 1
  bool directed = false;
  bool keep_positions = false;  // also return the input edge of each entry (the last one of equal edges)
  int threads = 1;
};

template <class Vertex>
struct build_result {
  csr<Vertex> graph;
  buffer<std::int64_t> ids;        // original id of each vertex; empty: 0, 1, 2, ...
  buffer<std::int64_t> positions;  // input edge of each entry; empty unless requested
  std::int64_t num_vertices = 0;
  std::int64_t num_edges = 0;  // an undirected edge counts once
  std::int64_t self_loops = 0;
  std::int64_t duplicates = 0;
};

// Drops and counts self-loops and repeated edges. Rows are sorted. Ids may be any integers if num_vertices is -1;
// otherwise throws input_error for an id outside 0 .. num_vertices - 1.
template <class Id, class Vertex>
build_result<Vertex> build(std::span<const Id> src, std::span<const Id> dst, const build_options& options,
                           const control& ctl);

}  // namespace graphlode::graph
