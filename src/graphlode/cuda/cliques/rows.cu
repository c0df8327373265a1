// cliques/rows.cu - the adjacency among the neighbors of each root, as rows of bits.
//
// The neighbors of a root go into a hash table; then the row of each neighbor is walked by a group of lanes, and every
// entry that is in the table is an edge of the neighborhood. The lanes gather the bits of the row in registers, so
// only bits above the diagonal are found; the others come from transposing. A warp builds a root of up to warp_degree
// neighbors, a block a larger one. With up to 16 or 8 neighbors a warp builds 2 or 4 roots at once and looks each pair
// of neighbors up. Blocks and warps draw from counters, the largest roots first. Beyond block_degree neighbors the bits
// are set in the slab itself and members are found by binary search, so any length will do.
//
// Expects rows in rank space, sorted, towards higher ranks only. Cost: for each edge (u, v) below a root the part of
// row v up to the last neighbor of u.
#include "cliques/rows.cuh"
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

constexpr int log2_of(int power) { return power == 1 ? 0 : 1 + log2_of(power / 2); }

// 64-bit words only, in the order that cliques/rows.py knows.
struct build_work {
  status_word status;
  unsigned long long blocks_drawn, warps_drawn;
};

// Where the part of the row of one neighbor lies; of a bad neighbor, nowhere.
struct row_range {
  long long begin;
  int length;
};

__device__ __forceinline__ bool in_order(VERTEX_T neighbor, long long root, long long num_rows) {
  return neighbor > root && neighbor < num_rows;
}

// A neighbor of a root at entry `at`: its row is looked up, and it goes into the table.
__device__ __forceinline__ row_range enter_neighbor(const clique_rows<VERTEX_T>& graph, const clique_root& root,
                                                    long long num_rows, int place, const member_table<VERTEX_T>& table,
                                                    build_work* work) {
  const VERTEX_T v = graph.neighbors[root.begin + place];
  if (!in_order(v, root.vertex, num_rows)) {
    raise_status(&work->status, fault_bad_neighbor, root.begin + place);
    return {0, 0};
  }
  const long long begin = graph.offsets[v];
  table.insert(v, place);
  return {begin, static_cast<int>(graph.offsets[v + 1] - begin)};
}

// Walks a row by groups of Lanes and calls found(place) for its entries that find(x) knows a place of, up to `last`.
template <int Lanes, int Ahead, class Find, class Found>
__device__ __forceinline__ void walk_row(const VERTEX_T* __restrict__ row, int length, int lane, VERTEX_T last,
                                         Find find, Found found) {
  for (int entry = lane; entry < length; entry += Ahead * Lanes) {
    VERTEX_T x[Ahead];  // loads that are under way together
#pragma unroll
    for (int j = 0; j < Ahead; ++j) x[j] = entry + j * Lanes < length ? row[entry + j * Lanes] : last + 1;
    if (x[0] > last) break;
#pragma unroll
    for (int j = 0; j < Ahead; ++j) {
      const int place = x[j] > last ? -1 : find(x[j]);
      if (place >= 0) found(place);
    }
  }
}

__device__ __forceinline__ int find_place(const member_table<VERTEX_T>& table, VERTEX_T x) {
  const int at = table.find(x);
  return at < 0 ? -1 : static_cast<int>(table.places[at]);
}

// Lane i has row i of 32 x 32 bits; it gets column i.
__device__ __forceinline__ unsigned transpose(unsigned row) {
  unsigned column = 0;
#pragma unroll
  for (int i = 0; i < 32; ++i) {
    const unsigned votes = __ballot_sync(full_mask, row >> i & 1u);
    if (lane_id() == i) column = votes;
  }
  return column;
}

// A set in registers, so its words are not indexed by what is known at run time only.
template <int Words>
struct gathered_bits {
  unsigned words[Words] = {};

  __device__ __forceinline__ void set(int bit) {
#pragma unroll
    for (int w = 0; w < Words; ++w) words[w] |= (bit >> 5 == w ? 1u : 0u) << (bit & 31);
  }
};

// ---- roots of a warp

// The place of a vertex in a sorted row, or -1.
template <class Length>
__device__ __forceinline__ Length find_sorted(const VERTEX_T* __restrict__ row, Length length, VERTEX_T x) {
  Length low = 0, high = length;
  while (low < high) {
    const Length middle = (low + high) >> 1;
    if (row[middle] < x) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < length && row[low] == x ? low : -1;
}

// Builds 32 / Group roots of up to Group neighbors side by side, a group of lanes each; its degree is 0 if there is
// none. Lane p has the neighbor at place p. In turn t it looks whether that is adjacent to the one t places further,
// round the end: so every pair is looked at, by a search in the row of the lower of the two. For so few neighbors that
// is less work than walking their rows.
template <int Group>
__device__ __forceinline__ void build_pairs(const clique_rows<VERTEX_T>& graph, const clique_root& root,
                                            long long num_rows, build_work* work) {
  const int place = lane_id() % Group, base = lane_id() - place, degree = root.degree;
  VERTEX_T v = 0;
  long long begin = 0;
  int length = 0;
  if (place < degree) {
    v = graph.neighbors[root.begin + place];
    if (in_order(v, root.vertex, num_rows)) {
      begin = graph.offsets[v];
      length = static_cast<int>(graph.offsets[v + 1] - begin);
    } else {
      raise_status(&work->status, fault_bad_neighbor, root.begin + place);
    }
  }
  const int turns = __reduce_max_sync(full_mask, degree / 2);
  unsigned row = 0;
  for (int turn = 1; turn <= turns; ++turn) {
    const bool looks = place < degree && 2 * turn <= degree;
    const int other = looks ? (place + turn < degree ? place + turn : place + turn - degree) : place;
    const VERTEX_T v_of_other = __shfl_sync(full_mask, v, base + other);
    const long long begin_of_other = __shfl_sync(full_mask, begin, base + other);
    const int length_of_other = __shfl_sync(full_mask, length, base + other);
    const bool lower = place < other;
    const bool adjacent = looks && find_sorted(graph.neighbors + (lower ? begin : begin_of_other),
                                               lower ? length : length_of_other, lower ? v_of_other : v) >= 0;
    const unsigned votes = __ballot_sync(full_mask, adjacent) >> base;
    const int looked = place >= turn ? place - turn : place - turn + degree;  // the one that looked at this lane's
    if (adjacent) row |= 1u << other;
    if (looks && votes >> looked & 1u) row |= 1u << looked;
  }
  if (place < degree) root.rows[place] = row;
}

// Shared memory of a warp: the table of one root. cliques/rows.py knows its size.
struct warp_table {
  VERTEX_T keys[spread * warp_degree];
  unsigned short places[spread * warp_degree];
};

// Builds one root of up to 32 * Words neighbors. Lane p has the rows of places p, p + 32, ..; 8 lanes walk one
// together.
template <int Words>
__device__ __forceinline__ void build_by_warp(const clique_rows<VERTEX_T>& graph, const clique_root& root,
                                              long long num_rows, warp_table& memory, build_work* work) {
  constexpr int lanes = 8, rows_at_once = 32 / lanes, slots = 32 * spread * Words;
  const int lane = lane_id(), part = lane / lanes;
  const member_table<VERTEX_T> table{memory.keys, memory.places, log2_of(slots)};
  __syncwarp();  // the table of the root before has been read
#pragma unroll
  for (int i = 0; i < spread * Words; ++i) table.keys[32 * i + lane] = member_table<VERTEX_T>::empty;
  __syncwarp();
  row_range range[Words];
  unsigned row[Words][Words];
#pragma unroll
  for (int h = 0; h < Words; ++h) {
    range[h] = {0, 0};
    if (32 * h + lane < root.degree) range[h] = enter_neighbor(graph, root, num_rows, 32 * h + lane, table, work);
#pragma unroll
    for (int w = 0; w < Words; ++w) row[h][w] = 0;
  }
  const VERTEX_T last = graph.neighbors[root.begin + root.degree - 1];
  __syncwarp();

#pragma unroll
  for (int h = 0; h < Words; ++h) {
    const int rows = min(32, root.degree - 1 - 32 * h);  // the last has nothing above it
    for (int turn = 0; turn * rows_at_once < rows; ++turn) {
      const int source = turn * rows_at_once + part;
      const long long begin = __shfl_sync(full_mask, range[h].begin, source);
      const int length = __shfl_sync(full_mask, range[h].length, source);
      gathered_bits<Words> bits;
      walk_row<lanes, 4>(
          graph.neighbors + begin, length, lane % lanes, last, [&](VERTEX_T x) { return find_place(table, x); },
          [&](int at) { bits.set(at); });
      __syncwarp();
#pragma unroll
      for (int w = h; w < Words; ++w) {
        unsigned word = bits.words[w];
#pragma unroll
        for (int distance = 1; distance < lanes; distance <<= 1) word |= __shfl_xor_sync(full_mask, word, distance);
        word = __shfl_sync(full_mask, word, lane % rows_at_once * lanes);
        if (lane / rows_at_once == turn) row[h][w] = word;
      }
    }
  }
#pragma unroll
  for (int h = 0; h < Words; ++h) {
    row[h][h] |= transpose(row[h][h]);
#pragma unroll
    for (int w = h + 1; w < Words; ++w) row[w][h] = transpose(row[h][w]);
    if (32 * h + lane < root.degree) {
#pragma unroll
      for (int w = 0; w < Words; ++w) root.rows[(32 * h + lane) * Words + w] = row[h][w];
    }
  }
}

__device__ __forceinline__ clique_root root_of_lane(const clique_rows<VERTEX_T>& graph, const clique_root& mine,
                                                    int lane) {
  clique_root root;
  root.vertex = __shfl_sync(full_mask, mine.vertex, lane);
  root.begin = __shfl_sync(full_mask, mine.begin, lane);
  root.degree = __shfl_sync(full_mask, mine.degree, lane);
  root.words = words_for(root.degree);
  root.rows = graph.slab + __shfl_sync(full_mask, static_cast<long long>(mine.rows - graph.slab), lane);
  return root;
}

// Builds the roots of lanes `first` to `last`, as many at once as fit a warp.
template <int Group>
__device__ __forceinline__ void build_groups(const clique_rows<VERTEX_T>& graph, const clique_root& mine, int first,
                                             int last, long long num_rows, build_work* work) {
  for (int i = first; i < last; i += 32 / Group) {
    const int source = i + lane_id() / Group;
    clique_root root = root_of_lane(graph, mine, source & 31);
    if (source >= last) root.degree = 0;
    build_pairs<Group>(graph, root, num_rows, work);
  }
}

// ---- roots of a block

// Shared memory of a block that builds up to `degree` rows: where the rows of the neighbors lie, the table, bits.
struct build_space {
  row_range* ranges;
  member_table<VERTEX_T> table;
  unsigned* bits;

  __device__ build_space(unsigned char* memory, int degree) {
    const int slots = 1 << table_bits(degree, spread);
    ranges = reinterpret_cast<row_range*>(memory);
    table.keys = reinterpret_cast<VERTEX_T*>(ranges + degree);
    bits = reinterpret_cast<unsigned*>(table.keys + slots);
    table.places = reinterpret_cast<unsigned short*>(bits + degree * words_for(degree));
    table.bits = 0;
  }
};

// Completes a matrix of which only the bits on one side of the diagonal are set, 32 x 32 bits at a time, by all warps.
template <bool FromAbove>
__device__ __forceinline__ void mirror(unsigned* bits, int degree, int words) {
  const int lane = lane_id();
  int turn = 0;
  for (int low = 0; low < words; ++low) {
    for (int high = low; high < words; ++high) {
      if (turn++ % num_warps != warp_id()) continue;
      const int from = FromAbove ? low : high, to = FromAbove ? high : low;
      const unsigned row = 32 * from + lane < degree ? bits[(32 * from + lane) * words + to] : 0;
      const unsigned column = transpose(row);
      if (32 * to + lane < degree) bits[(32 * to + lane) * words + from] = low == high ? row | column : column;
    }
  }
}

// Walks the rows of the root's neighbors, a warp each. Up to Words words a lane gathers the bits of a row; with 0 they
// go into the matrix one by one, below the diagonal: above it the lanes would contend for few words.
template <int Words>
__device__ __forceinline__ void walk_rows(const clique_rows<VERTEX_T>& graph, const clique_root& root,
                                          const build_space& space) {
  const VERTEX_T last = graph.neighbors[root.begin + root.degree - 1];
  for (int i = warp_id(); i < root.degree - 1; i += num_warps) {
    const row_range range = space.ranges[i];
    gathered_bits<(Words > 0 ? Words : 1)> bits;
    walk_row<32, Words == 0 ? 8 : 4>(
        graph.neighbors + range.begin, range.length, lane_id(), last,
        [&](VERTEX_T x) { return find_place(space.table, x); },
        [&](int at) {
          if (Words != 0) {
            bits.set(at);
          } else if (at > i) {
            atomicOr(&space.bits[at * root.words + (i >> 5)], 1u << (i & 31));
          }
        });
    __syncwarp();
#pragma unroll
    for (int w = 0; w < Words; ++w) {
      const unsigned all = __reduce_or_sync(full_mask, bits.words[w]);
      if (lane_id() == w && w < root.words) space.bits[i * root.words + w] = all;
    }
  }
}

__device__ __forceinline__ void build_by_block(const clique_rows<VERTEX_T>& graph, const clique_root& root,
                                               long long num_rows, build_space space, build_work* work) {
  constexpr int gathered = 4;  // words of a row that fit registers
  const int words = root.degree * root.words, thread = static_cast<int>(threadIdx.x), threads = 32 * num_warps;
  space.table.bits = table_bits(root.degree, spread);
  for (unsigned i = threadIdx.x; i < space.table.num_slots(); i += threads) {
    space.table.keys[i] = member_table<VERTEX_T>::empty;
  }
  for (int i = thread; i < words; i += threads) space.bits[i] = 0;
  __syncthreads();
  for (int i = thread; i < root.degree; i += threads) {
    space.ranges[i] = enter_neighbor(graph, root, num_rows, i, space.table, work);
  }
  __syncthreads();
  if (root.words <= gathered) {
    walk_rows<gathered>(graph, root, space);
    __syncthreads();
    mirror<true>(space.bits, root.degree, root.words);
  } else {
    walk_rows<0>(graph, root, space);
    __syncthreads();
    mirror<false>(space.bits, root.degree, root.words);
  }
  __syncthreads();
  for (int i = thread; i < words; i += threads) root.rows[i] = space.bits[i];
  __syncthreads();  // the next root overwrites what is read here
}

// Roots of up to block_degree neighbors: slots [first, within_64) by blocks, `degree` being the longest of these; from
// the others on, roots have up to 64, 32, 16 and 8 neighbors. Those of up to 16 are drawn `per_draw` at a time. Dynamic
// shared memory: one space for the block, or a table for each warp, whichever is larger.
extern "C" __global__ void __launch_bounds__(32 * num_warps)
    clique_rows_build(const long long* __restrict__ offsets, const VERTEX_T* __restrict__ neighbors,
                      const VERTEX_T* __restrict__ roots, const long long* __restrict__ slab_shifts, long long num_rows,
                      long long first, long long within_64, long long within_32, long long within_16,
                      long long within_8, long long last, int degree, int per_draw, unsigned* slab, build_work* work) {
  DYN_SHARED(unsigned char, memory);
  __shared__ long long drawn;
  const clique_rows<VERTEX_T> graph{offsets, neighbors, roots, slab_shifts, slab};
  if (first < within_64) {
    const build_space space(memory, degree);
    for (;;) {
      if (threadIdx.x == 0) drawn = first + static_cast<long long>(atomicAdd(&work->blocks_drawn, 1ull));
      __syncthreads();
      const long long slot = drawn;
      __syncthreads();
      if (slot >= within_64) break;
      build_by_block(graph, graph.at(slot), num_rows, space, work);
    }
  }
  warp_table& table = reinterpret_cast<warp_table*>(memory)[warp_id()];
  for (;;) {
    const long long ticket = within_64 + warp_draw(&work->warps_drawn, 1);
    if (ticket < within_32) {
      build_by_warp<2>(graph, graph.at(ticket), num_rows, table, work);
      continue;
    }
    if (ticket < within_16) {
      build_by_warp<1>(graph, graph.at(ticket), num_rows, table, work);
      continue;
    }
    const long long begin = within_16 + (ticket - within_16) * per_draw;
    if (begin >= last) break;
    // Lane i looks up where the i-th root lies, so that the warp waits once for all of them.
    const int count = static_cast<int>(min(static_cast<long long>(per_draw), last - begin));
    const int halves = static_cast<int>(max(0ll, min(within_8 - begin, static_cast<long long>(count))));
    clique_root mine{0, 0, 0, 0, nullptr};
    if (lane_id() < count) mine = graph.at(begin + lane_id());
    build_groups<16>(graph, mine, 0, halves, num_rows, work);
    build_groups<8>(graph, mine, halves, count, num_rows, work);
  }
}

__device__ __forceinline__ void set_both(unsigned* bits, int words, int i, int j) {
  atomicOr(&bits[static_cast<long long>(i) * words + (j >> 5)], 1u << (j & 31));
  atomicOr(&bits[static_cast<long long>(j) * words + (i >> 5)], 1u << (i & 31));
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
    const VERTEX_T last = neighbors[root.begin + root.degree - 1];
    for (int i = warp_id(); i < root.degree - 1; i += num_warps) {
      const VERTEX_T v = neighbors[root.begin + i];
      if (!in_order(v, root.vertex, num_rows)) continue;
      walk_row<32, 4>(
          neighbors + offsets[v], static_cast<int>(offsets[v + 1] - offsets[v]), lane_id(), last,
          [&](VERTEX_T x) { return find_sorted(neighbors + root.begin, root.degree, x); },
          [&](int j) {
            if (j > i) set_both(root.rows, root.words, i, j);
          });
    }
  }
}
