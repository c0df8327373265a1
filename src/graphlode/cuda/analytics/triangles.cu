// analytics/triangles.cu - triangles of an oriented graph, each found once from its lowest-ranked corner.
//
// A team of threads owns a row u: its entries become a hash table in shared memory, then groups of GROUP lanes take the
// heads v of the row in turn and look up every entry w of the row of v: coalesced loads, one shared-memory probe each.
// Rows of at most WARP_ROW entries go to warps, longer ones to blocks; a row longer than a block's table is entered in
// pieces, and the heads are walked once per piece. Rows are drawn from a counter, highest ranks first, since those are
// the heaviest. Expects ranks ascending in each row. Cost: the sum of the row lengths of all heads.
//
// COUNT 0: the total only. 1: also per rank. 2: also per entry. What u's own entries receive is tallied per table slot
// and added once per entry; only the entry (v, w) takes an atomic per triangle.
#include "grid.cuh"
#include "hash_row.cuh"
#include "warp.cuh"

#if !defined(VERTEX_T) || !defined(GROUP) || !defined(COUNT)
#error "VERTEX_T, GROUP and COUNT are set by the host"
#endif

constexpr int warp_slots = 1024;  // mirrored in triangles.py
constexpr int warp_row = 512;
constexpr int block_threads = 256;
constexpr int block_slots = 8192;
constexpr int block_row = 4096;

typedef unsigned long long count_t;

// What a team keeps in shared memory beside the keys.
struct tallies {
  unsigned* found;  // per slot: triangles in which its rank is the third corner
  int* places;      // per slot: which entry of the row it is
};

__device__ __forceinline__ unsigned group_sum(unsigned value, unsigned mask) {
  for (int distance = GROUP / 2; distance > 0; distance >>= 1) value += __shfl_xor_sync(mask, value, distance);
  return value;
}

// Triangles of row u found through one piece of it, begin .. end, as the third corner; per thread.
template <class Team>
__device__ count_t search_piece(const long long* __restrict__ offsets, const VERTEX_T* __restrict__ neighbors,
                                long long u, int begin, int end, hash_row<VERTEX_T>& table, const tallies& tally,
                                int capacity, count_t* __restrict__ counts) {
  const long long row = offsets[u];
  const int size = static_cast<int>(offsets[u + 1] - row);
  table.template fill<Team>(neighbors + row + begin, end - begin, capacity, [&](int slot, int i) {
    if (COUNT > 0) tally.found[slot] = 0;
    if (COUNT > 0) tally.places[slot] = begin + i;
  });
  const int group = Team::rank() / GROUP, groups = Team::size() / GROUP, lane = Team::rank() % GROUP;
  const unsigned mask = (GROUP == 32 ? full_mask : ((1u << (GROUP % 32)) - 1u) << (lane_id() / GROUP * GROUP));
  count_t mine = 0;
  // The third corner ranks above v, so a head behind the piece's last entry finds nothing in it.
  for (int i = group; i < end; i += groups) {
    const VERTEX_T v = neighbors[row + i];
    const long long last = offsets[v + 1];
    unsigned found = 0;
    for (long long e = offsets[v] + lane; e < last; e += GROUP) {
      const int slot = table.find(neighbors[e]);
      if (slot < 0) continue;
      ++found;
      if (COUNT > 0) atomicAdd(tally.found + slot, 1u);
      if (COUNT == 2) atomicAdd(counts + e, static_cast<count_t>(1));
    }
    mine += found;
    if (COUNT > 0) {
      found = group_sum(found, mask);
      if (lane == 0 && found)
        atomicAdd(counts + (COUNT == 1 ? static_cast<long long>(v) : row + i), static_cast<count_t>(found));
    }
  }
  Team::sync();
  if (COUNT > 0) {
    for (int slot = Team::rank(); slot <= table.mask; slot += Team::size()) {
      if (table.keys[slot] == static_cast<VERTEX_T>(-1) || tally.found[slot] == 0) continue;
      const long long target = COUNT == 1 ? static_cast<long long>(table.keys[slot]) : row + tally.places[slot];
      atomicAdd(counts + target, static_cast<count_t>(tally.found[slot]));
    }
    Team::sync();
  }
  return size > 1 ? mine : 0;
}

// Adds what each thread found to the total and, per rank, to u's own count.
__device__ __forceinline__ void add_own(count_t found, long long u, count_t* counts) {
  if (COUNT != 1) return;
  found = warp_sum(found);
  if (lane_id() == 0 && found) atomicAdd(counts + u, found);
}

// One warp per row, blocks of 128 threads. Shared memory: a table per warp. Rows begin .. end, drawn from `next`: the
// highest `heavy` ranks one at a time, the rest 32 at a time, of which only rows that can hold a triangle are visited.
extern "C" __global__ void analytics_triangles_warp(const long long* __restrict__ offsets,
                                                    const VERTEX_T* __restrict__ neighbors, long long begin,
                                                    long long end, long long heavy, count_t* __restrict__ counts,
                                                    count_t* __restrict__ total, count_t* __restrict__ next) {
  DYN_SHARED(unsigned char, memory);
  const int bytes_per_slot = static_cast<int>(sizeof(VERTEX_T)) + (COUNT > 0 ? 8 : 0);
  unsigned char* const own = memory + static_cast<long long>(warp_id()) * warp_slots * bytes_per_slot;
  hash_row<VERTEX_T> table{reinterpret_cast<VERTEX_T*>(own), 0};
  unsigned* const found = reinterpret_cast<unsigned*>(own + warp_slots * sizeof(VERTEX_T));
  const tallies tally{found, reinterpret_cast<int*>(found + warp_slots)};
  count_t all = 0;
  for (;;) {
    const long long draw = warp_draw(next, 1);
    const long long above = draw < heavy ? draw : heavy + (draw - heavy) * 32;  // rows that were drawn before
    const long long top = end - above;
    if (top <= begin) break;
    const long long bottom = max(begin, top - (draw < heavy ? 1 : 32));
    const long long candidate = bottom + lane_id();
    long long size = 0;
    if (candidate < top) size = offsets[candidate + 1] - offsets[candidate];
    for (unsigned rows = __ballot_sync(full_mask, size >= 2 && size <= warp_row); rows; rows &= rows - 1) {
      const int which = __ffs(static_cast<int>(rows)) - 1;
      const long long u = bottom + which;
      const int entries = static_cast<int>(__shfl_sync(full_mask, size, which));
      const count_t mine = search_piece<warp_team>(offsets, neighbors, u, 0, entries, table, tally, warp_slots, counts);
      __syncwarp();
      add_own(mine, u, counts);
      all += mine;
    }
  }
  all = warp_sum(all);
  if (lane_id() == 0 && all) atomicAdd(total, all);
}

// One block per row of more than warp_row entries. Shared memory: one table. Chunk c, drawn from `next`, holds the rows
// begin + c, begin + c + num_chunks, ...: long rows have neighboring ranks, and no block should get many of them.
extern "C" __global__ void analytics_triangles_block(const long long* __restrict__ offsets,
                                                     const VERTEX_T* __restrict__ neighbors, long long begin,
                                                     long long end, long long num_chunks, count_t* __restrict__ counts,
                                                     count_t* __restrict__ total, count_t* __restrict__ next) {
  DYN_SHARED(unsigned char, memory);
  __shared__ long long chunk;
  __shared__ int num_long;
  __shared__ long long long_rows[block_threads];
  hash_row<VERTEX_T> table{reinterpret_cast<VERTEX_T*>(memory), 0};
  unsigned* const found = reinterpret_cast<unsigned*>(memory + block_slots * sizeof(VERTEX_T));
  const tallies tally{found, reinterpret_cast<int*>(found + block_slots)};
  count_t all = 0;
  for (;;) {
    if (threadIdx.x == 0) {
      chunk = static_cast<long long>(atomicAdd(next, static_cast<count_t>(1)));
      num_long = 0;
    }
    __syncthreads();
    if (chunk >= num_chunks) break;
    const long long candidate = begin + chunk + num_chunks * static_cast<long long>(threadIdx.x);
    if (candidate < end && offsets[candidate + 1] - offsets[candidate] > warp_row)
      long_rows[atomicAdd(&num_long, 1)] = candidate;
    __syncthreads();
    for (int i = 0; i < num_long; ++i) {
      const long long u = long_rows[i];
      const int entries = static_cast<int>(offsets[u + 1] - offsets[u]);
      for (int piece = 0; piece < entries; piece += block_row) {
        const int piece_end = min(entries, piece + block_row);
        const count_t mine =
            search_piece<block_team>(offsets, neighbors, u, piece, piece_end, table, tally, block_slots, counts);
        add_own(mine, u, counts);
        all += mine;
      }
    }
    __syncthreads();
  }
  all = warp_sum(all);
  if (lane_id() == 0 && all) atomicAdd(total, all);
}
