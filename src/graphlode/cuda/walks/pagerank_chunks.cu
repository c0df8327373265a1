// walks/pagerank_chunks.cu - one iteration of PageRank over compressed rows, in equal shares of rows and entries.
//
// All rows form one list: the entries of each row, followed by an end mark. A block owns `chunk` items of this list and
// a thread `items` of them. So a hub, a million rows of one entry and a million empty rows each take time in proportion
// to their size. First the block loads what the sources of its entries send into shared memory, with many loads in
// flight; the iteration waits for nothing else. Then each thread sums its own items, row by row. A row that began in an
// earlier thread gets the earlier parts by a scan. A row that began in an earlier chunk is left to a second kernel,
// which adds the parts of the chunks. After Merrill and Garland, "Merge-based parallel sparse matrix-vector
// multiplication" (SC 2016).
//
// There are no atomics on values, so a device always gives the same answer. The last block of the second kernel adds up
// the change of the values and what the next iteration spreads, so the host does not have to read them.
//
// Work O(n + m) per iteration, limited by the random reads of `sent`.
#include "platform.cuh"
#include "walks/pagerank_totals.cuh"
#include "warp.cuh"
#ifndef VERTEX_T
#error "VERTEX_T is set by the host"
#endif

constexpr int threads = 256;
constexpr int items = 8;
constexpr int chunk = threads * items;

// The index of item i in shared memory. Threads read `items` apart; the padding avoids bank conflicts.
__device__ __forceinline__ int padded(int i) { return i + i / items; }

// The list of entries and end marks, cut into chunks. chunk_rows has the number of rows that end before each chunk.
struct merged_list {
  const long long* offsets;
  const long long* chunk_rows;
  long long num_chunks, num_items;

  __device__ __forceinline__ long long row(long long at) const { return chunk_rows[at]; }
  __device__ __forceinline__ long long entry(long long at) const { return min(at * chunk, num_items) - row(at); }
  // Whether the first row that ends in a chunk began in an earlier one.
  __device__ __forceinline__ bool continues(long long at) const {
    return row(at) < row(at + 1) && offsets[row(at)] < entry(at);
  }
  __device__ __forceinline__ long long chunk_of_begin(long long row) const { return (offsets[row] + row) / chunk; }
};

struct ranking {
  double damping, spread;
  const double* restart;
  const double* share;  // the part of its value that a vertex sends along each edge; 0: no outgoing edge
  double* values;
  double* next_sent;

  __device__ __forceinline__ void finish(long long row, double arriving, rank_part& all) const {
    const double value = damping * arriving + spread * restart[row], part = share[row];
    all.moved += fabs(value - values[row]);
    if (part == 0.0) all.stuck += value;
    values[row] = value;
    next_sent[row] = value * part;
  }
};

// Returns the sum of this thread's open row over this thread and all threads before it. Called by all threads of the
// block. `row` is the open row of each thread and must ascend. `values` and `rows` have one element per warp, in shared
// memory.
__device__ double scan_open_rows(double value, int row, double* values, int* rows) {
  for (int distance = 1; distance < 32; distance <<= 1) {
    const double before = __shfl_up_sync(full_mask, value, static_cast<unsigned>(distance));
    const int row_before = __shfl_up_sync(full_mask, row, static_cast<unsigned>(distance));
    if (lane_id() >= distance && row_before == row) value += before;
  }
  if (lane_id() == 31) {
    values[warp_id()] = value;
    rows[warp_id()] = row;
  }
  __syncthreads();
  // The last thread of each warp stored the warp's sum of its open row. The row may have begun several warps earlier.
  double before = 0.0;
  const int first_row = __shfl_sync(full_mask, row, 0);
  if (row == first_row) {
    for (int warp = warp_id() - 1; warp >= 0 && rows[warp] == row; --warp) before += values[warp];
  }
  return before + value;
}

#define RANKING_PARAMETERS                                                                                  \
  const long long *offsets, const long long *chunk_rows, long long num_chunks, long long num_items,         \
      const rank_totals *state, double damping, const double *restart, const double *share, double *values, \
      double *next_sent, double *heads, double *tails, rank_part *parts
#define LIST_ARGUMENTS offsets, chunk_rows, num_chunks, num_items
#define RANKING_ARGUMENTS damping, state->spread, restart, share, values, next_sent

// Finishes the rows that begin and end in one chunk. For other rows it stores the part of each chunk: `heads` for the
// row that ends there, `tails` for the row that continues in the next chunk. One block per chunk.
extern "C" __global__ void __launch_bounds__(threads)
    pagerank_chunks_rows(RANKING_PARAMETERS, const VERTEX_T* neighbors, const double* sent, const double* weights,
                         int weighted) {
  __shared__ double cells[chunk + chunk / items];
  __shared__ unsigned short row_ends[chunk];  // 16 bits: less shared memory leaves more first-level cache
  __shared__ double warp_values[threads / 32];
  __shared__ double before_warps[threads / 32];
  __shared__ int warp_rows[threads / 32];
  const merged_list list{LIST_ARGUMENTS};
  const ranking rank{RANKING_ARGUMENTS};
  rank_part all{0.0, 0.0};
  for (long long at = blockIdx.x; at < num_chunks; at += gridDim.x) {
    const long long first_row = list.row(at), first_entry = list.entry(at);
    const int num_rows = static_cast<int>(list.row(at + 1) - first_row);
    const int num_entries = static_cast<int>(list.entry(at + 1) - first_entry);
    VERTEX_T sources[items];
#pragma unroll
    for (int i = 0; i < items; ++i) {
      const int place = i * threads + static_cast<int>(threadIdx.x);
      sources[i] = place < num_entries ? neighbors[first_entry + place] : 0;
    }
#pragma unroll
    for (int i = 0; i < items; ++i) {
      const int place = i * threads + static_cast<int>(threadIdx.x);
      if (place >= num_entries) continue;
      const double value = sent[sources[i]];
      cells[padded(place)] = weighted ? weights[first_entry + place] * value : value;
    }
    for (int i = static_cast<int>(threadIdx.x); i < num_rows; i += threads) {
      row_ends[i] = static_cast<unsigned short>(offsets[first_row + 1 + i] - first_entry);
    }
    __syncthreads();

    // Find where the thread's items begin: a binary search gives the number of rows that end before them.
    const int num_here = num_rows + num_entries;
    const int begin = min(static_cast<int>(threadIdx.x) * items, num_here), end = min(begin + items, num_here);
    int row = 0;
    for (int high = num_rows; row < high;) {
      const int middle = (row + high) / 2;
      if (row_ends[middle] + middle < begin) {
        row = middle + 1;
      } else {
        high = middle;
      }
    }
    const int open_before = row;
    int entry = begin - row;
    double sum = 0.0;
    // Sums of rows are stored behind the entries. There is room for one sum per item.
    for (int item = begin; item < end; ++item) {
      if (row < num_rows && entry == row_ends[row]) {
        cells[padded(num_entries + row)] = sum;
        sum = 0.0;
        ++row;
      } else {
        sum += cells[padded(entry)];
        ++entry;
      }
    }
    const double scanned = scan_open_rows(sum, row, warp_values, warp_rows);
    double before = __shfl_up_sync(full_mask, scanned, 1);
    if (lane_id() == 31) before_warps[warp_id()] = scanned;
    __syncthreads();
    if (lane_id() == 0) before = warp_id() > 0 ? before_warps[warp_id() - 1] : 0.0;
    if (row > open_before) cells[padded(num_entries + open_before)] += before;
    if (threadIdx.x == threads - 1) tails[at] = scanned;
    __syncthreads();

    const bool continues = list.continues(at);
    for (int i = static_cast<int>(threadIdx.x); i < num_rows; i += threads) {
      const double arriving = cells[padded(num_entries + i)];
      if (i == 0 && continues) {
        heads[at] = arriving;
      } else {
        rank.finish(first_row + i, arriving, all);
      }
    }
    __syncthreads();
  }
  leave_part(all, parts);
}

// Finishes the rows that span chunks, one warp per row, and adds up the totals of the iteration from the parts of both
// kernels. `isolated` is the total value of the vertices without any edge, which have no rows.
extern "C" __global__ void __launch_bounds__(threads)
    pagerank_chunks_join(RANKING_PARAMETERS, long long first_part, long long num_parts, double isolated,
                         rank_totals* next_state, unsigned* tickets) {
  const merged_list list{LIST_ARGUMENTS};
  const ranking rank{RANKING_ARGUMENTS};
  rank_part all{0.0, 0.0};
  for (long long at = grid_warp_id(); at < num_chunks; at += grid_warps()) {
    if (!list.continues(at)) continue;
    const long long row = list.row(at);
    double arriving = 0.0;
    for (long long part = list.chunk_of_begin(row) + lane_id(); part < at; part += 32) arriving += tails[part];
    arriving = warp_sum(arriving);
    if (lane_id() == 0) rank.finish(row, arriving + heads[at], all);
  }
  leave_part(all, parts + first_part);
  add_up_parts(parts, num_parts, state, damping, isolated, next_state, tickets);
}
