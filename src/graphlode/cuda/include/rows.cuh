// rows.cuh - a queue of vertices whose rows (neighbors) are to be visited, by a grid of any size.
//
// Row lengths differ by orders of magnitude. A short row goes to one warp; short rows fill the queue from the front. A
// long row is visited by the whole grid; long rows fill the queue from the back.
//
// A type of rows provides
//   length(row)                      the number of entries, exact or approximate
//   visit(row, first, step, visit)   calls visit(row, there, entry) in all lanes of a warp at once, for every step-th
//                                    piece of 32 entries, from piece `first` on
// Compressed rows are defined here, those on the pages of a shard in store/rows.cuh. Where an algorithm runs on both,
// the type also has `vertex`, `neighbor(entry)`, and the types of the two arrays that it is constructed from.
#pragma once
#include "warp.cuh"

constexpr long long long_row = 2048;

// An entry is an index into an array.
struct offset_rows {
  const long long* offsets;

  __device__ __forceinline__ long long length(long long row) const { return offsets[row + 1] - offsets[row]; }
  template <class Vertex, class Visit>
  __device__ __forceinline__ void visit(Vertex row, long long first, long long step, Visit visit) const {
    const long long end = offsets[row + 1];
    for (long long entry = offsets[row] + 32 * first; entry < end; entry += 32 * step) {
      visit(row, entry + lane_id() < end, entry + lane_id());
    }
  }
};

template <class Vertex>
struct csr_rows : offset_rows {
  using vertex = Vertex;
  using first_array = long long;
  using second_array = Vertex;
  const Vertex* neighbors;

  __device__ __forceinline__ csr_rows(const long long* offsets_, const Vertex* neighbors_)
      : offset_rows{offsets_}, neighbors(neighbors_) {}
  __device__ __forceinline__ Vertex neighbor(long long entry) const { return neighbors[entry]; }
};

struct row_counts {
  unsigned long long short_rows, long_rows;
  unsigned long long entries;  // neighbors of all queued vertices: the work of visiting them
};

// Queues a vertex for each lane with `wanted`. Called by all lanes of a warp.
template <class Vertex, class Rows>
__device__ void push_row(Vertex* queue, long long capacity, row_counts* counts, const Rows& rows, bool wanted,
                         Vertex vertex) {
  if (!__any_sync(full_mask, wanted)) return;
  const long long length = wanted ? rows.length(vertex) : 0;
  const bool is_long = wanted && length >= long_row, is_short = wanted && !is_long;
  const long long front = warp_append(&counts->short_rows, is_short);
  if (is_short) queue[front] = vertex;
  const long long back = warp_append(&counts->long_rows, is_long);
  if (is_long) queue[capacity - 1 - back] = vertex;
  const long long entries = warp_sum(length);
  if (lane_id() == 0) atomicAdd(&counts->entries, static_cast<unsigned long long>(entries));
}

// Calls take(vertex) once for each queued vertex, in one thread.
template <class Vertex, class Take>
__device__ void take_vertices(const Vertex* queue, long long capacity, row_counts counts, long long thread,
                              long long threads, Take take) {
  for (long long i = thread; i < static_cast<long long>(counts.short_rows); i += threads) take(queue[i]);
  for (long long i = thread; i < static_cast<long long>(counts.long_rows); i += threads) take(queue[capacity - 1 - i]);
}

// Calls visit(vertex, there, entry) for every entry of every queued row, in all lanes of a warp at once. Lanes without
// an entry have `there` false, so `visit` may use warp collectives.
template <class Vertex, class Rows, class Visit>
__device__ void visit_rows(const Vertex* queue, long long capacity, row_counts counts, const Rows& rows, Visit visit) {
  for (long long i = grid_warp_id(); i < static_cast<long long>(counts.short_rows); i += grid_warps()) {
    rows.visit(queue[i], 0, 1, visit);
  }
  for (long long i = 0; i < static_cast<long long>(counts.long_rows); ++i) {
    rows.visit(queue[capacity - 1 - i], grid_warp_id(), grid_warps(), visit);
  }
}

// Like visit_rows, for callers that do not need the row of an entry.
template <class Vertex, class Rows, class Visit>
__device__ void visit_entries(const Vertex* queue, long long capacity, row_counts counts, const Rows& rows,
                              Visit visit) {
  visit_rows(queue, capacity, counts, rows, [&](Vertex, bool there, auto entry) { visit(there, entry); });
}
