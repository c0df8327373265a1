// orbit_formulas.hpp - computes orbits from raw arrays: how often a vertex or edge has each position in all copies of
// the patterns, induced or not.
//
// A main term extends a vertex, an edge or a triangle in ways that are multiplied or added. Where the extensions can
// coincide, smaller orbits of the same vertex or edge are subtracted. The subtracted terms were found by fitting on
// random graphs and hold on every graph that was tried. All terms fit the 128 bits of the computation.
#pragma once
#include <array>
#include <cstdint>
#include <span>

#include "graphlode/control.hpp"
#include "graphlode/mining/orbits.hpp"
#include "graphlode/mining/supports.hpp"

namespace graphlode::mining::motifs {

struct orbit_request {
  int size;  // 4 or 5
  std::span<const std::int64_t>
      matrix;  // converts all copies to induced ones, row by row; empty: all copies are wanted
  std::span<const std::int32_t> columns;  // numbers of the orbits, in output order
  const rank* vertices;                   // the vertex of each rank
  double limit;                           // upper bound of the numbers in raw arrays of 5 vertices
};

// One column after the other, by vertex or by edge, in the order of the graph's vertices and edges.
struct orbit_columns {
  std::int64_t* low;   // the value, or its lower half if there is an upper half
  std::int64_t* high;  // the upper half; null: not wanted
};

// Both return false as soon as a value does not fit 64 bits and has no place for its upper half. Both throw
// count_overflow if raw arrays may have overflowed.
bool vertex_orbits(const supported_view& graph, const raw_pointers& raw, const orbit_request& request,
                   const orbit_columns& output, int threads, const control& ctl);
bool edge_orbits(const supported_view& graph, const raw_pointers& raw, const orbit_request& request,
                 const orbit_columns& output, int threads, const control& ctl);

}  // namespace graphlode::mining::motifs
