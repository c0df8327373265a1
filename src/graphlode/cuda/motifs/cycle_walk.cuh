// motifs/cycle_walk.cuh - the walks i - x - j: the first two steps of 5-cycles i - x - j - k - y below i.
//
// For every j, a counter holds the number of neighbors x of i below i that are adjacent to j. Its highest bit, the
// mark, says that j is itself a neighbor of i.
#pragma once
#include "motifs/walk.cuh"
#include "search.cuh"
#include "warp.cuh"

constexpr unsigned neighbor_mark = 0x80000000u;

struct cycle_graph {
  const long long* __restrict__ offsets;
  const int* __restrict__ neighbors;
  const int* __restrict__ lower;
  const int* __restrict__ firsts;
  const int* __restrict__ places;
};

// Counts the walks through the warp's share of the lower neighbors of i: every `warps`-th group of 32.
template <class Counters>
__device__ void count_ways(const cycle_graph& graph, int i, const Counters& counters, row_batch& batch, int warp,
                           int warps) {
  const long long begin = graph.offsets[i], end = begin + graph.lower[i];
  for (long long first = begin + 32 * warp; first < end; first += 32 * warps) {
    const long long own = first + lane_id();
    long long row = 0;
    unsigned length = 0;
    if (own < end) {
      const int x = graph.neighbors[own], from = graph.firsts[x];
      row = graph.offsets[x] + from;
      length = static_cast<unsigned>(max(0, graph.places[own] - from));
    }
    walk_rows(batch, row, length, [&](int, long long entry) { counters.add(graph.neighbors[entry]); });
  }
}

template <class Counters>
__device__ void mark_neighbors(const cycle_graph& graph, int i, const Counters& counters, int thread, int threads) {
  const long long begin = graph.offsets[i], end = begin + graph.lower[i];
  for (long long entry = begin + thread; entry < end; entry += threads) counters.set_mark(graph.neighbors[entry]);
}

// Calls visit(number, entry) for every edge from the warp's share of the counted vertices j to a k with j < k < i.
// `number` is the number of j in the list of counters, `entry` is the entry of k in row j.
template <class Counters, class Visit>
__device__ void visit_inner_edges(const cycle_graph& graph, int i, const Counters& counters, row_batch& batch, int warp,
                                  int warps, Visit visit) {
  const int size = counters.size();
  for (int first = 32 * warp; first < size; first += 32 * warps) {
    const int own = first + lane_id(), j = own < size ? counters.member(own) : -1;
    long long begin = 0;
    unsigned length = 0;
    if (j >= 0) {
      begin = graph.offsets[j] + graph.lower[j];
      const int above = static_cast<int>(graph.offsets[j + 1] - begin);
      length = static_cast<unsigned>(lower_bound(graph.neighbors + begin, above, i));
    }
    walk_rows(batch, begin, length, [&](int piece, long long entry) { visit(first + piece, entry); });
  }
}
