// pagerank_state.hpp - the state of PageRank for every vertex, and its update when sums have arrived.
//
// A vertex sends its value divided by the weight of its outgoing edges, to be multiplied by each edge's own weight.
// This number is stored besides the value. It is written for the next iteration when the vertex's sum is finished, to
// another array than the one that is read. Values of vertices without outgoing edges are summed and spread by the
// restart distribution. Sums over all vertices are taken by blocks of fixed size, so the result is the same to the last
// bit on any number of threads.
//
// Isolated vertices (see pagerank_settings) have no place in the arrays. Each receives what is spread and sends
// nothing, so two numbers represent all of them.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "graphlode/analytics/pagerank.hpp"
#include "graphlode/control.hpp"
#include "graphlode/memory.hpp"
#include "graphlode/parallel.hpp"

namespace graphlode::analytics {

class pagerank_state {
 public:
  static constexpr std::int64_t block_rows = 1024;  // vertices that are finished together

  pagerank_state(std::int64_t num_vertices, const double* out_weights, const pagerank_settings& settings, int threads,
                 const control& ctl)
      : num_vertices_(num_vertices),
        settings_(settings),
        uniform_(1.0 / static_cast<double>(num_vertices + settings.num_isolated)),
        isolated_share_(uniform_ * static_cast<double>(settings.num_isolated)),
        share_(size()),
        sent_(size()),
        next_sent_(size()),
        blocks_(static_cast<std::size_t>((num_vertices + block_rows - 1) / block_rows)) {
    result_.values = buffer<double>(size());
    // All threads touch the memory first, because that takes longer than writing the values.
    parallel_chunks(0, num_blocks(), 64, worthwhile_threads(num_vertices, threads), ctl,
                    [&](int, std::int64_t first, std::int64_t last) {
                      for (auto block = first; block < last; ++block) begin(block, out_weights);
                    });
    add_up_blocks();
  }

  std::int64_t num_blocks() const { return static_cast<std::int64_t>(blocks_.size()); }
  std::int64_t block_begin(std::int64_t block) const { return block * block_rows; }
  std::int64_t block_end(std::int64_t block) const { return std::min((block + 1) * block_rows, num_vertices_); }
  const double* sent() const { return sent_.data(); }
  // Where finish() writes what is sent next. Until then it may hold sums.
  double* next_sent() { return next_sent_.data(); }

  // Iterates until the values hardly change. sum_all() must sum what arrives and finish every block once.
  template <class SumAll>
  pagerank_values run(const control& ctl, SumAll&& sum_all) {
    result_.converged = num_vertices_ == 0;
    std::int64_t reported = 0;
    while (result_.iterations < settings_.max_iterations && !result_.converged) {
      sum_all();
      std::swap(sent_, next_sent_);
      ++result_.iterations;
      result_.converged = add_up_blocks() < settings_.tolerance;
      const auto done = num_vertices_ * result_.iterations / settings_.max_iterations;
      ctl.advance(done - reported);
      reported = done;
    }
    ctl.advance(num_vertices_ - reported + settings_.num_isolated);
    result_.isolated_value = spread_before_ * uniform_;
    return std::move(result_);
  }

  // Computes the new values of a block. `arriving` has what arrives at its vertices, possibly in their places of
  // next_sent().
  void finish(std::int64_t block, const double* arriving) {
    const double damping = settings_.damping, spread = spread_;
    const auto begin = block_begin(block), end = block_end(block);
    block_sums sums{0, 0};
    for (auto v = begin; v < end; ++v) {
      const double restart = settings_.restart ? settings_.restart[v] : uniform_;
      const double value = damping * arriving[v - begin] + spread * restart;
      sums.moved += std::abs(value - result_.values[v]);
      sums.stuck += share_[v] == 0.0 ? value : 0.0;
      result_.values[v] = value;
      next_sent_[v] = value * share_[v];
    }
    blocks_[block] = sums;
  }

 private:
  struct block_sums {
    double moved, stuck;
  };

  std::size_t size() const { return static_cast<std::size_t>(num_vertices_); }

  void begin(std::int64_t block, const double* out_weights) {
    block_sums sums{0, 0};
    for (auto v = block_begin(block); v < block_end(block); ++v) {
      share_[v] = out_weights[v] > 0 ? 1.0 / out_weights[v] : 0.0;
      result_.values[v] = uniform_;
      sent_[v] = uniform_ * share_[v];
      next_sent_[v] = 0.0;
      sums.stuck += share_[v] == 0.0 ? uniform_ : 0.0;
    }
    blocks_[block] = sums;
  }

  // Ends an iteration. Returns the sum of the changes of the values.
  double add_up_blocks() {
    block_sums all{0, 0};
    for (const auto& block : blocks_) {
      all.moved += block.moved;
      all.stuck += block.stuck;
    }
    all.moved += isolated_share_ * std::abs(spread_ - spread_before_);
    all.stuck += isolated_share_ * spread_;
    spread_before_ = std::exchange(spread_, settings_.damping * all.stuck + (1.0 - settings_.damping));
    return all.moved;
  }

  std::int64_t num_vertices_;
  const pagerank_settings settings_;
  double uniform_;
  double isolated_share_;  // total of the isolated vertices, before the first iteration
  buffer<double> share_;   // the part of its value that a vertex sends along each edge
  buffer<double> sent_, next_sent_;
  buffer<block_sums> blocks_;
  // The total spread over all vertices in this iteration and in the last: restarts, and the values of vertices without
  // outgoing edges. Before the first iteration all vertices have equal parts of 1.
  double spread_ = 1, spread_before_ = 1;
  pagerank_values result_;
};

}  // namespace graphlode::analytics
