// analytics/pagerank.cu - one iteration of PageRank: every vertex sums what its predecessors send.
//
// Used for the pages of a store, and for one shard of several (on pages or compressed). A graph that has compressed
// rows only is ranked by walks/pagerank_chunks.cu.
//
// A vertex sends its value divided by the weight of its outgoing edges. The value for the next iteration is written in
// the same launch, to another array than the one that is read. A warp owns 32 rows: a lane sums a short row alone, the
// warp sums a longer row together. The longest rows go to a second kernel, one block per row. There are no atomics:
// each warp or block writes its own sums of the change and of the value without an outgoing edge, and the host adds
// them in a fixed order. So a device always gives the same answer.
//
// On pages, a warp first sums each leaf, row by row. If the index says that a row begins in this leaf, its sum goes to
// the row. Otherwise the row began earlier and has the first entries of the leaf; its sum goes to the leaf. A row is
// then left with one number of its own and one per further leaf that it spans, usually none. These are summed like the
// entries of compressed rows.
//
// Work O(n + m) per iteration, limited by the random reads of `sent`.
#include "grid.cuh"
#include "platform.cuh"
#include "rows.cuh"
#include "store/rows.cuh"
#include "warp.cuh"
#ifndef ROWS
#error "ROWS is set by the host"
#endif

constexpr long long alone = 16;  // the longest row that one lane sums by itself

struct span {
  long long begin, end;
};

// The terms that each row has to sum: a span of terms per row, and possibly one number of the row itself.
template <class Rows>
struct arriving_terms;

template <class Vertex>
struct arriving_terms<csr_rows<Vertex>> {
  csr_rows<Vertex> rows;
  const double* sent;
  const double* weights;
  double* unused;
  int weighted;

  __device__ __forceinline__ span of(long long row) const { return {rows.offsets[row], rows.offsets[row + 1]}; }
  __device__ __forceinline__ double term(long long entry) const {
    const double value = sent[rows.neighbors[entry]];
    return weighted ? weights[entry] * value : value;
  }
  __device__ __forceinline__ double take_own(long long) const { return 0.0; }
};

template <>
struct arriving_terms<page_rows> {
  page_rows rows;
  const double* unused;
  const double* of_leaves;  // the sum that each leaf leaves, by place
  double* of_rows;          // the sum that each row has of its first leaf; zero between iterations
  int weighted;

  __device__ __forceinline__ span of(long long row) const {
    const page_rows::places at = rows.places_of(row);
    return {at.first + 1, at.last + 1};
  }
  __device__ __forceinline__ double term(long long place) const { return of_leaves[place]; }
  __device__ __forceinline__ double take_own(long long row) const {
    const double own = of_rows[row];
    of_rows[row] = 0.0;
    return own;
  }
};

using terms = arriving_terms<ROWS>;

// Calls finish(row, arriving) in one lane, for every row of at most `longest` terms. Called by all warps of the grid.
template <class Finish>
__device__ void sum_rows(const terms& all, long long num_vertices, long long longest, Finish finish) {
  for (long long first = grid_warp_id() * 32; first < num_vertices; first += grid_warps() * 32) {
    const long long row = first + lane_id();
    const bool there = row < num_vertices;
    const span own = there ? all.of(row) : span{0, 0};
    const long long length = own.end - own.begin;
    double arriving = 0.0;
    if (length <= alone) {
      for (long long entry = own.begin; entry < own.end; ++entry) arriving += all.term(entry);
    }
    for (unsigned left = __ballot_sync(full_mask, length > alone && length <= longest); left != 0; left &= left - 1) {
      const int owner = __ffs(static_cast<int>(left)) - 1;
      const long long row_end = __shfl_sync(full_mask, own.end, owner);
      double part = 0.0;
      for (long long entry = __shfl_sync(full_mask, own.begin, owner) + lane_id(); entry < row_end; entry += 32) {
        part += all.term(entry);
      }
      part = warp_sum(part);
      if (lane_id() == owner) arriving = part;
    }
    if (there && length <= longest) finish(row, arriving + all.take_own(row));
  }
}

// Sums the listed rows, one block per row. The first thread calls finish(row, arriving).
template <class Finish>
__device__ void sum_long_rows(const terms& all, const long long* rows, long long num_rows, Finish finish) {
  __shared__ double of_warps[32];
  for (long long i = blockIdx.x; i < num_rows; i += gridDim.x) {
    const span own = all.of(rows[i]);
    double part = 0.0;
    for (long long entry = own.begin + threadIdx.x; entry < own.end; entry += blockDim.x) part += all.term(entry);
    part = warp_sum(part);
    if (lane_id() == 0) of_warps[warp_id()] = part;
    __syncthreads();
    if (threadIdx.x == 0) {
      double arriving = all.take_own(rows[i]);
      for (int warp = 0; warp < warps_per_block(); ++warp) arriving += of_warps[warp];
      finish(rows[i], arriving);
    }
    __syncthreads();
  }
}

struct sums {
  double moved, stuck;
};

struct ranking {
  double damping, spread;  // spread: total value that restarts distribute, in proportion to `restart`
  const double* restart;
  const double* share;  // the part of its value that a vertex sends along each edge; 0: no outgoing edge
  double* values;
  double* next_sent;

  __device__ __forceinline__ void finish(long long row, double arriving, sums* all) const {
    const double value = damping * arriving + spread * restart[row];
    all->moved += fabs(value - values[row]);
    if (share[row] == 0.0) all->stuck += value;
    values[row] = value;
    next_sent[row] = value * share[row];
  }
};

// Compressed rows have weights and do not use `of_rows`. On pages, `weights` are the sums of the leaves.
#define TERMS_PARAMETERS                                                                            \
  const ROWS::first_array *first_array, const ROWS::second_array *second_array, const double *sent, \
      const double *weights, double *of_rows, int weighted
#define TERMS_ARGUMENTS ROWS(first_array, second_array), sent, weights, of_rows, weighted
#define RANKING_PARAMETERS                                                                                     \
  TERMS_PARAMETERS, const double *restart, const double *share, double damping, double spread, double *values, \
      double *next_sent, sums *parts
#define RANKING_ARGUMENTS damping, spread, restart, share, values, next_sent

// Ranks all rows of at most `longest` terms, a warp per 32 rows. Each warp writes its part of the sums.
extern "C" __global__ void pagerank_rows(RANKING_PARAMETERS, long long num_vertices, long long longest) {
  const ranking r{RANKING_ARGUMENTS};
  sums all{0.0, 0.0};
  sum_rows(terms{TERMS_ARGUMENTS}, num_vertices, longest,
           [&](long long row, double arriving) { r.finish(row, arriving, &all); });
  all.moved = warp_sum(all.moved);
  all.stuck = warp_sum(all.stuck);
  if (lane_id() == 0) parts[grid_warp_id()] = all;
}

// Ranks the listed rows, one block per row. Each block writes its part of the sums.
extern "C" __global__ void pagerank_long_rows(RANKING_PARAMETERS, const long long* rows, long long num_rows) {
  const ranking r{RANKING_ARGUMENTS};
  sums all{0.0, 0.0};
  sum_long_rows(terms{TERMS_ARGUMENTS}, rows, num_rows,
                [&](long long row, double arriving) { r.finish(row, arriving, &all); });
  if (threadIdx.x == 0) parts[blockIdx.x] = all;
}

// Only sums what arrives at each row. For one shard of several.
extern "C" __global__ void pagerank_sums(TERMS_PARAMETERS, double* arriving, long long num_vertices,
                                         long long longest) {
  sum_rows(terms{TERMS_ARGUMENTS}, num_vertices, longest, [&](long long row, double sum) { arriving[row] = sum; });
}
extern "C" __global__ void pagerank_long_sums(TERMS_PARAMETERS, double* arriving, const long long* rows,
                                              long long num_rows) {
  sum_long_rows(terms{TERMS_ARGUMENTS}, rows, num_rows, [&](long long row, double sum) { arriving[row] = sum; });
}

// Sums what arrives within each leaf, one warp per leaf. Compressed rows have no leaves.
__device__ void sum_leaves(const page_rows& rows, const double* sent, double* of_leaves, double* of_rows) {
  for (long long place = grid_warp_id(); place < rows.num_places(); place += grid_warps()) {
    const leaf_entry entry = rows.read(place);
    double sum = entry.there ? sent[entry.neighbor()] : 0.0;
    for (int distance = 1; distance < 32; distance <<= 1) {
      const double behind = __shfl_down_sync(full_mask, sum, static_cast<unsigned>(distance));
      if (lane_id() + distance < 32 && (entry.run >> (lane_id() + distance) & 1u)) sum += behind;
    }
    bool begins = entry.there && entry.rank == 0;
    if (begins && lane_id() == 0) begins = rows.store.row_leaves[entry.row()] == entry.leaf;
    if (begins) of_rows[entry.row()] = sum;
    if (lane_id() == 0) of_leaves[place] = entry.there && !begins ? sum : 0.0;
  }
}
template <class Vertex>
__device__ void sum_leaves(const csr_rows<Vertex>&, const double*, double*, double*) {}

extern "C" __global__ void pagerank_leaves(const ROWS::first_array* first_array, const ROWS::second_array* second_array,
                                           const double* sent, double* of_leaves, double* of_rows) {
  sum_leaves(ROWS(first_array, second_array), sent, of_leaves, of_rows);
}
