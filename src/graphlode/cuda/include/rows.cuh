// rows.cuh - a queue of vertices whose rows (their neighbors) are to be visited, by a grid of any size.
//
// Rows differ in length by orders of magnitude. Short ones go to one warp each; they fill the queue from its front.
// Long ones are walked by the whole grid, one after the other; they fill it from its back.
#pragma once
#include "warp.cuh"

constexpr long long long_row = 2048;

struct row_counts {
  unsigned long long short_rows, long_rows;
  unsigned long long entries;  // the neighbors of all queued vertices together: the work of visiting them
};

// Queues a vertex for each lane that wants it. Called by all lanes of a warp.
template <class Vertex>
__device__ void push_row(Vertex* queue, long long capacity, row_counts* counts, const long long* offsets, bool wanted,
                         Vertex vertex) {
  if (!__any_sync(full_mask, wanted)) return;
  const long long length = wanted ? offsets[vertex + 1] - offsets[vertex] : 0;
  const bool is_long = wanted && length >= long_row, is_short = wanted && !is_long;
  const long long front = warp_append(&counts->short_rows, is_short);
  if (is_short) queue[front] = vertex;
  const long long back = warp_append(&counts->long_rows, is_long);
  if (is_long) queue[capacity - 1 - back] = vertex;
  const long long entries = warp_sum(length);
  if (lane_id() == 0) atomicAdd(&counts->entries, static_cast<unsigned long long>(entries));
}

// Calls take(vertex) once for each queued vertex, by one thread.
template <class Vertex, class Take>
__device__ void take_vertices(const Vertex* queue, long long capacity, row_counts counts, long long thread,
                              long long threads, Take take) {
  for (long long i = thread; i < static_cast<long long>(counts.short_rows); i += threads) take(queue[i]);
  for (long long i = thread; i < static_cast<long long>(counts.long_rows); i += threads) take(queue[capacity - 1 - i]);
}

// Calls visit(vertex, there, entry) for every entry of every queued row, by all lanes of a warp at once: lanes without
// an entry of their own come along with `there` false, so that visit may use the collectives of a warp.
template <class Vertex, class Visit>
__device__ void visit_rows(const Vertex* queue, long long capacity, row_counts counts, const long long* offsets,
                           Visit visit) {
  for (long long i = grid_warp_id(); i < static_cast<long long>(counts.short_rows); i += grid_warps()) {
    const Vertex vertex = queue[i];
    const long long end = offsets[vertex + 1];
    for (long long entry = offsets[vertex]; entry < end; entry += 32) {
      visit(vertex, entry + lane_id() < end, entry + lane_id());
    }
  }
  for (long long i = 0; i < static_cast<long long>(counts.long_rows); ++i) {
    const Vertex vertex = queue[capacity - 1 - i];
    const long long end = offsets[vertex + 1];
    for (long long entry = offsets[vertex] + 32 * grid_warp_id(); entry < end; entry += 32 * grid_warps()) {
      visit(vertex, entry + lane_id() < end, entry + lane_id());
    }
  }
}

// The same for those who do not ask whose entry it is: visit(there, entry).
template <class Vertex, class Visit>
__device__ void visit_entries(const Vertex* queue, long long capacity, row_counts counts, const long long* offsets,
                              Visit visit) {
  visit_rows(queue, capacity, counts, offsets, [&](Vertex, bool there, long long entry) { visit(there, entry); });
}
