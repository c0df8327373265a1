// cliques.cpp - k-cliques of a task by pivoting, by enumeration or by intersecting lists.
#include "graphlode/mining/cliques.hpp"

#include "cliques/run.hpp"

namespace graphlode::mining {

template <class Vertex>
leaf_counts count_cliques(const roots_view<Vertex>& view, entry_range task, int k, clique_method method,
                          const local_counts& local, int threads, const control& ctl) {
  return clique_run<Vertex>(view, task, {k, true}, method, local).on(threads, ctl);
}

template leaf_counts count_cliques(const roots_view<std::int32_t>&, entry_range, int, clique_method,
                                   const local_counts&, int, const control&);
template leaf_counts count_cliques(const roots_view<std::int64_t>&, entry_range, int, clique_method,
                                   const local_counts&, int, const control&);

}  // namespace graphlode::mining
