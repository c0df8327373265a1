// mining/supports.cu - the whole graph in rank space, with an id for every edge.
//
// All entries in both directions are written as sort keys (row in the upper bits, neighbor below), and one device-wide
// sort orders every row. The sorted keys also name the row of each entry, so later steps use one thread per entry and
// long rows cause no imbalance. Edge ids number the entries of the lower parts of all rows, back to back. An entry of
// an upper part finds its id by a binary search in the lower part of the other end's row.
#include "grid.cuh"
#include "platform.cuh"
#include "search.cuh"
#include "status.cuh"
#include "warp.cuh"
#ifndef VERTEX_T
#error "VERTEX_T is set by the host"
#endif

// Writes the sort key of every entry. A bad neighbor raises a fault. One warp per vertex.
extern "C" __global__ void supports_keys(const long long* __restrict__ offsets, const VERTEX_T* __restrict__ neighbors,
                                         const VERTEX_T* __restrict__ rank, long long num_vertices, int rank_bits,
                                         long long* keys, status_word* status) {
  for (long long vertex = grid_warp_id(); vertex < num_vertices; vertex += grid_warps()) {
    const long long own = static_cast<long long>(rank[vertex]) << rank_bits;
    for (long long entry = offsets[vertex] + lane_id(); entry < offsets[vertex + 1]; entry += 32) {
      const VERTEX_T neighbor = neighbors[entry];
      const bool bad = neighbor < 0 || neighbor >= num_vertices;
      if (bad) raise_status(status, fault_bad_neighbor, entry);
      keys[entry] = own | (bad ? 0 : rank[neighbor]);
    }
  }
}

// Counts the neighbors of each row that rank below it. One thread per row.
extern "C" __global__ void supports_lower(const long long* __restrict__ offsets, const VERTEX_T* __restrict__ neighbors,
                                          long long num_vertices, int* lower) {
  for (long long row = grid_thread_id(); row < num_vertices; row += grid_threads()) {
    const long long begin = offsets[row];
    lower[row] = lower_bound(neighbors + begin, static_cast<int>(offsets[row + 1] - begin), static_cast<VERTEX_T>(row));
  }
}

// Writes the edge id of every entry, and the upper parts of all rows back to back: the oriented graph. One thread per
// entry.
extern "C" __global__ void supports_edges(const long long* __restrict__ offsets, const VERTEX_T* __restrict__ neighbors,
                                          const int* __restrict__ lower, const long long* __restrict__ lower_offsets,
                                          const long long* __restrict__ keys, int rank_bits, long long num_entries,
                                          int* edges, VERTEX_T* oriented) {
  for (long long entry = grid_thread_id(); entry < num_entries; entry += grid_threads()) {
    const long long row = keys[entry] >> rank_bits;
    const long long place = entry - offsets[row];
    const VERTEX_T other = neighbors[entry];
    if (other < row) {
      edges[entry] = static_cast<int>(lower_offsets[row] + place);
    } else {
      const int there = lower_bound(neighbors + offsets[other], lower[other], static_cast<VERTEX_T>(row));
      edges[entry] = static_cast<int>(lower_offsets[other] + there);
      oriented[entry - lower_offsets[row] - lower[row]] = other;
    }
  }
}

// Copies triangle counts from the order of oriented entries to the order of edge ids. One thread per entry.
extern "C" __global__ void supports_triangles(const int* __restrict__ lower,
                                              const long long* __restrict__ lower_offsets,
                                              const VERTEX_T* __restrict__ neighbors,
                                              const long long* __restrict__ keys, int rank_bits, long long num_entries,
                                              const int* __restrict__ edges, const long long* __restrict__ counts,
                                              int* triangles) {
  for (long long entry = grid_thread_id(); entry < num_entries; entry += grid_threads()) {
    const long long row = keys[entry] >> rank_bits;
    if (neighbors[entry] > row) {
      triangles[edges[entry]] = static_cast<int>(counts[entry - lower_offsets[row] - lower[row]]);
    }
  }
}
