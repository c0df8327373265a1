// edge_rank.hpp - PageRank over an edge list in the order it lies, without rows.
//
// Every edge adds what its source sends to the sum of its destination, on one thread: two edges may end at one vertex.
#pragma once
#include <cstdint>
#include <span>

#include "graphlode/control.hpp"
#include "graphlode/locality/edge_word.hpp"

namespace graphlode::locality {

// sums[destination] += sent[source] for every edge, in the order of the list.
void send(std::span<const edge_word> edges, sort_key key, const double* sent, double* sums, const control& ctl);

// The same, and the list is reordered in the same pass as reorder() in progressive.hpp does it.
void send_and_reorder(std::span<edge_word> edges, int lanes, int level, sort_key key, const double* sent, double* sums,
                      const control& ctl);

// What each vertex keeps between iterations.
struct vertex_state {
  std::span<double> values;
  std::span<const double> share;  // of its value that a vertex sends along each edge; 0 if no edge leaves it
  std::span<double> sent;         // value * share
  std::span<double> sums;         // what arrived
};

// Ends an iteration: values from sums, what is sent next, and sums that are 0 again. Returns how far the values moved,
// all together. Values of vertices that no edge leaves are spread over all vertices.
double settle(const vertex_state& state, double damping);

}  // namespace graphlode::locality
