// text.hpp - edge lists as text: one edge per line, `u v` or `u v value`, whatever separates the fields.
#pragma once
#include <cstdint>
#include <span>
#include <string>

#include "graphlode/control.hpp"
#include "graphlode/memory.hpp"

namespace graphlode::io {

enum class value_kind { none, weights, times };

struct text_layout {
  char separator = ' ';  // ' ': any run of blanks; another character: exactly one, blanks around it allowed
  std::string comments;  // a line that starts with one of these is skipped
  char tag = 0;          // each line of an edge starts with this letter as a field of its own; 0: none
  bool header = false;   // the first line may hold names of columns
  int columns = 0;       // columns each line must have, 2 or 3 (3: or more); 0: as many as the first line
  value_kind values = value_kind::none;  // what the third column is kept as
  std::int64_t num_vertices = -1;  // ids are 1..num_vertices and become 0-based; -1: ids are names, any 64-bit integer
  bool lower_triangle = false;     // the second id may not be larger than the first
};

// Edges in the order of the text. The buffers may be longer than `num_edges`: lines are counted before it is known
// which of them are comments.
struct edge_columns {
  std::int64_t num_edges = 0;
  int columns = 2;  // 3: each line has three or more
  buffer<std::int64_t> src, dst;
  buffer<double> weights;      // empty unless kept
  buffer<std::int64_t> times;  // empty unless kept
};

// Throws input_error "line N: ..." for the first malformed line; the first line of `text` has number `first_line`.
edge_columns parse_edges(std::span<const char> text, const text_layout& layout, std::int64_t first_line,
                         std::int64_t chunk_bytes, int threads, const control& ctl);

}  // namespace graphlode::io
