// analytics/pagerank_tiles.cu - one iteration of PageRank over tiles: sums of a range of destinations in shared memory.
//
// A block owns a segment, some of the edges of one row of tiles. It adds what their sources send to the sums of the
// row's destinations, which it has in shared memory, and at the end its sums to those of the graph. Sources of a tile
// are ascending and near each other, so that what they send comes through the second-level cache in whole lines.
//
// Additions meet in an order that changes from run to run. So that the answer does not, numbers are fixed-point, in
// units of 2^-62: all values together are 1, no sum overflows, and sums of integers do not depend on the order.
//
// Work O(n + m) per iteration; 4 bytes per edge are read once, and what is sent once for each row of tiles.
#include "grid.cuh"
#include "platform.cuh"
#include "warp.cuh"

using fixed = unsigned long long;

constexpr double units = 4611686018427387904.0;  // 2^62

__device__ __forceinline__ fixed to_fixed(double value) { return static_cast<fixed>(value * units + 0.5); }
__device__ __forceinline__ double to_double(fixed value) { return static_cast<double>(value) * (1.0 / units); }

struct tile_segment {
  long long row, begin, end;  // edges begin .. end - 1, all of one row of tiles
};

// What sources send, before the first iteration.
extern "C" __global__ void pagerank_tiles_begin(const double* values, const double* share, fixed* sent,
                                                long long num_vertices) {
  for (auto v = grid_thread_id(); v < num_vertices; v += grid_threads()) sent[v] = to_fixed(values[v] * share[v]);
}

// A block per segment; shared memory has a sum for each of the 2^row_bits destinations. `sums` are zero before.
extern "C" __global__ void pagerank_tiles_sums(const long long* tile_offsets, const unsigned* edges,
                                               const tile_segment* segments, long long num_segments, const fixed* sent,
                                               long long num_columns, int row_bits, fixed* sums) {
  DYN_SHARED(fixed, own);
  const int length = 1 << row_bits;
  for (long long i = blockIdx.x; i < num_segments; i += gridDim.x) {
    const tile_segment segment = segments[i];
    for (int at = static_cast<int>(threadIdx.x); at < length; at += static_cast<int>(blockDim.x)) own[at] = 0;
    __syncthreads();
    // The tile of an edge: each thread goes through the tiles of the row as it comes to their edges.
    const long long* const ends = tile_offsets + segment.row * num_columns + 1;
    long long column = 0;
    for (long long low = 0, high = num_columns - 1; low < high; column = low) {
      const long long middle = (low + high) / 2;
      if (ends[middle] > segment.begin + static_cast<long long>(threadIdx.x)) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    for (long long at = segment.begin + threadIdx.x; at < segment.end; at += blockDim.x) {
      while (at >= ends[column]) ++column;
      const unsigned edge = edges[at];
      const fixed value = sent[(column << 16) + (edge >> 16)];
      if (value != 0) atomicAdd(own + (edge & 0xffffu), value);
    }
    __syncthreads();
    const long long first = segment.row << row_bits;
    for (int at = static_cast<int>(threadIdx.x); at < length; at += static_cast<int>(blockDim.x)) {
      if (own[at] != 0) atomicAdd(sums + first + at, own[at]);
    }
    __syncthreads();
  }
}

struct tile_parts {
  double moved, stuck;
};

// New values, what is sent next, and sums that are zero again; a part of the sums over all vertices per warp.
extern "C" __global__ void pagerank_tiles_finish(fixed* sums, const double* restart, const double* share,
                                                 double damping, double spread, double* values, fixed* sent,
                                                 long long num_vertices, tile_parts* parts) {
  tile_parts all{0.0, 0.0};
  for (auto v = grid_thread_id(); v < num_vertices; v += grid_threads()) {
    const double value = damping * to_double(sums[v]) + spread * restart[v];
    sums[v] = 0;
    all.moved += fabs(value - values[v]);
    if (share[v] == 0.0) all.stuck += value;
    values[v] = value;
    sent[v] = to_fixed(value * share[v]);
  }
  all.moved = warp_sum(all.moved);
  all.stuck = warp_sum(all.stuck);
  if (lane_id() == 0) parts[grid_warp_id()] = all;
}
