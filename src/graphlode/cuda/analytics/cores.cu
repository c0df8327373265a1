// analytics/cores.cu - core numbers by peeling in rounds, without a wait of the host per round.
//
// A round removes at once every vertex of remaining degree <= k. The state lives on the device; the host enqueues the
// same four kernels over and over and looks now and then whether all vertices are gone. `lowest` and `collect` start a
// level when the frontier is empty, `round` works off a large frontier with the whole grid, `chain` works off small
// ones, one round after another, in a single block: long chains have very many rounds of a few vertices. Each kernel
// does nothing when the state says that it is another's turn. A warp owns a frontier vertex; a vertex joins the next
// frontier when somebody sees its degree fall to k, which happens once. Who is removed in which round does not depend
// on timing.
#include "grid.cuh"
#include "warp.cuh"

#if !defined(VERTEX_T)
#error "VERTEX_T is set by the host"
#endif

typedef unsigned long long count_t;

struct peel_state {  // mirrored in cores.py
  long long level;   // k
  long long round;   // number of rounds so far
  count_t frontier;  // vertices to remove in this round
  count_t next;      // vertices that join the next frontier
  count_t left;      // vertices not removed yet
  long long lowest;  // smallest degree among them, while a level starts
  long long which;   // which of the two lists is the frontier
  unsigned tickets;  // of the blocks that are done
};

constexpr count_t small_frontier = 2048;
constexpr long long no_degree = 0x7fffffffffffffffll;

__device__ __forceinline__ int decrement(int* degree) { return atomicSub(degree, 1); }
__device__ __forceinline__ long long decrement(long long* degree) {
  return static_cast<long long>(atomicAdd(reinterpret_cast<count_t*>(degree), ~0ull));
}

struct peel_arrays {
  const long long* offsets;
  const VERTEX_T* neighbors;
  VERTEX_T* degrees;
  int* core;
  int* round;  // -1: not removed
  VERTEX_T* lists[2];
};

// Removes one vertex, by a warp.
__device__ void remove_vertex(const peel_arrays& a, VERTEX_T v, long long k, long long round, VERTEX_T* next_list,
                              count_t* next_size) {
  if (lane_id() == 0) {
    a.core[v] = static_cast<int>(k);
    a.round[v] = static_cast<int>(round);
  }
  for (long long first = a.offsets[v]; first < a.offsets[v + 1]; first += 32) {
    const long long e = first + lane_id();
    bool joins = false;
    VERTEX_T u = 0;
    if (e < a.offsets[v + 1]) {
      u = a.neighbors[e];
      // Volatile: other warps lower the same degrees. A stale value only costs a needless subtraction below k.
      joins = *static_cast<volatile VERTEX_T*>(a.degrees + u) > k && decrement(a.degrees + u) == k + 1;
    }
    const long long place = warp_append(next_size, joins);
    if (joins) next_list[place] = u;
  }
}

__device__ __forceinline__ void end_round(peel_state* state) {
  state->left -= state->frontier;
  state->frontier = state->next;
  state->next = 0;
  state->which ^= 1;
  ++state->round;
}

extern "C" __global__ void analytics_cores_lowest(const VERTEX_T* __restrict__ degrees, const int* __restrict__ round,
                                                  long long num_vertices, peel_state* state) {
  if (state->frontier != 0 || state->left == 0) return;
  long long lowest = no_degree;
  for (long long v = grid_thread_id(); v < num_vertices; v += grid_threads())
    if (round[v] == -1) lowest = min(lowest, static_cast<long long>(degrees[v]));
  lowest = warp_min(lowest);
  if (lane_id() == 0 && lowest != no_degree) atomicMin(&state->lowest, lowest);
}

// Expects blocks of whole warps.
extern "C" __global__ void analytics_cores_collect(const VERTEX_T* __restrict__ degrees, const int* __restrict__ round,
                                                   long long num_vertices, VERTEX_T* list_0, VERTEX_T* list_1,
                                                   peel_state* state) {
  if (state->frontier != 0 || state->left == 0) return;
  const long long k = state->lowest;
  VERTEX_T* const list = state->which == 0 ? list_0 : list_1;
  const long long step = grid_threads();
  for (long long first = grid_thread_id() - lane_id(); first < num_vertices; first += step) {
    const long long v = first + lane_id();
    const bool joins = v < num_vertices && round[v] == -1 && degrees[v] <= k;
    const long long place = warp_append(&state->next, joins);
    if (joins) list[place] = static_cast<VERTEX_T>(v);
  }
  if (last_block(&state->tickets) && threadIdx.x == 0) {
    state->level = k;
    state->lowest = no_degree;
    state->frontier = state->next;
    state->next = 0;
  }
}

extern "C" __global__ void analytics_cores_round(const long long* offsets, const VERTEX_T* neighbors, VERTEX_T* degrees,
                                                 int* core, int* round, VERTEX_T* list_0, VERTEX_T* list_1,
                                                 peel_state* state) {
  const count_t size = state->frontier;
  if (size <= small_frontier) return;
  const peel_arrays arrays{offsets, neighbors, degrees, core, round, {list_0, list_1}};
  const long long k = state->level, number = state->round;
  const VERTEX_T* const list = state->which == 0 ? list_0 : list_1;
  VERTEX_T* const next_list = state->which == 0 ? list_1 : list_0;
  for (count_t i = static_cast<count_t>(grid_warp_id()); i < size; i += static_cast<count_t>(grid_warps()))
    remove_vertex(arrays, list[i], k, number, next_list, &state->next);
  if (last_block(&state->tickets) && threadIdx.x == 0) end_round(state);
}

// One block. Stops when the frontier is empty or large, or after max_rounds, so that the host can stop it.
extern "C" __global__ void analytics_cores_chain(const long long* offsets, const VERTEX_T* neighbors, VERTEX_T* degrees,
                                                 int* core, int* round, VERTEX_T* list_0, VERTEX_T* list_1,
                                                 int max_rounds, peel_state* state) {
  const peel_arrays arrays{offsets, neighbors, degrees, core, round, {list_0, list_1}};
  const long long k = state->level;
  for (int i = 0; i < max_rounds; ++i) {
    const count_t size = *static_cast<volatile count_t*>(&state->frontier);
    const long long number = *static_cast<volatile long long*>(&state->round);
    const long long which = *static_cast<volatile long long*>(&state->which);
    if (size == 0 || size > small_frontier) return;
    const volatile VERTEX_T* const list = which == 0 ? list_0 : list_1;
    VERTEX_T* const next_list = which == 0 ? list_1 : list_0;
    __syncthreads();  // everyone has read the state before it changes
    for (count_t j = static_cast<count_t>(warp_id()); j < size; j += static_cast<count_t>(warps_per_block()))
      remove_vertex(arrays, list[j], k, number, next_list, &state->next);
    __threadfence_block();
    __syncthreads();
    if (threadIdx.x == 0) end_round(state);
    __threadfence_block();
    __syncthreads();
  }
}
