// motifs/ranges.cuh - ranges of vertices that are few enough for counters in shared memory.
#pragma once
#include "motifs/graph.cuh"
#include "search.cuh"

// Vertices [low, high), and where they are in each row: cuts[row * stride] to the next. Without cuts they are searched
// for, unless the range has all there are.
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
