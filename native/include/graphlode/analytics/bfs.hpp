// bfs.hpp - levels and parents of a breadth-first search.
#pragma once
#include <cstdint>

#include "graphlode/control.hpp"
#include "graphlode/memory.hpp"
#include "graphlode/rows.hpp"

namespace graphlode::analytics {

template <class Vertex>
struct bfs_tree {
  buffer<Vertex> levels;   // -1: not reached
  buffer<Vertex> parents;  // the lowest neighbor on the previous level; -1 for the source and unreached vertices
  std::int64_t reached = 0;
  std::int64_t depth = 0;
};

// `symmetric` says that every entry exists in both directions, which allows backward (bottom-up) steps.
template <class Rows>
bfs_tree<typename Rows::vertex> search_breadth_first(const Rows& rows, std::int64_t source, bool symmetric, int threads,
                                                     const control& ctl);

}  // namespace graphlode::analytics
