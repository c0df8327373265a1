// motifs/passes.hpp - the passes over the rows of a range, each of which gives some of the sums.
#pragma once
#include <cstdint>

#include "graphlode/mining/motifs.hpp"
#include "motifs/graph.hpp"
#include "motifs/hubs.hpp"
#include "motifs/neighborhoods.hpp"

namespace graphlode::mining::motifs {

struct row_range {
  std::int64_t begin, end;
};

// wedges and triangles.
motif_sums sum_small(const supported_view& graph, row_range rows, int threads, const control& ctl);

// What follows from degrees and from triangles at vertices and edges.
motif_sums sum_degrees(const motif_graph& graph, row_range rows, int threads, const control& ctl);

// Sums over triangles, and over pairs with common neighbors: k23, wedge_diamonds, wheels. With `squares` also squares,
// tailed_squares and houses. Middles that are hubs, and triangles whose lowest vertex is a hub, are left to sum_hubs.
motif_sums sum_pairs(const motif_graph& graph, const neighborhoods& around, const hub_classes& hubs, row_range rows,
                     bool squares, int threads, const control& ctl);

// What sum_pairs leaves out; all rows at once.
motif_sums sum_hubs(const motif_graph& graph, const hub_classes& hubs, int threads, const control& ctl);

// What the cycle pass is to find; `squares` only for all rows at once: it sees each 4-cycle from its highest vertex.
struct cycle_goal {
  bool five_cycles, squares;
};
motif_sums sum_cycles(const motif_graph& graph, row_range rows, cycle_goal goal, int threads, const control& ctl);

// k-cliques by the clique kernels, each at its lowest vertex; k at least 3.
wide count_cliques_of(const supported_view& graph, row_range rows, int k, int threads, const control& ctl);

}  // namespace graphlode::mining::motifs
