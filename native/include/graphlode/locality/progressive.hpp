// progressive.hpp - a pass of progressive reordering over an edge list.
#pragma once
#include <cstdint>
#include <span>

#include "graphlode/control.hpp"
#include "graphlode/locality/edge_word.hpp"

namespace graphlode::locality {

// Level `level` of the schedule of block_schedule.hpp: the edges of every step are sorted, and the j-th smallest goes
// where the step's edge of block j was. Progress is counted in edges.
void reorder(std::span<edge_word> edges, int lanes, int level, int threads, const control& ctl);

}  // namespace graphlode::locality
