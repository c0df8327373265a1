// erdos_renyi.cpp - pairs of vertices are numbered; random numbers of pairs are converted to pairs.
//
// With m edges: take the first m entries of a keyed permutation of all pairs, so no pair is repeated and no lookup is
// needed. Small spaces are shuffled directly, because there a keyed permutation is noticeably nonuniform. With a
// probability: gaps between chosen pairs are geometric (Batagelj and Brandes, Phys. Rev. E 71, 2005). The geometric
// distribution is memoryless, so ranges of pairs are independent. Their bounds depend only on p, never on the number of
// threads.
#include "graphlode/generate/erdos_renyi.hpp"

#include <cmath>
#include <numeric>
#include <vector>

#include "graphlode/generate/random.hpp"
#include "graphlode/parallel.hpp"

namespace graphlode::generate {
namespace {

constexpr std::int64_t shuffled_below = 1 << 16;
constexpr std::int64_t grain = 1 << 14;            // edges between checks of the control
constexpr double edges_per_range = double(grain);  // expected number of edges in a range of pairs with one stream

struct vertex_pair {
  std::int32_t src, dst;
};

vertex_pair pair_at(const pair_space& space, std::int64_t index) {
  if (space.directed) {
    const auto src = index / (space.num_vertices - 1), rest = index % (space.num_vertices - 1);
    return {static_cast<std::int32_t>(src), static_cast<std::int32_t>(rest + (rest >= src))};
  }
  // Row `dst` of the lower triangle starts at dst (dst - 1) / 2. The root may be off by one in either direction.
  auto dst = static_cast<std::int64_t>((1 + std::sqrt(1 + 8 * static_cast<double>(index))) / 2);
  while (dst * (dst - 1) / 2 > index) --dst;
  while (dst * (dst + 1) / 2 <= index) ++dst;
  return {static_cast<std::int32_t>(index - dst * (dst - 1) / 2), static_cast<std::int32_t>(dst)};
}

void put(edges<std::int32_t>& made, std::int64_t at, vertex_pair pair) {
  made.src[static_cast<std::size_t>(at)] = pair.src;
  made.dst[static_cast<std::size_t>(at)] = pair.dst;
}

edges<std::int32_t> shuffled_pairs(pair_space space, std::int64_t num_edges, std::uint64_t seed) {
  const stream words(seed, purpose::pairs);
  std::vector<std::int64_t> index(static_cast<std::size_t>(space.size()));
  std::iota(index.begin(), index.end(), std::int64_t{0});
  edges<std::int32_t> made(static_cast<std::size_t>(num_edges));
  for (std::int64_t i = 0; i < num_edges; ++i) {
    const auto left = static_cast<std::uint64_t>(space.size() - i);
    const auto chosen = i + static_cast<std::int64_t>(below(words.word(static_cast<std::uint64_t>(i)), left));
    std::swap(index[static_cast<std::size_t>(i)], index[static_cast<std::size_t>(chosen)]);
    put(made, i, pair_at(space, index[static_cast<std::size_t>(i)]));
  }
  return made;
}

// Calls chosen(pair index) for the pairs of [begin, end) that range number `range` selects.
template <class Chosen>
void for_each_chosen(double p, std::uint64_t seed, std::int64_t range, std::int64_t begin, std::int64_t end,
                     Chosen&& chosen) {
  const stream words(seed, purpose::pairs, static_cast<std::uint64_t>(range));
  const double log_not = std::log1p(-p);  // -inf for p = 1: every gap is 0
  std::uint64_t counter = 0;
  for (std::int64_t index = begin;; ++index) {
    const double gap = std::log(unit(words.word(counter++))) / log_not;
    if (gap >= static_cast<double>(end - index)) return;
    index += static_cast<std::int64_t>(gap);
    if (index >= end) return;  // the comparison above used rounded numbers
    chosen(index);
  }
}

}  // namespace

edges<std::int32_t> random_pairs(pair_space space, std::int64_t num_edges, std::uint64_t seed, int threads,
                                 const control& ctl) {
  if (space.size() <= shuffled_below) return shuffled_pairs(space, num_edges, seed);
  const permutation order(seed, purpose::pairs, static_cast<std::uint64_t>(space.size()));
  edges<std::int32_t> made(static_cast<std::size_t>(num_edges));
  parallel_chunks(0, num_edges, grain, threads, ctl, [&](int, std::int64_t from, std::int64_t to) {
    for (auto i = from; i < to; ++i)
      put(made, i, pair_at(space, static_cast<std::int64_t>(order(static_cast<std::uint64_t>(i)))));
  });
  return made;
}

edges<std::int32_t> pairs_with_probability(pair_space space, double p, std::uint64_t seed, int threads,
                                           const control& ctl) {
  if (p <= 0 || space.size() == 0) return edges<std::int32_t>(0);
  const double wanted = std::ceil(edges_per_range / p), most = static_cast<double>(space.size());
  const std::int64_t length = wanted < most ? static_cast<std::int64_t>(wanted) : space.size();
  const std::int64_t num_ranges = (space.size() - 1) / length + 1;
  const auto walk = [&](std::int64_t range, auto&& chosen) {
    for_each_chosen(p, seed, range, range * length, std::min(space.size(), (range + 1) * length), chosen);
  };
  // Numbers are drawn twice, once to count and once to write. This is cheaper than storing and moving them.
  std::vector<std::int64_t> starts(static_cast<std::size_t>(num_ranges) + 1, 0);
  parallel_chunks(0, num_ranges, 1, threads, ctl, [&](int, std::int64_t range, std::int64_t) {
    std::int64_t count = 0;
    walk(range, [&](std::int64_t) { ++count; });
    starts[static_cast<std::size_t>(range) + 1] = count;
  });
  std::partial_sum(starts.begin(), starts.end(), starts.begin());
  edges<std::int32_t> made(static_cast<std::size_t>(starts.back()));
  parallel_chunks(0, num_ranges, 1, threads, ctl, [&](int, std::int64_t range, std::int64_t) {
    auto at = starts[static_cast<std::size_t>(range)];
    walk(range, [&](std::int64_t index) { put(made, at++, pair_at(space, index)); });
  });
  return made;
}

}  // namespace graphlode::generate
