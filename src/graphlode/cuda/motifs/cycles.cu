// motifs/cycles.cu - 5-cycles, each at its highest vertex i.
//
// For a cycle i - x - j - k - y below i, let w(j) be the number of neighbors x of i, below i, that are adjacent to j.
// The product (w(j) - [k ~ i]) (w(k) - [j ~ i]), summed over the edges jk below i, counts the choices of x other than k
// and y other than j. The choices with x = y are triangles, which another pass subtracts.
//
// The wedges i - x - j give w. Then the edges from each j to a higher k are visited. A warp or a block keeps w in a
// table in shared memory. Vertices i with too many wedges for a table keep w in global memory, by vertex, with a list
// of the vertices used. The highest bit of a counter says that the vertex is a neighbor of i. Cost: one step per wedge,
// and one per edge from a counted j to a higher k below i.
#include "block.cuh"
#include "grid.cuh"
#include "motifs/counters.cuh"
#include "motifs/cycle_walk.cuh"
#include "motifs/sums.cuh"
#include "motifs/walk.cuh"
#include "platform.cuh"
#include "search.cuh"
#include "warp.cuh"

constexpr int most_warps = 16;

// Counters in global memory, with a list of the vertices that have one.
struct listed_counters {
  unsigned* counts;
  int* members;
  unsigned* num_members;  // in shared memory

  __device__ __forceinline__ void add(int vertex) const {
    if (atomicAdd(&counts[vertex], 1u) == 0) members[atomicAdd(num_members, 1u)] = vertex;
  }
  __device__ __forceinline__ unsigned get(int vertex) const { return counts[vertex]; }
  __device__ __forceinline__ void set_mark(int vertex) const {
    if (counts[vertex] != 0) atomicOr(&counts[vertex], neighbor_mark);
  }
  __device__ __forceinline__ int size() const { return static_cast<int>(*num_members); }
  __device__ __forceinline__ int member(int number) const { return members[number]; }
  __device__ __forceinline__ unsigned count(int number) const { return counts[members[number]]; }
};

// A table seen as a list: free slots are members -1.
struct listed_table : hashed_counters {
  __device__ __forceinline__ void set_mark(int vertex) const {
    const int slot = find(vertex);
    if (slot >= 0) atomicOr(&counts[slot], neighbor_mark);
  }
  __device__ __forceinline__ int size() const { return 1 << bits; }
  __device__ __forceinline__ int member(int number) const { return keys[number]; }
  __device__ __forceinline__ unsigned count(int number) const { return counts[number]; }
};

// Sums the products over the edges of the warp's share of the counted vertices.
template <class Counters>
__device__ void sum_products(const cycle_graph& graph, int i, const Counters& counters, row_batch& batch, int warp,
                             int warps, wide_sum& sum) {
  visit_inner_edges(graph, i, counters, batch, warp, warps, [&](int number, long long entry) {
    const unsigned ways_k = counters.get(graph.neighbors[entry]);
    if (ways_k == 0) return;
    const unsigned ways_j = counters.count(number);
    sum.add(static_cast<unsigned long long>((ways_j & ~neighbor_mark) - (ways_k >> 31)) *
            ((ways_k & ~neighbor_mark) - (ways_j >> 31)));
  });
}

// Counts the cycles of `tasks`, which are (wedges << 32 | i), ascending, in three ranges [begin, end):
// - listed: one block per task. The counters are in `scratch`, zero before and after, with a list in `touched`; both
//   have num_vertices elements per block.
// - block: one block per task, with a table in shared memory.
// - warp: one warp per task, with a table in shared memory.
extern "C" __global__ void __launch_bounds__(32 * most_warps, 2)
    motif_cycles(const long long* __restrict__ offsets, const int* __restrict__ neighbors,
                 const int* __restrict__ lower, const int* __restrict__ firsts, const int* __restrict__ places,
                 int num_vertices, const long long* __restrict__ tasks, long long listed_begin, long long listed_end,
                 long long block_begin, long long block_end, long long warp_begin, long long warp_end, int warp_words,
                 unsigned* scratch, int* touched, unsigned long long* drawn_tasks, motif_work* work) {
  DYN_SHARED(unsigned, counters);
  __shared__ row_batch batches[most_warps];
  __shared__ unsigned long long drawn;
  __shared__ unsigned num_touched;
  const cycle_graph graph{offsets, neighbors, lower, firsts, places};
  const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  row_batch& batch = batches[warp_id()];
  wide_sum sum;

  const long long own_scratch = static_cast<long long>(blockIdx.x) * num_vertices;
  for (;;) {
    const long long number = block_draw(&drawn_tasks[0], drawn);
    if (number >= listed_end - listed_begin) break;
    const int i = static_cast<int>(tasks[listed_end - 1 - number]);
    if (thread == 0) num_touched = 0;
    __syncthreads();
    const listed_counters own{scratch + own_scratch, touched + own_scratch, &num_touched};
    count_ways(graph, i, own, batch, warp_id(), warps_per_block());
    __syncthreads();
    mark_neighbors(graph, i, own, thread, threads);
    __syncthreads();
    sum_products(graph, i, own, batch, warp_id(), warps_per_block(), sum);
    __syncthreads();
    for (int at = thread; at < own.size(); at += threads) own.counts[own.members[at]] = 0;
  }

  for (;;) {
    const long long number = block_draw(&drawn_tasks[1], drawn);
    if (number >= block_end - block_begin) break;
    const long long task = tasks[block_end - 1 - number];
    const int i = static_cast<int>(task), bits = counter_bits(static_cast<unsigned>(task >> 32));
    const listed_table own{{reinterpret_cast<int*>(counters), counters + (1 << bits), bits}};
    own.clear(thread, threads);
    __syncthreads();
    count_ways(graph, i, own, batch, warp_id(), warps_per_block());
    __syncthreads();
    mark_neighbors(graph, i, own, thread, threads);
    __syncthreads();
    sum_products(graph, i, own, batch, warp_id(), warps_per_block(), sum);
  }

  __syncthreads();
  unsigned* const warp_counters = counters + warp_id() * warp_words;
  for (;;) {
    const long long number = warp_draw(&drawn_tasks[2], 1);
    if (number >= warp_end - warp_begin) break;
    const long long task = tasks[warp_end - 1 - number];
    const int i = static_cast<int>(task), bits = counter_bits(static_cast<unsigned>(task >> 32));
    const listed_table own{{reinterpret_cast<int*>(warp_counters), warp_counters + (1 << bits), bits}};
    own.clear(lane_id(), 32);
    __syncwarp();
    count_ways(graph, i, own, batch, 0, 1);
    __syncwarp();
    mark_neighbors(graph, i, own, lane_id(), 32);
    __syncwarp();
    sum_products(graph, i, own, batch, 0, 1, sum);
    __syncwarp();
  }
  flush_sum(work, sum_five_cycles, sum);
}
