// maximal_cliques.cpp - lists every maximal clique, from its lowest-ranked vertex.
//
// For each root the later neighbors become candidates and the earlier ones excluded rows (maximal/problem.hpp); then
// maximal/search.hpp searches below it. In a degeneracy order every root has few candidates, which bounds the search by
// n * d * 3^(d/3) for a degeneracy d (Eppstein, Loeffler and Strash). Building the rows takes at most m * d steps.
// Threads share roots and branches (maximal/pool.hpp).
#include "graphlode/mining/maximal_cliques.hpp"

#include <atomic>
#include <memory>
#include <utility>

#include "graphlode/parallel.hpp"
#include "maximal/search.hpp"

namespace graphlode::mining {
namespace {

using maximal::branch_pool;
using maximal::maximal_branch;

template <class Vertex>
class maximal_searcher {
 public:
  maximal_searcher(const csr_view<Vertex>& oriented, const csr_view<Vertex>& earlier, const std::int64_t* names,
                   const maximal_options& options, const control& ctl, const clique_sink& sink,
                   branch_pool<maximal_branch>& pool)
      : graph_(oriented), earlier_(earlier), names_(names), builder_(oriented), search_(sink, options, pool, ctl) {}

  void root(std::int64_t u) {
    const auto num_candidates = graph_.degree(u);
    if (num_candidates + 1 < search_.min_size) return;
    if (num_candidates == 0) {
      if (earlier_.degree(u) > 0) return;
      search_.held.assign(1, names_[u]);
      search_.writer.write(search_.held);
      return;
    }
    const auto in = search_.slots.free_slot(num_candidates);
    if (builder_.build(*in, u, earlier_.row(u), names_)) search_.from_root(in, names_[u]);
  }
  void branch(const maximal_branch& given) { search_.from_branch(given); }
  void finish() { search_.writer.flush(); }

 private:
  csr_view<Vertex> graph_;
  csr_view<Vertex> earlier_;
  const std::int64_t* names_;
  maximal::problem_builder<Vertex> builder_;
  maximal::maximal_search search_;
};

// Atomic only with several threads, because locked additions wait for each other's cache misses.
std::int64_t fetch_add(std::int64_t& counter, std::int64_t value, bool alone) {
  if (alone) return std::exchange(counter, counter + value);
  return std::atomic_ref(counter).fetch_add(value, std::memory_order_relaxed);
}

}  // namespace

template <class Vertex>
csr<Vertex> transpose(const csr_view<Vertex>& oriented, int threads, const control& ctl) {
  constexpr std::int64_t grain = 1 << 14;
  const auto n = oriented.num_vertices;
  const auto size = oriented.num_entries();
  threads = worthwhile_threads(size, threads);
  csr<Vertex> result{buffer<std::int64_t>(static_cast<std::size_t>(n) + 1, 0),
                     buffer<Vertex>(static_cast<std::size_t>(size))};
  auto* const offsets = result.offsets.data();
  // Counts, then the ends of the rows, from which every entry takes its place downwards.
  const bool alone = threads == 1;
  parallel_chunks(0, size, grain, threads, ctl, [&](int, std::int64_t begin, std::int64_t end) {
    for (auto e = begin; e < end; ++e) fetch_add(offsets[oriented.neighbors[e]], 1, alone);
  });
  for (std::int64_t v = 0; v < n; ++v) offsets[v + 1] += offsets[v];
  parallel_chunks(0, n, grain, threads, ctl, [&](int, std::int64_t begin, std::int64_t end) {
    for (auto u = begin; u < end; ++u)
      for (const auto v : oriented.row(u))
        result.neighbors[fetch_add(offsets[v], -1, alone) - 1] = static_cast<Vertex>(u);
  });
  return result;
}

template <class Vertex>
void list_maximal_cliques(const csr_view<Vertex>& oriented, const csr_view<Vertex>& earlier, const std::int64_t* names,
                          std::int64_t begin, std::int64_t end, const maximal_options& options, const control& ctl,
                          const clique_sink& sink) {
  branch_pool<maximal_branch> pool;
  maximal::search_shared(begin, end, options.threads, ctl, pool,
                         [&] { return maximal_searcher<Vertex>(oriented, earlier, names, options, ctl, sink, pool); });
}

template csr<std::int32_t> transpose(const csr_view<std::int32_t>&, int, const control&);
template csr<std::int64_t> transpose(const csr_view<std::int64_t>&, int, const control&);
template void list_maximal_cliques(const csr_view<std::int32_t>&, const csr_view<std::int32_t>&, const std::int64_t*,
                                   std::int64_t, std::int64_t, const maximal_options&, const control&,
                                   const clique_sink&);
template void list_maximal_cliques(const csr_view<std::int64_t>&, const csr_view<std::int64_t>&, const std::int64_t*,
                                   std::int64_t, std::int64_t, const maximal_options&, const control&,
                                   const clique_sink&);

}  // namespace graphlode::mining
