// pagerank.hpp - PageRank by power iteration.
#pragma once
#include <cstdint>
#include <functional>

#include "graphlode/control.hpp"
#include "graphlode/memory.hpp"
#include "graphlode/rows.hpp"

namespace graphlode::analytics {

struct pagerank_settings {
  double damping;
  double tolerance;  // the iteration ends when the sum of the changes is below this
  std::int64_t max_iterations;
  const double* weights;  // of each entry of the rows; null: all equal
  const double* restart;  // distribution of restarts, with sum 1; null: uniform
  // Number of vertices without any edge, in addition to the ranked ones. They all have the same value. Only for uniform
  // restarts.
  std::int64_t num_isolated = 0;
};

struct pagerank_values {
  buffer<double> values;
  std::int64_t iterations = 0;
  bool converged = false;
  double isolated_value = 0;  // of each isolated vertex
};

// `in_rows` holds the predecessors of each vertex, `out_weights` the total weight (or the number) of the edges that
// leave each vertex. Weights are for compressed rows only.
template <class Rows>
pagerank_values rank_pages(const Rows& in_rows, const double* out_weights, const pagerank_settings& settings,
                           int threads, const control& ctl);

// The same over tiles, which hold edges by destination: contiguous tiles of a view, or those of a list that changes.
// Weights are not used. between() is called before each iteration; it may sort edges within their tiles.
template <class Tiles>
pagerank_values rank_tiles(const Tiles& tiles, const double* out_weights, const pagerank_settings& settings,
                           int threads, const control& ctl, const std::function<void()>& between = {});

// The sum that arrives at each row if every vertex sends its value of `sent` along each of its entries: one shard's
// part of an iteration.
template <class Rows>
buffer<double> sum_of_rows(const Rows& in_rows, const double* sent, int threads, const control& ctl);

}  // namespace graphlode::analytics
