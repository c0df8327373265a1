// all_cliques.cpp - cliques of every size: the pivoting search without the closed forms for a single size.
#include "graphlode/mining/all_cliques.hpp"

#include "cliques/run.hpp"

namespace graphlode::mining {

template <class Vertex>
leaf_counts count_all_cliques(const roots_view<Vertex>& view, entry_range task, int max_k, int threads,
                              const control& ctl) {
  return clique_run<Vertex>(view, task, {max_k, false}, clique_method::pivot, {}).on(threads, ctl);
}

template leaf_counts count_all_cliques(const roots_view<std::int32_t>&, entry_range, int, int, const control&);
template leaf_counts count_all_cliques(const roots_view<std::int64_t>&, entry_range, int, int, const control&);

}  // namespace graphlode::mining
