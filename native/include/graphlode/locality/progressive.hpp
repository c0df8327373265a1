// progressive.hpp - one pass of progressive reordering over an edge list.
#pragma once
#include <cstdint>
#include <span>

#include "graphlode/control.hpp"
#include "graphlode/locality/edge_word.hpp"

namespace graphlode::locality {

// Runs level `level` of the schedule in block_schedule.hpp: the edges of every step are sorted, and the j-th smallest
// takes the place of the step's edge of block j. Progress is counted in edges.
void reorder(std::span<edge_word> edges, int lanes, int level, int threads, const control& ctl);

}  // namespace graphlode::locality
