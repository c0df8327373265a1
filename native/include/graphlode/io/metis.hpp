// metis.hpp - the body of a METIS file: line i lists the neighbors of vertex i, counted from 1.
#pragma once
#include <cstdint>
#include <span>

#include "graphlode/control.hpp"
#include "graphlode/io/text.hpp"
#include "graphlode/memory.hpp"

namespace graphlode::io {

struct adjacency_layout {
  std::int64_t num_vertices = 0;
  int skipped = 0;        // numbers at the start of each line that describe the vertex
  bool weighted = false;  // each neighbor is followed by the value of the edge
  value_kind values = value_kind::none;
};

struct adjacency {
  buffer<std::int64_t> offsets;    // num_vertices + 1
  buffer<std::int64_t> neighbors;  // 0-based, in the order of the file
  buffer<double> weights;          // empty unless kept
  buffer<std::int64_t> times;      // empty unless kept
  bool symmetric = true;           // every edge is listed by both ends, with the same value
};

// `symmetric` compares 64-bit fingerprints of the entries below and above the diagonal. False is certain; true is wrong
// with probability 2^-64. Throws input_error "line N: ..." for the first malformed line; the first line of `text` has
// the number `first_line`. Throws memory_limit_error if the rows take more than `max_bytes`.
adjacency parse_adjacency(std::span<const char> text, const adjacency_layout& layout, std::int64_t first_line,
                          std::int64_t chunk_bytes, std::int64_t max_bytes, int threads, const control& ctl);

}  // namespace graphlode::io
