// analytics/pagerank_chunks.cu - one iteration of PageRank over compressed rows, in even shares of rows and entries.
//
// The entries of all rows, each row followed by a mark for its end, are one long list; a block owns `chunk` items of
// it, a thread `items` of these: so a hub, a million rows of one entry and a million empty rows take what their length
// says. First the block reads what the sources of its entries send into shared memory, many of them at a time, which is
// all that an iteration waits for. Then each thread adds up its own items, row after row. What it has of a row that
// began before it is added to what the threads before it have, by a scan; a row that began in another chunk is left to
// a second kernel, which adds up what the chunks have of it. After Merrill and Garland, "Merge-based parallel sparse
// matrix-vector multiplication" (SC 2016).
//
// Nothing is atomic, and a device gives the same answer every time. How far values moved, and what is spread in the
// next iteration, is added up by the last block of the second kernel: the host need not look.
//
// Work O(n + m) per iteration, bound by reading `sent` at random.
#include "platform.cuh"
#include "walks/pagerank_totals.cuh"
#include "warp.cuh"
#ifndef VERTEX_T
#error "VERTEX_T is set by the host"
#endif

constexpr int threads = 256;
constexpr int items = 8;
constexpr int chunk = threads * items;

// Where a number lies in shared memory: threads read `items` apart, and would meet in few banks otherwise.
__device__ __forceinline__ int padded(int i) { return i + i / items; }

// The list of entries and ends, cut into chunks: rows that end before each chunk.
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
  const double* share;  // of its value that a vertex sends to each of those it leads to; 0: it leads nowhere
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

// What each thread has of its open row and all threads before it have of the same row. Called by all threads; `row` is
// the open row of each, which ascends; `values` and `rows` are one per warp, in shared memory.
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
  // A warp's last thread has what its warp has of the row; the row may have begun several warps before.
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

// Rows that begin and end in one chunk; of others what each chunk has: `heads` of the row that ends there, `tails` of
// the row that goes on behind it.
extern "C" __global__ void __launch_bounds__(threads)
    pagerank_chunks_rows(RANKING_PARAMETERS, const VERTEX_T* neighbors, const double* sent, const double* weights,
                         int weighted) {
  __shared__ double cells[chunk + chunk / items];
  __shared__ unsigned short row_ends[chunk];  // less shared memory leaves more of the first-level cache
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

    // Where the thread's items begin: rows that end before them, by bisection, and entries.
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
    // Sums of rows go behind the entries: there is room for one for each item.
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

// Rows that began in another chunk than they end in, a warp for each; and the totals of the iteration, from the parts
// of both kernels. `isolated` is the part of all vertices that no edge touches and that have no rows.
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
