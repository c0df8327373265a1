// mining/orbit_pairs.cu - sums over the wedges u - h - v of every entry of h in row u: the wide part of orbits.
//
// A block takes a vertex u and counts W(u, v) for all v at distance two, higher or lower: what concerns u and its
// entries is then complete, and nothing is scattered to v. Vertices with few wedges have their counters in a table in
// shared memory, the others in global memory, by vertex, with a list of those that were touched. A first walk counts W;
// a second sums by row, asks c3(h, u, v) and adds it to twice D(u, v); a third sums D. Vertices with a single neighbor
// are passed over: they have no second common neighbor with anybody.
//
// 5-cycles u - x - j - k - y: for each j, Q(j) is the sum of W(u, k) over its neighbors k. Summed by vertex: W(u, j)
// Q(j), half of it as each edge jk is taken once. By the entry of x in row u: Q(j) - t(ux) - t(xj) over the neighbors j
// of x. What of these are no cycles is taken off by the driver, from triangles.
#include "block.cuh"
#include "grid.cuh"
#include "motif_counters.cuh"
#include "motif_graph.cuh"
#include "motif_local_row.cuh"
#include "motif_walk.cuh"
#include "orbit_sums.cuh"
#include "platform.cuh"
#include "warp.cuh"
#ifndef EDGES
#error "EDGES is set by the host"
#endif

constexpr int most_warps = 16;

using count_t = unsigned long long;
constexpr bool for_edges = EDGES != 0;

// What is known of each v: by slot of a table, or by vertex. `sides` (the sum of t(xv) over the common neighbors x) and
// `ahead` (Q) are for edges only.
struct pair_counters {
  int* keys;  // null: by vertex
  int bits;
  unsigned *common, *joined, *sides;
  count_t* ahead;
  int* members;
  unsigned* num_members;

  __device__ __forceinline__ void count(int v) const {
    if (keys != nullptr) {
      atomicAdd(&common[table().claim(v)], 1u);
    } else if (atomicAdd(&common[v], 1u) == 0) {
      members[atomicAdd(num_members, 1u)] = v;
    }
  }
  // Where the counters of v are; -1 if it has none.
  __device__ __forceinline__ int find(int v) const {
    if (keys == nullptr) return common[v] == 0 ? -1 : v;
    return table().find(v);
  }
  __device__ __forceinline__ int size() const { return keys == nullptr ? static_cast<int>(*num_members) : 1 << bits; }
  __device__ __forceinline__ int member(int number) const { return keys == nullptr ? members[number] : keys[number]; }
  __device__ __forceinline__ int place(int number) const { return keys == nullptr ? members[number] : number; }

  __device__ __forceinline__ void clear(int thread, int threads) const {
    for (int number = thread; number < size(); number += threads) {
      const int at = place(number);
      if (keys != nullptr) keys[at] = hashed_counters::empty;
      common[at] = joined[at] = 0;
      if (for_edges) sides[at] = 0;
      if (for_edges) ahead[at] = 0;
    }
  }

 private:
  __device__ __forceinline__ hashed_counters table() const { return hashed_counters{keys, common, bits}; }
};

// Places of a row, for one u: what a warp remembers of all v while it is at h.
struct row_memory {
  int* thirds;  // c3(h, u, v) - 1
  int* common;  // W(u, v) - 2
};

// Calls visit(place) with the places of all neighbors of `row` that are joined to the neighbor at place `to`, by all
// lanes of a warp at once if `together`, else lanes apart.
template <class Visit>
__device__ __forceinline__ void visit_joined(const motif_graph& graph, int row, int to, Visit visit) {
  const long long entry = graph.offsets[row] + to;
  if (row < graph.num_local) {
    for (long long at = graph.word_begins[entry]; at < graph.word_begins[entry + 1]; ++at) {
      const local_word own = graph.words[at];
      for (unsigned left = own.bits; left != 0; left &= left - 1) {
        visit(static_cast<int>(32 * own.word) + __ffs(static_cast<int>(left)) - 1);
      }
    }
  } else {
    const int other = graph.neighbors[entry], degree = graph.degree(row);
    for (int place = 0; place < degree; ++place) {
      if (graph.adjacent(other, graph.neighbors[graph.offsets[row] + place])) visit(place);
    }
  }
}

// For every x that is joined to u in the local graph of h, sums over the neighbors y of x there, but u: c3(h, u, y) -
// 1, the 4-cycles through ux there; and W(u, y) - 2.
__device__ void sum_beyond(const motif_graph& graph, const orbit_sums& sums, int u, int h, int place_u,
                           const row_memory& memory) {
  const long long row_h = graph.offsets[h];
  visit_joined(graph, h, place_u, [&](int place_x) {
    count_t rims = 0, bridges = 0;
    visit_common(graph, h, row_h + place_x, [&](int place_y) {
      if (place_y == place_u) return;
      rims += static_cast<count_t>(memory.thirds[place_y]);
      bridges += static_cast<count_t>(memory.common[place_y]);
    });
    rims = warp_sum(rims);
    bridges = warp_sum(bridges);
    if (lane_id() != 0) return;
    if (bridges != 0) atomicAdd(&sums.at(sum_bridges, row_h + place_x), bridges);
    const int x = graph.neighbors[row_h + place_x];
    if (rims != 0) atomicAdd(&sums.at(sum_rims, graph.offsets[u] + place_of(graph, u, x)), rims);
  });
}

// The second walk along row h: everything that is asked wedge by wedge.
__device__ void sum_row(const motif_graph& graph, const orbit_sums& sums, const int* degrees, int u, long long entry,
                        const pair_counters& counters, const row_memory& memory, int size) {
  const int h = graph.neighbors[entry], triangles = graph.supports[entry], place_u = graph.places[entry];
  const int degree = graph.degree(h);
  const long long row_h = graph.offsets[h];
  const bool third = size == 5 && triangles != 0, searched = h >= graph.num_local;
  local_row own{};
  if (third && !searched) own.open(graph, h, row_h, degree, place_u);
  count_t squares = 0, k23 = 0, far_degrees = 0, sides = 0, third_pairs = 0, wheels = 0, third_reach = 0;
  const int first = graph.firsts[h];
  for (int chunk = first >> 5; 32 * chunk < degree; ++chunk) {
    const int place = 32 * chunk + lane_id();
    count_t common = 0;
    int v = 0, at = -1, others = 0;
    if (place >= first && place < degree && place != place_u) {
      v = graph.neighbors[row_h + place];
      at = counters.find(v);
      common = counters.common[at];
      if (common >= 2) {
        others = graph.supports[row_h + place];
        squares += common - 1;
        k23 += pairs_of(common - 1);
        far_degrees += (common - 1) * static_cast<count_t>(degrees[v] - 2);
        sides += (common - 1) * static_cast<count_t>(others);
        if (for_edges && others != 0) atomicAdd(&counters.sides[at], static_cast<unsigned>(others));
      }
    }
    const bool asks = third && common >= 2 && others != 0;
    unsigned found = 0;
    if (searched) {
      if (asks) found = graph.search_common(h, u, v);
    } else if (__any_sync(full_mask, asks)) {
      found = own.common(chunk, asks);
    }
    if (asks && found != 0) {
      third_pairs += found * (common - 2);
      wheels += pairs_of(found);
      third_reach += static_cast<count_t>(found) * static_cast<count_t>(degrees[v] - 2);
      atomicAdd(&counters.joined[at], found);
      if (for_edges) {
        memory.thirds[place] = static_cast<int>(found) - 1;
        memory.common[place] = static_cast<int>(common) - 2;
      }
    }
  }
  const auto write = [&](orbit_sum which, count_t value) {
    value = warp_sum(value);
    if (lane_id() == 0) sums.at(which, entry) = value;
  };
  write(sum_squares, squares);
  if (size < 5) return;
  write(sum_k23, k23);
  write(sum_far_degrees, far_degrees);
  write(sum_sides, sides);
  if (!third) return;
  write(sum_third_pairs, third_pairs);
  write(sum_wheels, wheels);
  write(sum_third_reach, third_reach);
  if (for_edges) {
    __syncwarp();
    sum_beyond(graph, sums, u, h, place_u, memory);
    __syncwarp();
  }
}

// The third walk along row h: sums over v of what was counted by v.
__device__ void sum_counted(const motif_graph& graph, const orbit_sums& sums, long long entry,
                            const pair_counters& counters) {
  const int h = graph.neighbors[entry], place_u = graph.places[entry], degree = graph.degree(h);
  const long long row_h = graph.offsets[h];
  count_t joined = 0, far_sides = 0, cycles = 0;
  for (int place = graph.firsts[h] + lane_id(); place < degree; place += 32) {
    if (place == place_u) continue;
    const int at = counters.find(graph.neighbors[row_h + place]), others = graph.supports[row_h + place];
    joined += counters.joined[at];
    if (!for_edges) continue;
    if (counters.common[at] >= 2) far_sides += counters.sides[at] - static_cast<count_t>(others);
    cycles += counters.ahead[at] - static_cast<count_t>(graph.supports[entry]) - static_cast<count_t>(others);
  }
  joined = warp_sum(joined);
  far_sides = warp_sum(far_sides);
  cycles = warp_sum(cycles);
  if (lane_id() != 0) return;
  sums.at(sum_joined, entry) = joined;
  if (for_edges) sums.at(sum_far_sides, entry) = far_sides;
  if (for_edges) sums.at(sum_cycles, entry) = cycles;
}

// For edges, Q(j) of all counted j; for vertices, W(u, j) W(u, k) over the edges jk with j < k. Called by all warps.
__device__ count_t sum_ahead_of(const motif_graph& graph, const pair_counters& counters, row_batch& batch) {
  count_t products = 0;
  const int size = counters.size();
  for (int first = 32 * warp_id(); first < size; first += 32 * warps_per_block()) {
    const int number = first + lane_id(), j = number < size ? counters.member(number) : -1;
    long long begin = 0;
    unsigned length = 0;
    if (j >= 0) {
      begin = graph.offsets[j] + (for_edges ? graph.firsts[j] : graph.lower[j]);
      length = static_cast<unsigned>(graph.offsets[j + 1] - begin);
    }
    walk_rows(batch, begin, length, [&](int piece, long long entry) {
      const int at = counters.find(graph.neighbors[entry]);
      if (at < 0) return;
      const count_t ways = counters.common[at];
      const int own = counters.place(first + piece);
      if (for_edges) {
        atomicAdd(&counters.ahead[own], ways);
      } else {
        products += ways * counters.common[own];
      }
    });
  }
  return products;
}

// The wedges of u, by a block.
__device__ void sum_vertex(const motif_graph& graph, const orbit_sums& sums, const int* degrees, int u,
                           const pair_counters& counters, const row_memory& memory, row_batch& batch, int size,
                           count_t* products) {
  const long long row_u = graph.offsets[u], end_u = graph.offsets[u + 1];
  for (long long first = row_u + 32 * warp_id(); first < end_u; first += 32 * warps_per_block()) {
    long long begin = 0;
    unsigned length = 0;
    if (first + lane_id() < end_u) {
      const int h = graph.neighbors[first + lane_id()];
      begin = graph.offsets[h] + graph.firsts[h];
      length = static_cast<unsigned>(graph.offsets[h + 1] - begin);
    }
    walk_rows(batch, begin, length, [&](int, long long entry) {
      if (graph.neighbors[entry] != u) counters.count(graph.neighbors[entry]);
    });
  }
  __syncthreads();
  for (long long entry = row_u + warp_id(); entry < end_u; entry += warps_per_block()) {
    sum_row(graph, sums, degrees, u, entry, counters, memory, size);
  }
  if (size < 5) return;
  const count_t found = warp_sum(sum_ahead_of(graph, counters, batch));
  if (lane_id() == 0 && found != 0) atomicAdd(&products[u], found);
  __syncthreads();
  for (long long entry = row_u + warp_id(); entry < end_u; entry += warps_per_block()) {
    sum_counted(graph, sums, entry, counters);
  }
}

// `tasks` are (wedges << 32 | u), ascending; [listed_begin, listed_end) have counters by vertex in `scratch`, zero
// before and after: W, D and sides, num_vertices of each for each block, and Q in `ahead`; [table_begin, table_end)
// have tables of up to 2^table_bits slots in shared memory. `memory` has two numbers per place of the longest row for
// each warp.
extern "C" __global__ void __launch_bounds__(32 * most_warps, EDGES ? 1 : 2)
    orbit_pairs(MOTIF_GRAPH_PARAMETERS, const int* __restrict__ degrees, const long long* __restrict__ tasks,
                long long listed_begin, long long listed_end, long long table_begin, long long table_end,
                int table_bits, int size, int longest, long long num_entries, unsigned* scratch, count_t* ahead,
                int* touched, int* memory, count_t* drawn_tasks, count_t* values, count_t* products) {
  DYN_SHARED(count_t, shared);
  __shared__ row_batch batches[most_warps];
  __shared__ count_t drawn;
  __shared__ unsigned num_touched;
  const motif_graph graph{MOTIF_GRAPH_ARGUMENTS};
  const orbit_sums sums{values, num_entries};
  const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  const long long warp = grid_warp_id(), block = blockIdx.x;
  const row_memory own_memory{memory + 2 * warp * longest, memory + (2 * warp + 1) * longest};

  for (;;) {
    const long long number = block_draw(&drawn_tasks[0], drawn);
    if (number >= listed_end - listed_begin) break;
    if (thread == 0) num_touched = 0;
    __syncthreads();
    unsigned* const own = scratch + 3 * block * num_vertices;
    const pair_counters counters{nullptr,
                                 0,
                                 own,
                                 own + num_vertices,
                                 own + 2ll * num_vertices,
                                 ahead + block * num_vertices,
                                 touched + block * num_vertices,
                                 &num_touched};
    sum_vertex(graph, sums, degrees, static_cast<int>(tasks[listed_end - 1 - number]), counters, own_memory,
               batches[warp_id()], size, products);
    __syncthreads();
    counters.clear(thread, threads);
  }

  const int most_slots = 1 << table_bits;
  unsigned* const slots = reinterpret_cast<unsigned*>(shared + (for_edges ? most_slots : 0));
  for (;;) {
    const long long number = block_draw(&drawn_tasks[1], drawn);
    if (number >= table_end - table_begin) break;
    const long long task = tasks[table_end - 1 - number];
    const pair_counters counters{reinterpret_cast<int*>(slots),
                                 counter_bits(static_cast<unsigned>(task >> 32)),
                                 slots + most_slots,
                                 slots + 2 * most_slots,
                                 slots + 3 * most_slots,
                                 shared,
                                 nullptr,
                                 nullptr};
    counters.clear(thread, threads);
    __syncthreads();
    sum_vertex(graph, sums, degrees, static_cast<int>(task), counters, own_memory, batches[warp_id()], size, products);
  }
}
