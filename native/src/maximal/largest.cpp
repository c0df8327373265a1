// maximal/largest.cpp - one clique of the largest size; see maximal/largest.hpp.
//
// Roots are taken from the highest rank down: their problems are small and lie in the densest part, so that a large
// clique is known before the many other roots come, most of which then have too few later neighbors and are skipped.
#include "maximal/largest.hpp"

#include <algorithm>
#include <utility>

#include "graphlode/clones.hpp"
#include "graphlode/mining/maximal_cliques.hpp"

namespace graphlode::mining::maximal {
namespace {

constexpr std::int64_t least_given = 16;

// Colors the candidates at bits[at ..] and puts a frame on the stack if some of them need a branch.
template <int Width>
[[gnu::always_inline]] inline void open_node(bound_search& s, const problem& in, std::int64_t at,
                                             std::int64_t order_from) {
  const std::int64_t words = Width ? Width : in.words;
  s.bits.reserve(at + 3 * words);
  word* const candidates = s.bits.data() + at;
  word* const left = candidates + words;
  word* const colorable = left + words;
  std::int64_t size = 0;
  for (std::int64_t k = 0; k < words; ++k) {
    left[k] = candidates[k];
    size += __builtin_popcountll(candidates[k]);
  }
  s.order.reserve(order_from + size);
  const auto held = static_cast<std::int64_t>(s.held.size());
  const auto enough = s.best.size() - held;  // so many colors cannot give a larger clique
  auto end = order_from;
  std::int64_t first = 0;
  for (std::uint32_t color = 1;; ++color) {
    while (first < words && left[first] == 0) ++first;
    if (first == words) break;
    for (std::int64_t k = first; k < words; ++k) colorable[k] = left[k];
    for (std::int64_t k = first; k < words; ++k) {
      while (colorable[k]) {
        const word lowest = colorable[k] & -colorable[k];
        const auto v = 64 * k + std::countr_zero(lowest);
        const word* const joined = in.row(v);
        left[k] ^= lowest;
        colorable[k] ^= lowest;
        for (std::int64_t j = k; j < words; ++j) colorable[j] &= ~joined[j];
        if (color > enough) s.order[end++] = {static_cast<std::uint32_t>(v), color};
      }
    }
  }
  if (end > order_from) s.frames.push_back({held, at, order_from, end});
}

template <int Width>
[[gnu::always_inline]] inline void search(bound_search& s, const std::shared_ptr<const problem>& owner,
                                          std::int64_t at) {
  const problem& in = *owner;
  const std::int64_t words = Width ? Width : in.words;
  const auto floor = s.frames.size();
  open_node<Width>(s, in, at, 0);
  while (s.frames.size() > floor) {
    s.tick(64 * words * words);
    auto& node = s.frames.back();
    s.held.resize(static_cast<std::size_t>(node.held));
    if (node.order == node.order_end || node.held + s.order[node.order_end - 1].color <= s.best.size()) {
      s.frames.pop_back();
      continue;
    }
    const auto v = s.order[--node.order_end].vertex;
    s.bits.reserve(node.bits + 2 * words);
    word* const candidates = s.bits.data() + node.bits;
    word* const fewer = candidates + words;
    const word* const joined = in.row(v);
    clear_bit(candidates, v);
    std::int64_t size = 0;
    for (std::int64_t k = 0; k < words; ++k) {
      fewer[k] = candidates[k] & joined[k];
      size += __builtin_popcountll(fewer[k]);
    }
    s.held.push_back(in.names[v]);
    if (size == 0) {
      s.best.offer(s.held);
    } else if (node.held + 1 + size <= s.best.size()) {
      continue;
    } else if (size >= least_given && s.pool.wanted()) {
      s.give_away(owner, node.bits + words);
    } else {
      open_node<Width>(s, in, node.bits + words, node.order_end);
    }
  }
}

using owned = std::shared_ptr<const problem>;

// An exception must not leave a cloned function: the compiler takes what chooses between clones for one that never
// throws. It is kept, and `descend` throws it again.
template <int Width>
[[gnu::always_inline]] inline void search_guarded(bound_search& s, const owned& in, std::int64_t at) {
  try {
    search<Width>(s, in, at);
  } catch (...) {
    s.failure = std::current_exception();
  }
}

GRAPHLODE_CLONES void search_1(bound_search& s, const owned& in, std::int64_t at) { search_guarded<1>(s, in, at); }
GRAPHLODE_CLONES void search_2(bound_search& s, const owned& in, std::int64_t at) { search_guarded<2>(s, in, at); }
GRAPHLODE_CLONES void search_4(bound_search& s, const owned& in, std::int64_t at) { search_guarded<4>(s, in, at); }
GRAPHLODE_CLONES void search_8(bound_search& s, const owned& in, std::int64_t at) { search_guarded<8>(s, in, at); }
GRAPHLODE_CLONES void search_any(bound_search& s, const owned& in, std::int64_t at) { search_guarded<0>(s, in, at); }

GRAPHLODE_CLONES std::int64_t common(const word* a, const word* b, std::int64_t words) {
  std::int64_t count = 0;
  for (std::int64_t k = 0; k < words; ++k) count += __builtin_popcountll(a[k] & b[k]);
  return count;
}

void fill(word* bits, std::int64_t words, std::int64_t size) {
  std::fill_n(bits, words, word{0});
  for (std::int64_t i = 0; i < size; ++i) set_bit(bits, i);
}

}  // namespace

void best_clique::offer(std::span<const std::int64_t> clique) {
  const auto size = static_cast<std::int64_t>(clique.size());
  if (size <= this->size()) return;
  const std::lock_guard lock(mutex_);
  if (size <= this->size()) return;
  members_.assign(clique.begin(), clique.end());
  size_.store(size, std::memory_order_relaxed);
}

void bound_search::descend(const std::shared_ptr<const problem>& in, std::int64_t at) {
  switch (in->words) {
    case 1:
      search_1(*this, in, at);
      break;
    case 2:
      search_2(*this, in, at);
      break;
    case 4:
      search_4(*this, in, at);
      break;
    case 8:
      search_8(*this, in, at);
      break;
    default:
      search_any(*this, in, at);
  }
  if (failure) std::rethrow_exception(std::exchange(failure, nullptr));
}

void bound_search::reduce(const problem& in) {
  const auto n = in.num_candidates;
  const auto needed = best.size() - 1;  // neighbors of a candidate among the others, in a clique larger than the best
  bits.reserve(in.words);
  word* const left = bits.data();
  fill(left, in.words, n);
  degree_.resize(static_cast<std::size_t>(n));
  for (bool changed = true; changed;) {
    changed = false;
    ctl.check();
    for_each_bit(left, in.words, [&](std::int64_t v) {
      degree_[v] = common(in.row(v), left, in.words);
      if (degree_[v] >= needed) return;
      clear_bit(left, v);
      changed = true;
    });
  }
  kept_.clear();
  for_each_bit(left, in.words, [&](std::int64_t v) { kept_.push_back(static_cast<std::uint32_t>(v)); });
  std::stable_sort(kept_.begin(), kept_.end(), [&](auto a, auto b) { return degree_[a] > degree_[b]; });
}

void bound_search::from_root(const std::shared_ptr<const problem>& in, std::int64_t root) {
  reduce(*in);
  const auto size = static_cast<std::int64_t>(kept_.size());
  if (size + 1 <= best.size()) return;
  held.assign(1, root);
  const auto searched = ordered.free_slot(size);
  narrow(*searched, *in, kept_, {}, numbers_);
  bits.reserve(searched->words);
  fill(bits.data(), searched->words, size);
  descend(searched, 0);
}

void bound_search::greedily(const problem& in, std::int64_t root) {
  held.assign(1, root);
  bits.reserve(in.words);
  word* const left = bits.data();
  fill(left, in.words, in.num_candidates);
  for (;;) {
    ctl.check();
    std::int64_t chosen = -1, most = -1;
    for_each_bit(left, in.words, [&](std::int64_t v) {
      const auto count = common(in.row(v), left, in.words);
      if (count > most) chosen = v, most = count;
    });
    if (chosen < 0) break;
    held.push_back(in.names[chosen]);
    for (std::int64_t k = 0; k < in.words; ++k) left[k] &= in.row(chosen)[k];
  }
  best.offer(held);
}

void bound_search::from_branch(const bound_branch& given) {
  held = given.held;
  bits.reserve(given.in->words);
  std::copy(given.candidates.begin(), given.candidates.end(), bits.data());
  descend(given.in, 0);
}

void bound_search::give_away(const std::shared_ptr<const problem>& in, std::int64_t at) {
  const word* const candidates = bits.data() + at;
  pool.give({in, held, {candidates, candidates + in->words}});
}

namespace {

template <class Vertex>
class bound_searcher {
 public:
  bound_searcher(const csr_view<Vertex>& oriented, const control& ctl, best_clique& best,
                 branch_pool<bound_branch>& pool)
      : graph_(oriented), builder_(oriented), search_(best, pool, ctl) {}

  void root(std::int64_t u) {
    if (const auto in = built(u)) search_.from_root(in, u);
  }
  void try_root(std::int64_t u) {
    if (const auto in = built(u)) search_.greedily(*in, u);
  }
  void branch(const bound_branch& given) { search_.from_branch(given); }
  void finish() {}

 private:
  // The neighborhood of u, unless it is too small for a clique larger than the best.
  std::shared_ptr<problem> built(std::int64_t u) {
    const auto num_candidates = graph_.degree(u);
    if (num_candidates + 1 <= search_.best.size()) return nullptr;
    auto in = search_.slots.free_slot(num_candidates);
    builder_.build(*in, u, {}, nullptr);
    return in;
  }

  csr_view<Vertex> graph_;
  problem_builder<Vertex> builder_;
  bound_search search_;
};

// Roots with the longest rows, longest first.
template <class Vertex>
std::vector<std::int64_t> longest_rows(const csr_view<Vertex>& graph, std::int64_t begin, std::int64_t end,
                                       std::int64_t count) {
  std::vector<std::int64_t> roots(static_cast<std::size_t>(end - begin));
  for (auto u = begin; u < end; ++u) roots[u - begin] = u;
  const auto middle = roots.begin() + std::min<std::int64_t>(count, end - begin);
  std::partial_sort(roots.begin(), middle, roots.end(), [&](auto a, auto b) {
    return graph.degree(a) != graph.degree(b) ? graph.degree(a) > graph.degree(b) : a > b;
  });
  roots.erase(middle, roots.end());
  return roots;
}

}  // namespace

}  // namespace graphlode::mining::maximal

namespace graphlode::mining {

template <class Vertex>
std::vector<std::int64_t> find_max_clique(const csr_view<Vertex>& oriented, std::int64_t begin, std::int64_t end,
                                          int threads, const control& ctl) {
  constexpr std::int64_t tried = 32;
  maximal::best_clique best;
  maximal::branch_pool<maximal::bound_branch> pool;
  const auto make_searcher = [&] { return maximal::bound_searcher<Vertex>(oriented, ctl, best, pool); };
  {
    auto first = make_searcher();
    for (const auto u : maximal::longest_rows(oriented, begin, end, tried)) first.try_root(u);
  }
  maximal::search_shared(begin, end, threads, ctl, pool, make_searcher);
  auto members = best.take();
  std::sort(members.begin(), members.end());
  return members;
}

template std::vector<std::int64_t> find_max_clique(const csr_view<std::int32_t>&, std::int64_t, std::int64_t, int,
                                                   const control&);
template std::vector<std::int64_t> find_max_clique(const csr_view<std::int64_t>&, std::int64_t, std::int64_t, int,
                                                   const control&);

}  // namespace graphlode::mining
