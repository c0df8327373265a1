// analytics/triangles.cu - triangles of an oriented graph: in all, by vertex or by edge.
//
// A triangle u < v < w is found once, from its lowest corner: w is a neighbor of v and of u. The neighbors of u go into
// a hash table in shared memory, then the rows of all its neighbors v are walked, back to back so that short rows leave
// no lane idle, and each entry w costs one probe. A warp takes a row of up to warp_row neighbors. Longer rows are
// cut into parts of part_members neighbors v, one block each; a part whose table does not fit works in pieces.
// Blocks take parts first and rows after, all from counters, so that the heaviest work starts first and nobody idles.
//
// Expects rows in rank space, sorted, towards higher ranks only. 32 rows together must have fewer than 2^32 entries.
// Cost: for each edge (u, v) the length of row v. Compact-forward after Latapy, "Main-memory triangle computations for
// very large (sparse (power-law)) graphs" (TCS 2008), with a hashed instead of a merged intersection.
#include "grid.cuh"
#include "members.cuh"
#include "platform.cuh"
#include "status.cuh"
#include "warp.cuh"
#define BY_TOTAL 0
#define BY_VERTEX 1
#define BY_EDGE 2
#if !defined(VERTEX_T) || !defined(BY)
#error "VERTEX_T and BY are set by the host"
#endif

constexpr int num_warps = 8;
constexpr int warp_slots = sizeof(VERTEX_T) == 4 ? 512 : 256;
constexpr int warp_row = warp_slots / 4;
constexpr int block_slots = num_warps * warp_slots;
constexpr int block_members = block_slots / 2;
constexpr int part_members = 32 * num_warps;
constexpr bool counting = BY != BY_TOTAL;

// 64-bit words only, in the order that triangles.py knows.
struct triangle_work {
  status_word status;
  unsigned long long total;
  unsigned long long num_parts, parts_drawn, rows_drawn;
};

struct row_part {
  long long row, first;
};

struct oriented_graph {
  const long long* __restrict__ offsets;
  const VERTEX_T* __restrict__ neighbors;
  long long num_rows;
};

// What one warp needs to walk 32 rows back to back: lane i brings the row of the i-th neighbor.
struct walk_batch {
  unsigned ends[32];     // of each row, in the numbering of the entries of all 32
  unsigned hits[32];     // triangles found in each row
  long long shifts[32];  // from that numbering to the entries of the graph
};

// Adds one to a count in global memory.
__device__ __forceinline__ void add(unsigned long long* count, unsigned long long value) {
  if (value != 0) atomicAdd(count, value);
}

// Walks the rows of the neighbors [first, last) of u, at most 32 of them, and probes every entry. Returns how many
// members this lane found; counts what the caller cannot: (v) or the edges (u, v) and (v, w).
__device__ unsigned walk(const oriented_graph& graph, long long u, int first, int last,
                         const member_table<VERTEX_T>& table, walk_batch& batch, unsigned* member_hits,
                         unsigned long long* counts, triangle_work* work) {
  const int lane = lane_id();
  const long long own = graph.offsets[u] + first + lane;
  long long begin = 0;
  unsigned length = 0;
  VERTEX_T v = 0;
  if (first + lane < last) {
    v = graph.neighbors[own];
    if (v <= u || v >= graph.num_rows) {
      raise_status(&work->status, fault_bad_neighbor, own);
    } else {
      begin = graph.offsets[v];
      length = static_cast<unsigned>(graph.offsets[v + 1] - begin);
    }
  }
  const unsigned end = warp_inclusive_scan(length);
  const unsigned total = __shfl_sync(full_mask, end, 31);
  batch.ends[lane] = end;
  batch.shifts[lane] = begin - (end - length);
  if (counting) batch.hits[lane] = 0;
  __syncwarp();

  unsigned found = 0;
  if (static_cast<unsigned>(lane) < total) {
    int row = 0;  // the row that the lane's entry is in: a binary search once, then it only moves on
    for (int step = 16; step > 0; step >>= 1) {
      if (batch.ends[row + step - 1] <= static_cast<unsigned>(lane)) row += step;
    }
    for (unsigned item = static_cast<unsigned>(lane); item < total; item += 32) {
      while (batch.ends[row] <= item) ++row;
      const long long entry = batch.shifts[row] + item;
      const int slot = table.find(graph.neighbors[entry]);
      if (slot < 0) continue;
      ++found;
      if (counting) {
        atomicAdd(&batch.hits[row], 1u);
        atomicAdd(&member_hits[table.places[slot]], 1u);
        if (BY == BY_EDGE) atomicAdd(&counts[entry], 1ull);
      }
    }
  }
  __syncwarp();
  if (counting && first + lane < last && length != 0) add(&counts[BY == BY_EDGE ? own : v], batch.hits[lane]);
  __syncwarp();  // the next batch overwrites this one
  return found;
}

// Adds what the members of a table were hit to their counts, by `threads` threads.
__device__ __forceinline__ void flush_members(const oriented_graph& graph, long long first_entry, int members,
                                              const unsigned* member_hits, unsigned long long* counts, int thread,
                                              int threads) {
  for (int i = thread; i < members; i += threads) {
    const long long entry = first_entry + i;
    const VERTEX_T w = graph.neighbors[entry];
    if (w >= 0 && w < graph.num_rows) add(&counts[BY == BY_EDGE ? entry : w], member_hits[i]);
  }
}

// Fills a table with neighbors [first_entry, first_entry + members), by `threads` threads that the caller synchronizes
// between clearing and inserting.
__device__ __forceinline__ void clear_table(const member_table<VERTEX_T>& table, int members, unsigned* member_hits,
                                            int thread, int threads) {
  for (unsigned i = static_cast<unsigned>(thread); i < table.num_slots(); i += static_cast<unsigned>(threads)) {
    table.keys[i] = member_table<VERTEX_T>::empty;
  }
  if (counting) {
    for (int i = thread; i < members; i += threads) member_hits[i] = 0;
  }
}
__device__ __forceinline__ void fill_table(const member_table<VERTEX_T>& table, const oriented_graph& graph,
                                           long long first_entry, int members, int thread, int threads) {
  for (int i = thread; i < members; i += threads) {
    const VERTEX_T w = graph.neighbors[first_entry + i];
    if (w >= 0) table.insert(w, i);
  }
}

// The triangles of one row of 2 to warp_row neighbors, by one warp.
__device__ unsigned count_short_row(const oriented_graph& graph, long long u, long long begin, int members,
                                    member_table<VERTEX_T> table, walk_batch& batch, unsigned* member_hits,
                                    unsigned long long* counts, triangle_work* work) {
  table.bits = table_bits(members, 4);
  clear_table(table, members, member_hits, lane_id(), 32);
  __syncwarp();
  fill_table(table, graph, begin, members, lane_id(), 32);
  __syncwarp();
  unsigned found = 0;
  // The last neighbor cannot be v: it has no higher neighbor of u above it.
  for (int first = 0; first < members - 1; first += 32) {
    found += walk(graph, u, first, members - 1, table, batch, member_hits, counts, work);
  }
  if (counting) flush_members(graph, begin, members, member_hits, counts, lane_id(), 32);
  __syncwarp();
  return found;
}

// The triangles of part_members neighbors v of a long row, by one block, a warp per 32 of them. Only neighbors above
// the first v can be w.
__device__ unsigned count_part(const oriented_graph& graph, row_part part, member_table<VERTEX_T> table,
                               walk_batch& batch, unsigned* member_hits, unsigned long long* counts,
                               triangle_work* work) {
  const long long begin = graph.offsets[part.row];
  const int length = static_cast<int>(graph.offsets[part.row + 1] - begin), thread = static_cast<int>(threadIdx.x);
  const int first = static_cast<int>(part.first) + 32 * warp_id();
  const int last = min(static_cast<int>(part.first) + part_members, length - 1);
  unsigned found = 0;
  for (int piece = static_cast<int>(part.first) + 1; piece < length; piece += block_members) {
    const int members = min(block_members, length - piece);
    table.bits = table_bits(members, 2);
    clear_table(table, members, member_hits, thread, static_cast<int>(blockDim.x));
    __syncthreads();
    fill_table(table, graph, begin + piece, members, thread, static_cast<int>(blockDim.x));
    __syncthreads();
    if (first < last) found += walk(graph, part.row, first, last, table, batch, member_hits, counts, work);
    __syncthreads();
    if (counting) {
      flush_members(graph, begin + piece, members, member_hits, counts, thread, static_cast<int>(blockDim.x));
      __syncthreads();
    }
  }
  return found;
}

// Cuts the long rows of [begin, end) into parts. A thread per row.
extern "C" __global__ void triangles_split(const long long* offsets, long long begin, long long end, long long capacity,
                                           row_part* parts, triangle_work* work) {
  for (long long row = begin + grid_thread_id(); row < end; row += grid_threads()) {
    const long long length = offsets[row + 1] - offsets[row];
    if (length <= warp_row) continue;
    const long long needed = (length - 1 + part_members - 1) / part_members;
    long long place = static_cast<long long>(atomicAdd(&work->num_parts, static_cast<unsigned long long>(needed)));
    if (place + needed > capacity) {
      raise_status(&work->status, fault_queue_full, row);
      continue;
    }
    for (long long first = 0; first < length - 1; first += part_members) parts[place++] = row_part{row, first};
  }
}

// Counts the triangles whose lowest corner is a row of [begin, end). Blocks of num_warps warps. `counts` has an entry
// per row or per edge, or is not used. Shared memory: one table for the block or one per warp, and a batch per warp.
extern "C" __global__ void __launch_bounds__(32 * num_warps)
    triangles_count(const long long* __restrict__ offsets, const VERTEX_T* __restrict__ neighbors, long long num_rows,
                    long long begin, long long end, int rows_per_draw, const row_part* parts,
                    unsigned long long* counts, triangle_work* work) {
  __shared__ VERTEX_T keys[block_slots];
  __shared__ unsigned short places[counting ? block_slots : 1];
  __shared__ unsigned member_hits[counting ? block_members : 1];
  __shared__ walk_batch batches[num_warps];
  __shared__ unsigned long long drawn, block_total;
  const oriented_graph graph{offsets, neighbors, num_rows};
  walk_batch& batch = batches[warp_id()];
  unsigned long long total = 0;
  if (threadIdx.x == 0) block_total = 0;

  for (;;) {
    __syncthreads();
    if (threadIdx.x == 0) drawn = atomicAdd(&work->parts_drawn, 1ull);
    __syncthreads();
    if (drawn >= work->num_parts) break;
    const row_part part = parts[drawn];
    const member_table<VERTEX_T> table{keys, counting ? places : nullptr, 0};
    const unsigned found = count_part(graph, part, table, batch, member_hits, counts, work);
    if (BY == BY_VERTEX) add(&counts[part.row], found);
    total += found;
  }

  const member_table<VERTEX_T> table{keys + warp_id() * warp_slots,
                                     counting ? places + warp_id() * warp_slots : nullptr, 0};
  unsigned* const own_hits = member_hits + (counting ? warp_id() * warp_row : 0);
  for (;;) {
    const long long first = begin + warp_draw(&work->rows_drawn, rows_per_draw);
    if (first >= end) break;
    long long row_begin = 0;
    int members = 0;
    if (lane_id() < rows_per_draw && first + lane_id() < end) {
      row_begin = offsets[first + lane_id()];
      const long long length = offsets[first + lane_id() + 1] - row_begin;
      members = length <= warp_row ? static_cast<int>(length) : 0;
    }
    for (unsigned left = __ballot_sync(full_mask, members >= 2); left != 0; left &= left - 1) {
      const int chosen = __ffs(static_cast<int>(left)) - 1;
      const long long u = first + chosen;
      const unsigned found =
          count_short_row(graph, u, __shfl_sync(full_mask, row_begin, chosen), __shfl_sync(full_mask, members, chosen),
                          table, batch, own_hits, counts, work);
      if (BY == BY_VERTEX) {
        const unsigned row_found = warp_sum(found);
        if (lane_id() == 0) add(&counts[u], row_found);
      }
      total += found;
    }
  }
  total = warp_sum(total);
  if (lane_id() == 0) atomicAdd(&block_total, total);
  __syncthreads();
  if (threadIdx.x == 0) add(&work->total, block_total);
}
