// format.hpp - writes edges and adjacency lines as text.
#pragma once
#include <cstdint>
#include <span>
#include <string>

#include "graphlode/memory.hpp"

namespace graphlode::io {

struct formatted {
  std::size_t size = 0;  // characters used of text
  buffer<char> text;
};

// Lines `prefix u separator v [separator value]`. At most one of weights and times is not empty. Weights have enough
// digits to be read back as the same double.
formatted format_edges(std::span<const std::int64_t> src, std::span<const std::int64_t> dst,
                       std::span<const double> weights, std::span<const std::int64_t> times, const std::string& prefix,
                       char separator, std::int64_t base);

// One line per vertex with its neighbors counted from 1, each followed by its value if there are values. offsets has
// one entry more than there are lines; its first entry is the position of the first neighbor.
formatted format_adjacency(std::span<const std::int64_t> offsets, std::span<const std::int64_t> neighbors,
                           std::span<const double> weights, std::span<const std::int64_t> times);

}  // namespace graphlode::io
