// cliques.hpp - k-cliques of an oriented graph, each found once from its two lowest-ranked vertices.
//
// A clique belongs to the entry (u, v) of its two lowest ranks, so a range of entries is a task, and the tasks of a
// partition of all entries add up. Counts may be of any size. Totals come as a table of leaves: a leaf with h vertices
// held and p pivots passed stands for C(p, k - h) cliques of size k; the caller adds these up in exact integers. Counts
// per vertex or per entry come as 64-bit limbs, lowest first, modulo 2^(64 limbs).
#pragma once
#include <cstdint>

#include "graphlode/control.hpp"
#include "graphlode/csr.hpp"
#include "graphlode/memory.hpp"

namespace graphlode::mining {

enum class clique_method { pivot, enumerate, set };
enum class clique_counts { total, by_vertex, by_edge };

// An oriented graph with its rows also listed by falling length.
template <class Vertex>
struct roots_view {
  csr_view<Vertex> graph;
  const Vertex* roots;
  std::int64_t num_roots;
};

struct entry_range {
  std::int64_t begin, end;
};

// How often each leaf [h][p] was met; a cell is low + 2^64 high.
struct leaf_counts {
  std::int64_t rows = 0, columns = 0;
  buffer<std::uint64_t> low, high;
};

// Where counts per vertex or per entry go, with the binomials modulo 2^(64 limbs) that pivoting adds up: a table
// [n][r][limb] for n up to the longest row and r up to the largest k.
struct local_counts {
  clique_counts what = clique_counts::total;
  std::uint64_t* counts = nullptr;
  int limbs = 1;
  const std::uint64_t* binomials = nullptr;
  std::int64_t binomial_columns = 0;
};

// k-cliques, k >= 3, of the entries in `task`; adds to `local.counts`.
template <class Vertex>
leaf_counts count_cliques(const roots_view<Vertex>& view, entry_range task, int k, clique_method method,
                          const local_counts& local, int threads, const control& ctl);

// Seconds that pivoting and enumeration would take on one thread: those below each of `rows`, times `weights`. Where a
// search would take more than `work_limit` words its size is estimated from random descents. Enumeration is given up as
// soon as it is known to take `decided` times as long as pivoting: it may take far longer even to estimate.
struct clique_sample {
  double pivot = 0, enumerate = 0;
  bool given_up = false;
};
template <class Vertex>
clique_sample sample_cliques(const csr_view<Vertex>& graph, const Vertex* rows, const double* weights,
                             std::int64_t num_rows, int k, std::int64_t work_limit, const control& ctl);

}  // namespace graphlode::mining
