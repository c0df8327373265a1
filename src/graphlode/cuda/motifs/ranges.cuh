// motifs/ranges.cuh - ranges of vertices small enough for counters in shared memory.
#pragma once
#include "motifs/graph.cuh"
#include "search.cuh"

// Vertices [low, high), and their places in each row: from cuts[row * stride] to the next cut. Without cuts the places
// are searched, unless the range has all vertices.
struct vertex_range {
  int low, high;
  const int* cuts;
  long long stride;

  __device__ __forceinline__ void clip(const motif_graph& graph, int row, int& from, int& to) const {
    if (cuts != nullptr) {
      from = max(from, cuts[row * stride]);
      to = min(to, cuts[row * stride + 1]);
      return;
    }
    if (low == 0 && high >= graph.num_vertices) return;
    const int* const values = graph.neighbors + graph.offsets[row];
    if (from < to && values[from] < low) from += lower_bound(values + from, to - from, low);
    if (from < to && values[to - 1] >= high) to = from + lower_bound(values + from, to - from, high);
  }
};
