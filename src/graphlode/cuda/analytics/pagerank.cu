// analytics/pagerank.cu - one iteration of PageRank: every vertex sums what its predecessors send.
//
// What a vertex sends (its value by the weight of all that leaves it) is written for the next iteration in the same
// launch, into another array than the one that is read. A warp owns 32 rows: a lane sums a short row of its own, the
// warp a longer one together; the longest are left to a second kernel with a block for each. Nothing is atomic: how far
// the values moved and how much of them has nowhere to go is summed per warp or block, and added up by the host in a
// fixed order, so that a device gives the same answer every time.
//
// Work O(n + m) per iteration, bound by reading `sent` at random.
#include "grid.cuh"
#include "platform.cuh"
#include "warp.cuh"
#ifndef VERTEX_T
#error "VERTEX_T is set by the host"
#endif

constexpr long long alone = 16;  // the longest row that a lane sums by itself

struct ranking {
  double damping, spread;  // spread: what each vertex gets of restarts, by its part of the restart distribution
  const double* restart;
  const double* share;  // of its value that a vertex sends to each of those it leads to; 0: it leads nowhere
  double* values;
  double* next_sent;
};

struct sums {
  double moved, stuck;
};

__device__ __forceinline__ void finish_row(const ranking& r, long long row, double arriving, sums* all) {
  const double value = r.damping * arriving + r.spread * r.restart[row];
  all->moved += fabs(value - r.values[row]);
  if (r.share[row] == 0.0) all->stuck += value;
  r.values[row] = value;
  r.next_sent[row] = value * r.share[row];
}

// What an entry brings to its row.
__device__ __forceinline__ double entry_value(const VERTEX_T* neighbors, const double* weights, int weighted,
                                              const double* sent, long long entry) {
  const double value = sent[neighbors[entry]];
  return weighted ? weights[entry] * value : value;
}

#define RANKING_PARAMETERS                                                                                     \
  const long long *offsets, const VERTEX_T *neighbors, const double *weights, const double *sent,              \
      const double *restart, const double *share, int weighted, double damping, double spread, double *values, \
      double *next_sent, sums *parts
#define RANKING_ARGUMENTS damping, spread, restart, share, values, next_sent

// All rows of at most `longest` entries.
extern "C" __global__ void pagerank_rows(RANKING_PARAMETERS, long long num_vertices, long long longest) {
  const ranking r{RANKING_ARGUMENTS};
  sums all{0.0, 0.0};
  for (long long first = grid_warp_id() * 32; first < num_vertices; first += grid_warps() * 32) {
    const long long row = first + lane_id();
    const bool there = row < num_vertices;
    const long long begin = there ? offsets[row] : 0, end = there ? offsets[row + 1] : 0, length = end - begin;
    double arriving = 0.0;
    if (length <= alone) {
      for (long long entry = begin; entry < end; ++entry)
        arriving += entry_value(neighbors, weights, weighted, sent, entry);
    }
    for (unsigned left = __ballot_sync(full_mask, length > alone && length <= longest); left != 0; left &= left - 1) {
      const int owner = __ffs(static_cast<int>(left)) - 1;
      const long long row_end = __shfl_sync(full_mask, end, owner);
      double part = 0.0;
      for (long long entry = __shfl_sync(full_mask, begin, owner) + lane_id(); entry < row_end; entry += 32) {
        part += entry_value(neighbors, weights, weighted, sent, entry);
      }
      part = warp_sum(part);
      if (lane_id() == owner) arriving = part;
    }
    if (there && length <= longest) finish_row(r, row, arriving, &all);
  }
  all.moved = warp_sum(all.moved);
  all.stuck = warp_sum(all.stuck);
  if (lane_id() == 0) parts[grid_warp_id()] = all;
}

// The rows that are listed, a block for each; a part of the sums per block.
extern "C" __global__ void pagerank_long_rows(RANKING_PARAMETERS, const long long* rows, long long num_rows) {
  __shared__ double of_warps[32];
  const ranking r{RANKING_ARGUMENTS};
  sums all{0.0, 0.0};
  for (long long i = blockIdx.x; i < num_rows; i += gridDim.x) {
    double part = 0.0;
    for (long long entry = offsets[rows[i]] + threadIdx.x; entry < offsets[rows[i] + 1]; entry += blockDim.x) {
      part += entry_value(neighbors, weights, weighted, sent, entry);
    }
    part = warp_sum(part);
    if (lane_id() == 0) of_warps[warp_id()] = part;
    __syncthreads();
    if (threadIdx.x == 0) {
      double arriving = 0.0;
      for (int warp = 0; warp < warps_per_block(); ++warp) arriving += of_warps[warp];
      finish_row(r, rows[i], arriving, &all);
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) parts[blockIdx.x] = all;
}
