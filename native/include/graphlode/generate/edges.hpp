// edges.hpp - the result of every generator: the two ends of each edge, in two arrays.
#pragma once
#include "graphlode/memory.hpp"

namespace graphlode::generate {

template <class Vertex>
struct edges {
  explicit edges(std::size_t size) : src(size), dst(size) {}
  buffer<Vertex> src, dst;
};

}  // namespace graphlode::generate
