// mining/clique_rows.cu - the adjacency among the neighbors of each root, as rows of bits.
//
// The neighbors of a root go into a hash table; then the row of each neighbor is walked by a group of lanes, and every
// entry that is in the table is an edge of the neighbourhood: one bit in each of its two rows. Matrices of up to
// block_degree rows are put together in shared memory and written out once. A warp takes a root of up to warp_degree
// neighbors, a block a larger one; blocks take the large ones first, from a counter. Beyond block_degree neighbors the
// bits are set in the slab itself and members are found by binary search, so any length will do.
//
// Expects rows in rank space, sorted, towards higher ranks only. Cost: for each edge (u, v) below a root the part of
// row v up to the last neighbor of u.
#include "clique_rows.cuh"
#include "members.cuh"
#include "platform.cuh"
#include "status.cuh"
#include "warp.cuh"
#if !defined(VERTEX_T)
#error "VERTEX_T is set by the host"
#endif

constexpr int num_warps = 8;
constexpr int warp_degree = 64;
constexpr int block_degree = 512;
constexpr int spread = 4;  // slots of a table per member

// 64-bit words only, in the order that clique_rows.py knows.
struct build_work {
  status_word status;
  unsigned long long blocks_drawn, warps_drawn;
};

// Shared memory of a worker that builds up to `degree` rows: bits, then the table.
struct build_space {
  unsigned* bits;
  member_table<VERTEX_T> table;

  __device__ build_space(unsigned char* memory, int degree) {
    const int slots = 1 << table_bits(degree, spread);
    table.keys = reinterpret_cast<VERTEX_T*>(memory);
    bits = reinterpret_cast<unsigned*>(table.keys + slots);
    table.places = reinterpret_cast<unsigned short*>(bits + degree * words_for(degree));
    table.bits = 0;
  }
};

__device__ __forceinline__ bool in_order(VERTEX_T neighbor, long long root, long long num_rows) {
  return neighbor > root && neighbor < num_rows;
}

// Calls set(i, j) for every pair of neighbors of a root that are adjacent, i below j, by `threads` threads, in groups
// of Lanes that walk one row together. find(x) is the place of a vertex among the neighbors, or -1.
template <int Lanes, class Find, class Set>
__device__ __forceinline__ void walk_neighbors(const clique_rows<VERTEX_T>& graph, const clique_root& root,
                                               long long num_rows, int thread, int threads, Find find, Set set) {
  constexpr int ahead = 4;  // loads that are under way together
  const VERTEX_T last = graph.neighbors[root.begin + root.degree - 1];
  for (int i = thread / Lanes; i < root.degree - 1; i += threads / Lanes) {
    const VERTEX_T v = graph.neighbors[root.begin + i];
    if (!in_order(v, root.vertex, num_rows)) continue;
    const long long end = graph.offsets[v + 1];
    for (long long entry = graph.offsets[v] + thread % Lanes; entry < end; entry += ahead * Lanes) {
      VERTEX_T x[ahead];
#pragma unroll
      for (int j = 0; j < ahead; ++j) x[j] = entry + j * Lanes < end ? graph.neighbors[entry + j * Lanes] : last + 1;
      if (x[0] > last) break;
#pragma unroll
      for (int j = 0; j < ahead; ++j) {
        const int place = x[j] > last ? -1 : find(x[j]);
        if (place > i) set(i, place);
      }
    }
  }
}

__device__ __forceinline__ void set_both(unsigned* bits, int words, int i, int j) {
  atomicOr(&bits[static_cast<long long>(i) * words + (j >> 5)], 1u << (j & 31));
  atomicOr(&bits[static_cast<long long>(j) * words + (i >> 5)], 1u << (i & 31));
}

// Completes a matrix of which only the bits below the diagonal are set, 32 x 32 bits at a time. The bits of one row
// above it lie in few words, which the lanes of a large group would contend for: transposing costs less. By `warps`
// warps; this is `warp`.
__device__ __forceinline__ void mirror(unsigned* bits, int degree, int words, int warp, int warps) {
  const int lane = lane_id();
  int turn = 0;
  for (int low = 0; low < words; ++low) {
    for (int high = low; high < words; ++high) {
      if (turn++ % warps != warp) continue;
      const unsigned row = 32 * high + lane < degree ? bits[(32 * high + lane) * words + low] : 0;
      const int columns = min(32, degree - 32 * low);
      unsigned column = 0;
      for (int i = 0; i < columns; ++i) {
        const unsigned votes = __ballot_sync(full_mask, row >> i & 1u);
        if (lane == i) column = votes;
      }
      if (lane < columns) bits[(32 * low + lane) * words + high] = low == high ? row | column : column;
    }
  }
}

// Builds the matrix of one root in shared memory, by the threads that `meet` synchronises.
template <int Lanes, class Meet>
__device__ __forceinline__ void build_shared(const clique_rows<VERTEX_T>& graph, const clique_root& root,
                                             long long num_rows, build_space space, build_work* work, int thread,
                                             int threads, Meet meet) {
  const int words = root.degree * root.words;
  space.table.bits = table_bits(root.degree, spread);
  for (unsigned i = static_cast<unsigned>(thread); i < space.table.num_slots(); i += static_cast<unsigned>(threads)) {
    space.table.keys[i] = member_table<VERTEX_T>::empty;
  }
  for (int i = thread; i < words; i += threads) space.bits[i] = 0;
  meet();
  for (int i = thread; i < root.degree; i += threads) {
    const VERTEX_T v = graph.neighbors[root.begin + i];
    if (in_order(v, root.vertex, num_rows)) {
      space.table.insert(v, i);
    } else {
      raise_status(&work->status, fault_bad_neighbor, root.begin + i);
    }
  }
  meet();
  walk_neighbors<Lanes>(
      graph, root, num_rows, thread, threads,
      [&](VERTEX_T x) {
        const int at = space.table.find(x);
        return at < 0 ? -1 : static_cast<int>(space.table.places[at]);
      },
      [&](int i, int j) {
        if (Lanes < 32) {
          set_both(space.bits, root.words, i, j);
        } else {
          atomicOr(&space.bits[j * root.words + (i >> 5)], 1u << (i & 31));
        }
      });
  meet();
  if (Lanes == 32) {
    mirror(space.bits, root.degree, root.words, thread >> 5, threads >> 5);
    meet();
  }
  for (int i = thread; i < words; i += threads) root.rows[i] = space.bits[i];
  meet();  // the next root overwrites what is read here
}

// Roots of up to block_degree neighbors: slots [first, middle) by blocks, [middle, last) by warps. `degree` is the
// longest row of the first. Dynamic shared memory: one space for the block, or one per warp, whichever is larger.
extern "C" __global__ void __launch_bounds__(32 * num_warps)
    clique_rows_build(const long long* __restrict__ offsets, const VERTEX_T* __restrict__ neighbors,
                      const VERTEX_T* __restrict__ roots, const long long* __restrict__ slab_shifts, long long num_rows,
                      long long first, long long middle, long long last, int degree, int warp_bytes, int per_draw,
                      unsigned* slab, build_work* work) {
  DYN_SHARED(unsigned char, memory);
  __shared__ long long drawn;
  const clique_rows<VERTEX_T> graph{offsets, neighbors, roots, slab_shifts, slab};
  if (first < middle) {
    const build_space space(memory, degree);
    for (;;) {
      if (threadIdx.x == 0) drawn = first + static_cast<long long>(atomicAdd(&work->blocks_drawn, 1ull));
      __syncthreads();
      const long long slot = drawn;
      __syncthreads();
      if (slot >= middle) break;
      build_shared<32>(graph, graph.at(slot), num_rows, space, work, static_cast<int>(threadIdx.x),
                       static_cast<int>(blockDim.x), [] { __syncthreads(); });
    }
  }
  const build_space space(memory + warp_id() * warp_bytes, warp_degree);
  for (;;) {
    const long long begin = middle + warp_draw(&work->warps_drawn, per_draw);
    if (begin >= last) break;
    // Lane i looks up where the i-th root lies, so that the warp waits once for all of them.
    const int count = static_cast<int>(min(static_cast<long long>(per_draw), last - begin));
    clique_root mine{0, 0, 0, 0, nullptr};
    if (lane_id() < count) mine = graph.at(begin + lane_id());
    for (int i = 0; i < count; ++i) {
      clique_root root;
      root.vertex = __shfl_sync(full_mask, mine.vertex, i);
      root.begin = __shfl_sync(full_mask, mine.begin, i);
      root.degree = __shfl_sync(full_mask, mine.degree, i);
      root.words = words_for(root.degree);
      root.rows = slab + __shfl_sync(full_mask, static_cast<long long>(mine.rows - slab), i);
      build_shared<8>(graph, root, num_rows, space, work, lane_id(), 32, [] { __syncwarp(); });
    }
  }
}

// Roots with more than block_degree neighbors, slots [first, last): a block per root, bits in the slab itself.
extern "C" __global__ void __launch_bounds__(32 * num_warps)
    clique_rows_build_long(const long long* __restrict__ offsets, const VERTEX_T* __restrict__ neighbors,
                           const VERTEX_T* __restrict__ roots, const long long* __restrict__ slab_shifts,
                           long long num_rows, long long first, long long last, unsigned* slab, build_work* work) {
  const clique_rows<VERTEX_T> graph{offsets, neighbors, roots, slab_shifts, slab};
  const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  for (long long slot = first + blockIdx.x; slot < last; slot += gridDim.x) {
    const clique_root root = graph.at(slot);
    const long long words = static_cast<long long>(root.degree) * root.words;
    for (long long i = thread; i < words; i += threads) root.rows[i] = 0;
    for (int i = thread; i < root.degree; i += threads) {
      if (!in_order(neighbors[root.begin + i], root.vertex, num_rows)) {
        raise_status(&work->status, fault_bad_neighbor, root.begin + i);
      }
    }
    __syncthreads();
    walk_neighbors<32>(
        graph, root, num_rows, thread, threads,
        [&](VERTEX_T x) {
          int low = 0, high = root.degree;
          while (low < high) {
            const int middle = (low + high) >> 1;
            if (neighbors[root.begin + middle] < x)
              low = middle + 1;
            else
              high = middle;
          }
          return low < root.degree && neighbors[root.begin + low] == x ? low : -1;
        },
        [&](int i, int j) { set_both(root.rows, root.words, i, j); });
  }
}
