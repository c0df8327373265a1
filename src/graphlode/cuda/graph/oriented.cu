// graph/oriented.cu - every edge of a symmetric graph once, from the lower to the higher rank of an order.
//
// A warp per vertex walks its row: once to count the neighbors of higher rank, once to write them. The device-wide scan
// between the two and the sort of the entries after them are the host's. Rows may come in any order within; cost: the
// entries of the graph, twice.
#include "warp.cuh"

#if !defined(VERTEX_T)
#error "VERTEX_T is set by the host"
#endif

// Row lengths of the oriented graph, by rank.
extern "C" __global__ void graph_oriented_count(const long long* __restrict__ offsets,
                                                const VERTEX_T* __restrict__ neighbors,
                                                const VERTEX_T* __restrict__ rank, long long num_vertices,
                                                long long* __restrict__ lengths) {
  for (long long v = grid_warp_id(); v < num_vertices; v += grid_warps()) {
    const VERTEX_T own = rank[v];
    long long higher = 0;
    for (long long e = offsets[v] + lane_id(); e < offsets[v + 1]; e += 32) higher += rank[neighbors[e]] > own;
    higher = warp_sum(higher);
    if (lane_id() == 0) lengths[own] = higher;
  }
}

// Both ends of each entry, as ranks, in the place of its row.
extern "C" __global__ void graph_oriented_write(const long long* __restrict__ offsets,
                                                const VERTEX_T* __restrict__ neighbors,
                                                const VERTEX_T* __restrict__ rank,
                                                const long long* __restrict__ oriented_offsets, long long num_vertices,
                                                VERTEX_T* __restrict__ tails, VERTEX_T* __restrict__ heads) {
  for (long long v = grid_warp_id(); v < num_vertices; v += grid_warps()) {
    const VERTEX_T own = rank[v];
    long long place = oriented_offsets[own];
    for (long long first = offsets[v]; first < offsets[v + 1]; first += 32) {
      const long long e = first + lane_id();
      VERTEX_T head = 0;
      if (e < offsets[v + 1]) head = rank[neighbors[e]];
      const bool wanted = e < offsets[v + 1] && head > own;
      const unsigned votes = __ballot_sync(full_mask, wanted);
      if (wanted) {
        tails[place + votes_below(votes)] = own;
        heads[place + votes_below(votes)] = head;
      }
      place += __popc(votes);
    }
  }
}

// Vertices that still wait (round -1) lose their neighbors of the given round.
extern "C" __global__ void graph_oriented_lose(const long long* __restrict__ offsets,
                                               const VERTEX_T* __restrict__ neighbors, const int* __restrict__ rounds,
                                               int round, long long num_vertices, long long* __restrict__ degrees) {
  for (long long v = grid_warp_id(); v < num_vertices; v += grid_warps()) {
    if (rounds[v] != -1) continue;
    long long lost = 0;
    for (long long e = offsets[v] + lane_id(); e < offsets[v + 1]; e += 32) lost += rounds[neighbors[e]] == round;
    lost = warp_sum(lost);
    if (lane_id() == 0) degrees[v] -= lost;
  }
}
