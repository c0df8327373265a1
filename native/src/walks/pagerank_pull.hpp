// pagerank_pull.hpp - PageRank over any kind of rows: every vertex sums what its predecessors send.
//
// There is one pass per iteration: a block of rows is summed and finished (pagerank_state.hpp). So the inner loop reads
// one array at random and writes none, and nothing is atomic.
#pragma once
#include <algorithm>
#include <array>
#include <span>

#include "graphlode/analytics/pagerank.hpp"
#include "graphlode/parallel.hpp"
#include "graphlode/store/row_view.hpp"
#include "walks/pagerank_state.hpp"

namespace graphlode::analytics {

// The sum of term(0) .. term(count - 1), in four partial sums: with one, each addition would wait for the previous one.
template <class Term>
double sum_terms(std::size_t count, Term&& term) {
  double part[4] = {0, 0, 0, 0};
  std::size_t i = 0;
  for (; i + 4 <= count; i += 4)
    for (std::size_t j = 0; j < 4; ++j) part[j] += term(i + j);
  for (; i < count; ++i) part[0] += term(i);
  return (part[0] + part[1]) + (part[2] + part[3]);
}

constexpr auto block_rows = pagerank_state::block_rows;

// Writes what arrives at the rows first .. last - 1 to `sums`. All rows are needed, so those of a store are read page
// by page, without an index lookup per row.
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
pagerank_values rank_pages(const Rows& in_rows, const double* out_weights, const pagerank_settings& settings,
                           int threads, const control& ctl) {
  pagerank_state state(in_rows.num_rows(), out_weights, settings, threads, ctl);
  threads = worthwhile_threads(in_rows.num_rows() + in_rows.num_entries(), threads);
  return state.run(ctl, [&] {
    parallel_chunks(0, state.num_blocks(), 1, threads, ctl, [&](int, std::int64_t block, std::int64_t) {
      std::array<double, block_rows> arriving;
      const auto begin = state.block_begin(block), end = state.block_end(block);
      sum_arriving(in_rows, settings.weights, begin, end, state.sent(), arriving.data());
      state.finish(block, arriving.data());
    });
  });
}

template <class Rows>
buffer<double> sum_of_rows(const Rows& in_rows, const double* sent, int threads, const control& ctl) {
  const auto n = in_rows.num_rows();
  buffer<double> sums(static_cast<std::size_t>(n));
  parallel_chunks(0, (n + block_rows - 1) / block_rows, 1, worthwhile_threads(n + in_rows.num_entries(), threads), ctl,
                  [&](int, std::int64_t begin, std::int64_t end) {
                    const auto first = begin * block_rows, last = std::min(end * block_rows, n);
                    sum_arriving(in_rows, nullptr, first, last, sent, sums.data() + first);
                  });
  return sums;
}

}  // namespace graphlode::analytics
