// all_cliques.hpp - counts the cliques of every size of an oriented graph in one search by pivoting.
#pragma once
#include <cstdint>

#include "graphlode/mining/cliques.hpp"

namespace graphlode::mining {

// Counts leaves that stand for all cliques of 3 .. max_k vertices of the entries in `task`, and for some smaller ones:
// rows of fewer than two entries are not searched. For no bound, pass the largest int as max_k.
template <class Vertex>
leaf_counts count_all_cliques(const roots_view<Vertex>& view, entry_range task, int max_k, int threads,
                              const control& ctl);

}  // namespace graphlode::mining
