// text.hpp - edge lists as text: one edge per line, `u v` or `u v value`, with any separator.
#pragma once
#include <cstdint>
#include <span>
#include <string>

#include "graphlode/control.hpp"
#include "graphlode/memory.hpp"

namespace graphlode::io {

enum class value_kind { none, weights, times };

struct text_layout {
  char separator = ' ';  // ' ': any run of blanks; another character: exactly one, with optional blanks around it
  std::string comments;  // a line that starts with one of these is skipped
  char tag = 0;          // each edge line starts with this letter as a separate field; 0: none
  bool header = false;   // the first line may be column names
  int columns = 0;       // columns that each line must have, 2 or 3 (3: or more); 0: as the first line
  value_kind values = value_kind::none;  // the meaning of the third column
  std::int64_t num_vertices = -1;  // ids are 1..num_vertices and become 0-based; -1: ids are names, any 64-bit integers
  bool lower_triangle = false;     // the second id may not be larger than the first
};

// Edges in text order. The buffers may be longer than `num_edges`, because lines are counted before comments are
// recognized.
struct edge_columns {
  std::int64_t num_edges = 0;
  int columns = 2;  // 3: each line has three or more
  buffer<std::int64_t> src, dst;
  buffer<double> weights;      // empty unless kept
  buffer<std::int64_t> times;  // empty unless kept
};

// Throws input_error "line N: ..." for the first malformed line; the first line of `text` has the number `first_line`.
// Throws memory_limit_error if the edges take more than `max_bytes`.
edge_columns parse_edges(std::span<const char> text, const text_layout& layout, std::int64_t first_line,
                         std::int64_t chunk_bytes, std::int64_t max_bytes, int threads, const control& ctl);

}  // namespace graphlode::io
