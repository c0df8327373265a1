// orbits/cycles.cu - 5-cycles at every vertex or edge, each found at its highest vertex i.
//
// As in motifs/cycles.cu, w(j) is the number of walks i - x - j to each j below i, and the edges jk close cycles i - x
// - j - k - y. For every j, B(j) is the sum of w(k) - [j ~ i] over its neighbors k below i: the number of ways to
// continue from j and return to i without passing j again. A walk i - x - j is then in B(j) - (w(x) - [j ~ i]) cycles,
// since x is not k. A second pass over the walks adds this to x, j and i, or to the edges ix and xj. An edge jk is in
// (w(j) - [k ~ i]) (w(k) - [j ~ i]) cycles. Walks with x = y are not cycles; the driver subtracts them, computed from
// triangles.
//
// A warp or a block keeps its counters in a table in shared memory if i has so few walks that B fits 32 bits. Other
// vertices i keep them in global memory, by vertex, with a list of the vertices used.
#include "block.cuh"
#include "grid.cuh"
#include "motifs/counters.cuh"
#include "motifs/cycle_walk.cuh"
#include "orbits/sums.cuh"
#include "platform.cuh"
#include "search.cuh"
#include "warp.cuh"
#ifndef EDGES
#error "EDGES is set by the host"
#endif

constexpr int most_warps = 16;

using count_t = unsigned long long;
constexpr bool for_edges = EDGES != 0;

// Counters of every j: w with the mark, B, and the sum of w(x) over the walks i - x - j. `Sum` is the type of the sums.
template <class Sum>
struct way_sums {
  unsigned* ways;
  Sum* onward;
  Sum* middles;

  __device__ __forceinline__ void clear_at(int at) const {
    ways[at] = 0;
    onward[at] = middles[at] = 0;
  }
};

struct listed_ways : way_sums<count_t> {
  int* members;
  unsigned* num_members;  // in shared memory

  __device__ __forceinline__ void add(int vertex) const {
    if (atomicAdd(&ways[vertex], 1u) == 0) members[atomicAdd(num_members, 1u)] = vertex;
  }
  __device__ __forceinline__ int find(int vertex) const { return ways[vertex] == 0 ? -1 : vertex; }
  __device__ __forceinline__ void set_mark(int vertex) const {
    if (ways[vertex] != 0) atomicOr(&ways[vertex], neighbor_mark);
  }
  __device__ __forceinline__ int size() const { return static_cast<int>(*num_members); }
  __device__ __forceinline__ int member(int number) const { return members[number]; }
  __device__ __forceinline__ int place(int number) const { return members[number]; }
};

struct tabled_ways : way_sums<unsigned> {
  int* keys;
  int bits;

  // Uses 4 * 2^bits words.
  __device__ __forceinline__ tabled_ways(unsigned* words, int bits_)
      : way_sums<unsigned>{words, words + (1 << bits_), words + (2 << bits_)},
        keys(reinterpret_cast<int*>(words + (3 << bits_))),
        bits(bits_) {}
  __device__ __forceinline__ void clear(int thread, int threads) const {
    for (int slot = thread; slot < 1 << bits; slot += threads) {
      keys[slot] = hashed_counters::empty;
      clear_at(slot);
    }
  }
  __device__ __forceinline__ void add(int vertex) const { table().add(vertex); }
  __device__ __forceinline__ int find(int vertex) const { return table().find(vertex); }
  __device__ __forceinline__ void set_mark(int vertex) const {
    const int slot = find(vertex);
    if (slot >= 0) atomicOr(&ways[slot], neighbor_mark);
  }
  // A table seen as a list: free slots are members -1.
  __device__ __forceinline__ int size() const { return 1 << bits; }
  __device__ __forceinline__ int member(int number) const { return keys[number]; }
  __device__ __forceinline__ int place(int number) const { return number; }

 private:
  __device__ __forceinline__ hashed_counters table() const { return hashed_counters{keys, ways, bits}; }
};

// Where cycles are added: to `vertices`, which counts twice the cycles, or to edges, at their entries in the rows of
// the higher ends.
struct cycle_output {
  count_t* vertices;
  count_t* entries;

  // Adds to the lower neighbor x of i, or to the edge at its entry in row i.
  __device__ __forceinline__ void add_to_middle(long long entry, int x, count_t cycles) const {
    if (cycles == 0) return;
    if (for_edges) {
      atomicAdd(&entries[entry], cycles);
    } else {
      atomicAdd(&vertices[x], 2 * cycles);
    }
  }
  __device__ __forceinline__ void add_to_edge(const cycle_graph& graph, int row, long long entry,
                                              count_t cycles) const {
    if (cycles == 0) return;
    const int other = graph.neighbors[entry];
    atomicAdd(&entries[other < row ? entry : graph.offsets[other] + graph.places[entry]], cycles);
  }
};

// Computes B for the warp's share of the counted vertices, and the cycles at the edges jk.
template <class Counters>
__device__ void sum_onward(const cycle_graph& graph, int i, const Counters& counters, row_batch& batch, int warp,
                           int warps, const cycle_output& output) {
  visit_inner_edges(graph, i, counters, batch, warp, warps, [&](int number, long long entry) {
    const int k = graph.neighbors[entry], at_k = counters.find(k);
    if (at_k < 0) return;
    const int at_j = counters.place(number);
    const unsigned ways_j = counters.ways[at_j], ways_k = counters.ways[at_k];
    const unsigned past_k = (ways_j & ~neighbor_mark) - (ways_k >> 31);
    const unsigned past_j = (ways_k & ~neighbor_mark) - (ways_j >> 31);
    if (past_j != 0) atomicAdd(&counters.onward[at_j], past_j);
    if (past_k != 0) atomicAdd(&counters.onward[at_k], past_k);
    if (for_edges) output.add_to_edge(graph, counters.member(number), entry, static_cast<count_t>(past_j) * past_k);
  });
}

// Visits the walks i - x - j again, one row x at a time. Returns this warp's share of the cycles at all ix.
template <class Counters>
__device__ count_t count_walks(const cycle_graph& graph, int i, const Counters& counters, int warp, int warps,
                               const cycle_output& output) {
  count_t all = 0;
  const long long begin = graph.offsets[i], end = begin + graph.lower[i];
  for (long long own = begin + warp; own < end; own += warps) {
    const int x = graph.neighbors[own], at_x = counters.find(x);
    const unsigned ways_x = at_x < 0 ? 0 : counters.ways[at_x] & ~neighbor_mark;
    const long long row = graph.offsets[x];
    count_t sum = 0;
    for (int place = graph.firsts[x] + lane_id(); place < graph.places[own]; place += 32) {
      const int at = counters.find(graph.neighbors[row + place]);
      const count_t cycles = static_cast<count_t>(counters.onward[at]) + (counters.ways[at] >> 31) - ways_x;
      sum += cycles;
      if (for_edges) {
        output.add_to_edge(graph, x, row + place, cycles);
      } else if (ways_x != 0) {
        atomicAdd(&counters.middles[at], ways_x);
      }
    }
    sum = warp_sum(sum);
    if (lane_id() == 0) output.add_to_middle(own, x, sum);
    all += sum;
  }
  return all;
}

// Adds the cycles of each j, for all walks to it at once.
template <class Counters>
__device__ void add_to_ends(const Counters& counters, int thread, int threads, const cycle_output& output) {
  for (int number = thread; number < counters.size(); number += threads) {
    const int j = counters.member(number);
    if (j < 0) continue;
    const int at = counters.place(number);
    const count_t ways = counters.ways[at] & ~neighbor_mark;
    const count_t cycles = ways * (counters.onward[at] + (counters.ways[at] >> 31)) - counters.middles[at];
    if (cycles != 0) atomicAdd(&output.vertices[j], 2 * cycles);
  }
}

// Counts all cycles with highest vertex i, with a warp or a block. `synchronize` is its barrier.
template <class Counters, class Synchronize>
__device__ void count_cycles(const cycle_graph& graph, int i, const Counters& counters, row_batch& batch, int warp,
                             int warps, const cycle_output& output, Synchronize synchronize) {
  const int thread = 32 * warp + lane_id(), threads = 32 * warps;
  count_ways(graph, i, counters, batch, warp, warps);
  synchronize();
  mark_neighbors(graph, i, counters, thread, threads);
  synchronize();
  sum_onward(graph, i, counters, batch, warp, warps, output);
  synchronize();
  const count_t all = count_walks(graph, i, counters, warp, warps, output);
  if (!for_edges) {
    if (lane_id() == 0 && all != 0) atomicAdd(&output.vertices[i], all);
    synchronize();
    add_to_ends(counters, thread, threads, output);
  }
  synchronize();
}

// Counts the cycles of `tasks`, which are (walks << 32 | i), ascending, in three ranges [begin, end):
// - listed: one block per task. The counters are in global memory, zero before and after, with a list in `touched`;
//   each array has num_vertices elements per block.
// - block: one block per task, with a table in shared memory.
// - warp: one warp per task, with a table in shared memory.
// The cycles are added to `vertices` or `entries`.
extern "C" __global__ void __launch_bounds__(32 * most_warps, 2)
    orbit_cycles(const long long* __restrict__ offsets, const int* __restrict__ neighbors,
                 const int* __restrict__ lower, const int* __restrict__ firsts, const int* __restrict__ places,
                 int num_vertices, const long long* __restrict__ tasks, long long listed_begin, long long listed_end,
                 long long block_begin, long long block_end, long long warp_begin, long long warp_end, int warp_words,
                 unsigned* ways, count_t* sums, int* touched, count_t* drawn_tasks, count_t* vertices,
                 count_t* entries) {
  DYN_SHARED(unsigned, tables);
  __shared__ row_batch batches[most_warps];
  __shared__ count_t drawn;
  __shared__ unsigned num_touched;
  const cycle_graph graph{offsets, neighbors, lower, firsts, places};
  const cycle_output output{vertices, entries};
  const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  row_batch& batch = batches[warp_id()];

  const long long scratch = static_cast<long long>(blockIdx.x) * num_vertices;
  for (;;) {
    const long long number = block_draw(&drawn_tasks[0], drawn);
    if (number >= listed_end - listed_begin) break;
    if (thread == 0) num_touched = 0;
    __syncthreads();
    const listed_ways own{
        {ways + scratch, sums + 2 * scratch, sums + 2 * scratch + num_vertices}, touched + scratch, &num_touched};
    count_cycles(graph, static_cast<int>(tasks[listed_end - 1 - number]), own, batch, warp_id(), warps_per_block(),
                 output, [] { __syncthreads(); });
    for (int at = thread; at < own.size(); at += threads) own.clear_at(own.members[at]);
  }

  for (;;) {
    const long long number = block_draw(&drawn_tasks[1], drawn);
    if (number >= block_end - block_begin) break;
    const long long task = tasks[block_end - 1 - number];
    const tabled_ways own(tables, counter_bits(static_cast<unsigned>(task >> 32)));
    own.clear(thread, threads);
    __syncthreads();
    count_cycles(graph, static_cast<int>(task), own, batch, warp_id(), warps_per_block(), output,
                 [] { __syncthreads(); });
  }

  __syncthreads();
  for (;;) {
    const long long number = warp_draw(&drawn_tasks[2], 1);
    if (number >= warp_end - warp_begin) break;
    const long long task = tasks[warp_end - 1 - number];
    const tabled_ways own(tables + warp_id() * warp_words, counter_bits(static_cast<unsigned>(task >> 32)));
    own.clear(lane_id(), 32);
    __syncwarp();
    count_cycles(graph, static_cast<int>(task), own, batch, 0, 1, output, [] { __syncwarp(); });
  }
}
