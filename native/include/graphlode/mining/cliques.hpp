// cliques.hpp - k-cliques of an oriented graph, each found once from its two lowest-ranked vertices.
//
// A clique belongs to the entry (u, v) of its two lowest ranks. So a range of entries is a task, and tasks that
// partition the entries add up. Counts may have any size. Totals are returned as a table of leaves: a leaf with h held
// vertices and p pivots stands for C(p, k - h) cliques of size k, and the caller adds these up in exact integers.
// Counts per vertex or entry are 64-bit limbs, lowest first, modulo 2^(64 limbs).
#pragma once
#include <cstdint>

#include "graphlode/control.hpp"
#include "graphlode/csr.hpp"
#include "graphlode/memory.hpp"

namespace graphlode::mining {

enum class clique_method { pivot, enumerate, set };
enum class clique_counts { total, by_vertex, by_edge };

// An oriented graph, with its rows also listed by descending length.
template <class Vertex>
struct roots_view {
  csr_view<Vertex> graph;
  const Vertex* roots;
  std::int64_t num_roots;
};

struct entry_range {
  std::int64_t begin, end;
};

// How often each leaf [h][p] occurs. A cell is low + 2^64 high.
struct leaf_counts {
  std::int64_t rows = 0, columns = 0;
  buffer<std::uint64_t> low, high;
};

// The output for counts per vertex or entry, and the binomials modulo 2^(64 limbs) that pivoting adds: a table
// [n][r][limb] for n up to the longest row and r up to the largest k.
struct local_counts {
  clique_counts what = clique_counts::total;
  std::uint64_t* counts = nullptr;
  int limbs = 1;
  const std::uint64_t* binomials = nullptr;
  std::int64_t binomial_columns = 0;
};

// Counts k-cliques, k >= 3, of the entries in `task`. Adds to `local.counts`.
template <class Vertex>
leaf_counts count_cliques(const roots_view<Vertex>& view, entry_range task, int k, clique_method method,
                          const local_counts& local, int threads, const control& ctl);

// Estimates the seconds that pivoting and enumeration take on one thread: the sum over `rows` of the time below each
// row, times its weight. If a search would take more than `work_limit` words, its size is estimated from random
// descents. Enumeration is given up as soon as it is known to take `decided` times as long as pivoting, because even
// the estimate could take far longer.
struct clique_sample {
  double pivot = 0, enumerate = 0;
  bool given_up = false;
};
template <class Vertex>
clique_sample sample_cliques(const csr_view<Vertex>& graph, const Vertex* rows, const double* weights,
                             std::int64_t num_rows, int k, std::int64_t work_limit, const control& ctl);

}  // namespace graphlode::mining
