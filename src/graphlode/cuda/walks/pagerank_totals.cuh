// pagerank_totals.cuh - what an iteration of PageRank adds up over all vertices, without the host looking.
//
// Every warp leaves its part; the last block of the grid to come adds the parts up, in a fixed order, and writes what
// the next iteration needs to know.
#pragma once
#include "grid.cuh"
#include "warp.cuh"

struct rank_part {
  double moved;  // how far values moved
  double stuck;  // values of vertices that lead nowhere
};

struct rank_totals {
  double spread;  // over all vertices in this iteration: restarts, and the values of those who lead nowhere
  double spread_before, moved;
};

// Called by all lanes of a warp.
__device__ __forceinline__ rank_part sum_of_warp(rank_part part) {
  return {warp_sum(part.moved), warp_sum(part.stuck)};
}

__device__ __forceinline__ void leave_part(rank_part part, rank_part* parts) {
  part = sum_of_warp(part);
  if (lane_id() == 0) parts[grid_warp_id()] = part;
}

// Called by all threads of all blocks, of whole warps each, after they left their parts; `tickets` is zero before and
// after. `isolated` is the part of all vertices that no edge touches and that have no place in any array: each gets
// what is spread and sends it nowhere.
__device__ inline void add_up_parts(const rank_part* parts, long long num_parts, const rank_totals* state,
                                    double damping, double isolated, rank_totals* next_state, unsigned* tickets) {
  if (!last_block(tickets)) return;
  __shared__ rank_part of_warps[32];
  rank_part total{0.0, 0.0};
  for (long long i = threadIdx.x; i < num_parts; i += blockDim.x) {
    total.moved += parts[i].moved;
    total.stuck += parts[i].stuck;
  }
  total = sum_of_warp(total);
  if (lane_id() == 0) of_warps[warp_id()] = total;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int warp = 1; warp < warps_per_block(); ++warp) {
    total.moved += of_warps[warp].moved;
    total.stuck += of_warps[warp].stuck;
  }
  const double spread = state->spread;
  total.moved += isolated * fabs(spread - state->spread_before);
  total.stuck += isolated * spread;
  *next_state = {damping * total.stuck + (1.0 - damping), spread, total.moved};
}
