// analytics/pagerank_tiles.cu - one iteration of PageRank over tiles, with the sums of destinations in shared memory.
//
// A block owns a segment: some of the edges of one row of tiles. Shared memory has one sum for each destination of the
// row. The block adds what the sources send to these sums, and finally adds its sums to those of the graph. The sources
// of a tile are sorted and near each other, so the second-level cache delivers `sent` in whole lines. Edges of one
// source lead to different destinations, so a warp rarely adds twice to one place.
//
// The order of the additions differs between runs. Numbers are therefore fixed-point, in units of 2^-62: integer sums
// do not depend on the order. All values together are 1, so no sum overflows.
//
// Work O(n + m) per iteration. Each edge is read once (4 bytes), and `sent` once per row of tiles.
#include "grid.cuh"
#include "platform.cuh"
#include "walks/pagerank_totals.cuh"
#include "warp.cuh"

using fixed = unsigned long long;

constexpr double units = 4611686018427387904.0;  // 2^62

__device__ __forceinline__ fixed to_fixed(double value) { return static_cast<fixed>(value * units + 0.5); }
__device__ __forceinline__ double to_double(fixed value) { return static_cast<double>(value) * (1.0 / units); }

struct tile_segment {
  long long row, begin, end;  // edges begin .. end - 1, all in one row of tiles
  long long column;           // the tile of the first edge
};

// Computes `sent` before the first iteration. One thread per vertex.
extern "C" __global__ void pagerank_tiles_begin(const double* values, const double* share, fixed* sent,
                                                long long num_vertices) {
  for (auto v = grid_thread_id(); v < num_vertices; v += grid_threads()) sent[v] = to_fixed(values[v] * share[v]);
}

// Sums in shared memory. Shared memory adds only 32-bit words atomically in one instruction, so a sum is two words. The
// thread whose addition overflows the lower word adds the carry to the upper one.
struct split_sums {
  unsigned* low;
  unsigned* high;

  __device__ __forceinline__ void add(unsigned at, fixed value) const {
    const unsigned part = static_cast<unsigned>(value), before = atomicAdd(low + at, part);
    const unsigned rest = static_cast<unsigned>(value >> 32) + (before + part < before);
    if (rest != 0) atomicAdd(high + at, rest);
  }
  __device__ __forceinline__ fixed get(unsigned at) const { return static_cast<fixed>(high[at]) << 32 | low[at]; }
};

constexpr int at_once = 4;  // edges per thread; all their sources are loaded before the first addition

// Adds up one segment per block. Shared memory has one sum for each of the 2^row_bits destinations. `sums` are zero on
// entry.
extern "C" __global__ void pagerank_tiles_sums(const long long* tile_offsets, const unsigned* edges,
                                               const tile_segment* segments, long long num_segments, const fixed* sent,
                                               long long num_columns, int row_bits, fixed* sums) {
  DYN_SHARED(unsigned, words);
  const unsigned length = 1u << row_bits;
  const split_sums own{words, words + length};
  for (long long i = blockIdx.x; i < num_segments; i += gridDim.x) {
    const tile_segment segment = segments[i];
    for (unsigned at = threadIdx.x; at < 2 * length; at += blockDim.x) words[at] = 0;
    __syncthreads();
    // Find the tile of each edge: a thread moves on through the tiles of the row as its edges do.
    const long long* const ends = tile_offsets + segment.row * num_columns + 1;
    long long column = segment.column;
    for (long long at = segment.begin + threadIdx.x; at < segment.end; at += at_once * blockDim.x) {
      unsigned some[at_once];
      fixed values[at_once];
#pragma unroll
      for (int i = 0; i < at_once; ++i) {
        const long long place = at + i * static_cast<long long>(blockDim.x);
        some[i] = place < segment.end ? edges[place] : 0;
      }
#pragma unroll
      for (int i = 0; i < at_once; ++i) {
        const long long place = at + i * static_cast<long long>(blockDim.x);
        values[i] = 0;
        if (place >= segment.end) continue;
        while (place >= ends[column]) ++column;
        values[i] = sent[(column << 16) + (some[i] >> 16)];
      }
#pragma unroll
      for (int i = 0; i < at_once; ++i) {
        if (values[i] != 0) own.add(some[i] & 0xffffu, values[i]);
      }
    }
    __syncthreads();
    const long long first = segment.row << row_bits;
    for (unsigned at = threadIdx.x; at < length; at += blockDim.x) {
      const fixed sum = own.get(at);
      if (sum != 0) atomicAdd(sums + first + at, sum);
    }
    __syncthreads();
  }
}

// Computes new values, what is sent next, and the totals of the iteration, and clears `sums`. One thread per vertex. If
// restart_step is 0, restart[0] applies to all vertices.
extern "C" __global__ void pagerank_tiles_finish(fixed* sums, const double* restart, int restart_step,
                                                 const double* share, double damping, double* values, fixed* sent,
                                                 long long num_vertices, rank_part* parts, long long num_parts,
                                                 const rank_totals* state, double isolated, rank_totals* next_state,
                                                 unsigned* tickets) {
  const double spread = state->spread;
  rank_part all{0.0, 0.0};
  for (auto v = grid_thread_id(); v < num_vertices; v += grid_threads()) {
    const double value = damping * to_double(sums[v]) + spread * restart[v * restart_step], part = share[v];
    sums[v] = 0;
    all.moved += fabs(value - values[v]);
    if (part == 0.0) all.stuck += value;
    values[v] = value;
    sent[v] = to_fixed(value * part);
  }
  leave_part(all, parts);
  add_up_parts(parts, num_parts, state, damping, isolated, next_state, tickets);
}
