// pagerank_totals.cuh - sums over all vertices in an iteration of PageRank, kept on the device.
//
// Every warp stores its part. The last block of the grid adds the parts in a fixed order and writes what the next
// iteration needs, so the host does not have to read it.
#pragma once
#include "grid.cuh"
#include "warp.cuh"

struct rank_part {
  double moved;  // sum of the changes of the values
  double stuck;  // total value of the vertices without outgoing edges
};

struct rank_totals {
  double spread;  // over all vertices in this iteration: restarts, and the value of vertices without outgoing edges
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

// Called by all threads of all blocks after leave_part; blocks consist of whole warps. `tickets` is zero before and
// after. `isolated` is the total value of the vertices without any edge, which have no place in the arrays: each
// receives what is spread and sends nothing.
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
