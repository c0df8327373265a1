// pagerank_pull.hpp - PageRank over any kind of rows: every vertex sums what its predecessors send.
//
// One pass per iteration. What a vertex sends (its value by the weight of all that leaves it, to be multiplied by an
// edge's own weight) is kept beside its value and written for the next iteration in the same pass, so that the inner
// loop reads one array at random and writes none; nothing is atomic. Values that have nowhere to go are summed on the
// way and spread by the restart distribution. Sums over all vertices are taken by blocks of fixed size, so that the
// answer is the same to the last bit on any number of threads.
#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <utility>

#include "graphlode/analytics/pagerank.hpp"
#include "graphlode/packed/row_view.hpp"
#include "graphlode/parallel.hpp"

namespace graphlode::analytics {

// The sum of term(0) .. term(count - 1). Four sums side by side: one alone would wait for each addition to finish.
template <class Term>
double sum_terms(std::size_t count, Term&& term) {
  double part[4] = {0, 0, 0, 0};
  std::size_t i = 0;
  for (; i + 4 <= count; i += 4)
    for (std::size_t j = 0; j < 4; ++j) part[j] += term(i + j);
  for (; i < count; ++i) part[0] += term(i);
  return (part[0] + part[1]) + (part[2] + part[3]);
}

// Writes what arrives at each of the rows first .. last - 1 into `sums`. All rows are needed, so those of a store are
// read page by page, without a look at the index for each.
template <class Vertex>
void sum_arriving(const csr_rows<Vertex>& rows, const double* weights, std::int64_t first, std::int64_t last,
                  const double* sent, double* sums) {
  for (auto row = first; row < last; ++row) {
    const auto from = rows.row(row);
    if (weights) {
      const double* const beside = weights + rows.first_entry(row);
      sums[row - first] = sum_terms(from.size(), [&](std::size_t i) { return beside[i] * sent[from[i]]; });
    } else {
      sums[row - first] = sum_terms(from.size(), [&](std::size_t i) { return sent[from[i]]; });
    }
  }
}

inline void sum_arriving(const packed::row_view& rows, const double*, std::int64_t first, std::int64_t last,
                         const double* sent, double* sums) {
  std::fill_n(sums, last - first, 0.0);
  rows.for_each_run(first, last, [&](std::int64_t row, std::span<const packed::key_type> keys) {
    sums[row - first] += sum_terms(keys.size(), [&](std::size_t i) { return sent[packed::neighbor_of(keys[i])]; });
  });
}

template <class Rows>
class pagerank_iteration {
 public:
  pagerank_iteration(const Rows& rows, const double* out_weights, const pagerank_settings& settings, int threads,
                     const control& ctl)
      : rows_(rows),
        settings_(settings),
        threads_(worthwhile_threads(rows.num_rows() + rows.num_entries(), threads)),
        ctl_(ctl),
        uniform_(1.0 / static_cast<double>(rows.num_rows())),
        share_(size()),
        sent_(size()),
        next_sent_(size()),
        blocks_(static_cast<std::size_t>((rows.num_rows() + block_rows - 1) / block_rows)) {
    result_.values = buffer<double>(size(), uniform_);
    std::int64_t stuck = 0;
    for (std::size_t v = 0; v < size(); ++v) {
      share_[v] = out_weights[v] > 0 ? 1.0 / out_weights[v] : 0.0;
      sent_[v] = uniform_ * share_[v];
      stuck += share_[v] == 0.0;
    }
    stuck_value_ = static_cast<double>(stuck) * uniform_;
  }

  pagerank_values run() {
    const auto n = rows_.num_rows();
    result_.converged = n == 0;
    std::int64_t told = 0;
    while (result_.iterations < settings_.max_iterations && !result_.converged) {
      const double moved = iterate();
      ++result_.iterations;
      result_.converged = moved < settings_.tolerance;
      const auto done = n * result_.iterations / settings_.max_iterations;
      ctl_.advance(done - told);
      told = done;
    }
    ctl_.advance(n - told);
    return std::move(result_);
  }

 private:
  static constexpr std::int64_t block_rows = 1024;
  struct block_sums {
    double moved, stuck;
  };

  std::size_t size() const { return static_cast<std::size_t>(rows_.num_rows()); }

  // How far the values moved, all together.
  double iterate() {
    parallel_chunks(0, static_cast<std::int64_t>(blocks_.size()), 1, threads_, ctl_,
                    [&](int, std::int64_t begin, std::int64_t end) {
                      for (auto block = begin; block < end; ++block) blocks_[block] = update(block);
                    });
    std::swap(sent_, next_sent_);
    block_sums all{0, 0};
    for (const auto& block : blocks_) {
      all.moved += block.moved;
      all.stuck += block.stuck;
    }
    stuck_value_ = all.stuck;
    return all.moved;
  }

  block_sums update(std::int64_t block) {
    const double damping = settings_.damping, spread = damping * stuck_value_ + (1.0 - damping);
    const auto begin = block * block_rows, end = std::min(begin + block_rows, rows_.num_rows());
    std::array<double, block_rows> arriving;
    sum_arriving(rows_, settings_.weights, begin, end, sent_.data(), arriving.data());
    block_sums sums{0, 0};
    for (auto v = begin; v < end; ++v) {
      const double restart = settings_.restart ? settings_.restart[v] : uniform_;
      const double value = damping * arriving[static_cast<std::size_t>(v - begin)] + spread * restart;
      sums.moved += std::abs(value - result_.values[v]);
      sums.stuck += share_[v] == 0.0 ? value : 0.0;
      result_.values[v] = value;
      next_sent_[v] = value * share_[v];
    }
    return sums;
  }

  const Rows& rows_;
  const pagerank_settings settings_;
  int threads_;
  const control& ctl_;
  double uniform_;
  buffer<double> share_;  // of its value that a vertex sends to each of those it leads to
  buffer<double> sent_, next_sent_;
  buffer<block_sums> blocks_;
  double stuck_value_ = 0;  // of all vertices that lead nowhere
  pagerank_values result_;
};

template <class Rows>
pagerank_values rank_pages(const Rows& in_rows, const double* out_weights, const pagerank_settings& settings,
                           int threads, const control& ctl) {
  return pagerank_iteration<Rows>(in_rows, out_weights, settings, threads, ctl).run();
}

}  // namespace graphlode::analytics
