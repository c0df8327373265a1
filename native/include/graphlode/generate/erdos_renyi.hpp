// erdos_renyi.hpp - uniform random graphs: exactly m edges, or every edge with probability p (Gilbert).
#pragma once
#include <cstdint>

#include "graphlode/control.hpp"
#include "graphlode/generate/edges.hpp"

namespace graphlode::generate {

struct pair_space {
  std::int64_t num_vertices;  // at most 2^31, so that pairs fit 62 bits
  bool directed;              // ordered pairs; otherwise each unordered pair once with src < dst

  std::int64_t size() const noexcept {
    if (num_vertices < 2) return 0;
    return directed ? num_vertices * (num_vertices - 1) : num_vertices * (num_vertices - 1) / 2;
  }
};

// `num_edges` different pairs in random order. All sets of this size are equally likely.
edges<std::int32_t> random_pairs(pair_space space, std::int64_t num_edges, std::uint64_t seed, int threads,
                                 const control& ctl);

// Every pair with probability `p`, independently, in the order of the pairs.
edges<std::int32_t> pairs_with_probability(pair_space space, double p, std::uint64_t seed, int threads,
                                           const control& ctl);

}  // namespace graphlode::generate
