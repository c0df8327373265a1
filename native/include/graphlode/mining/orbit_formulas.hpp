// orbit_formulas.hpp - from raw arrays to orbits: how often a vertex or edge takes each place in all copies of the
// patterns, induced or not.
//
// A main term extends a vertex, an edge or a triangle in ways that are multiplied or summed up; where the extensions
// can coincide, smaller orbits of the same vertex or edge are taken off again. Which and how often was found by fitting
// on random graphs, and holds on every graph that was tried. Everything is computed in 128 bits, which no term leaves.
#pragma once
#include <array>
#include <cstdint>
#include <span>

#include "graphlode/control.hpp"
#include "graphlode/mining/orbits.hpp"
#include "graphlode/mining/supports.hpp"

namespace graphlode::mining::motifs {

struct orbit_request {
  int size;                               // 4 or 5
  std::span<const std::int64_t> matrix;   // from all copies to induced ones, row by row; empty: all copies are wanted
  std::span<const std::int32_t> columns;  // numbers of the orbits, in the order of the output
  const rank* vertices;                   // the vertex of each rank
  double limit;                           // raw arrays of 5 vertices hold numbers below it
};

// One column after the other, by vertex or by edge, in the order of the graph's vertices and edges.
struct orbit_columns {
  std::int64_t* low;   // what fits 64 bits, or else the lower half
  std::int64_t* high;  // the upper half; null: nobody expects one
};

// Both return false as soon as a value does not fit 64 bits and has no place for its upper half. Both throw
// count_overflow if raw arrays might have overflowed.
bool vertex_orbits(const supported_view& graph, const raw_pointers& raw, const orbit_request& request,
                   const orbit_columns& output, int threads, const control& ctl);
bool edge_orbits(const supported_view& graph, const raw_pointers& raw, const orbit_request& request,
                 const orbit_columns& output, int threads, const control& ctl);

}  // namespace graphlode::mining::motifs
