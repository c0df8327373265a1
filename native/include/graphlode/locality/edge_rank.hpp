// edge_rank.hpp - PageRank over an edge list in list order, without rows.
//
// Every edge adds its source's value to the sum of its destination. One thread works, because two edges may have the
// same destination.
#pragma once
#include <cstdint>
#include <span>

#include "graphlode/control.hpp"
#include "graphlode/locality/edge_word.hpp"

namespace graphlode::locality {

// sums[destination] += sent[source] for every edge, in list order.
void send(std::span<const edge_word> edges, sort_key key, const double* sent, double* sums, const control& ctl);

// The same, and reorders the list in the same pass, as reorder() in progressive.hpp does.
void send_and_reorder(std::span<edge_word> edges, int lanes, int level, sort_key key, const double* sent, double* sums,
                      const control& ctl);

// The state of the vertices between iterations.
struct vertex_state {
  std::span<double> values;
  std::span<const double> share;  // the part of its value that a vertex sends along each edge; 0 if no edge leaves it
  std::span<double> sent;         // value * share
  std::span<double> sums;         // what arrived
};

// Ends an iteration: computes values and what is sent next, and clears the sums. Returns the sum of the changes of the
// values. The values of vertices without outgoing edges are spread over all vertices.
double settle(const vertex_state& state, double damping);

}  // namespace graphlode::locality
