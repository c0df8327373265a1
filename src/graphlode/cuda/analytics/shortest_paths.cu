// analytics/shortest_paths.cu - distances from a source by near and far lists, and a tree of shortest paths.
//
// Distances are handled in ranges. Vertices below the limit of the current range are near: their rows are relaxed in
// rounds until no distance changes, one warp per short row, the whole grid per long row. Vertices beyond the limit go
// to the far list, each once. When no near vertex is left, a scan removes from the list those that came near in the
// meantime and finds the least distance; the next range begins there. A vertex below the limit never returns to the
// list, so one permanent mark prevents listing it twice.
//
// As in cores.cu, the host does not have to read the state between steps: every kernel reads it, and returns at once if
// it is not its turn. The grid runs one large round per launch, a single block thousands of small ones.
//
// Nonnegative doubles sort like their bits as integers, so an atomic minimum of words is one of distances. The result
// does not depend on the order of the threads: rounding is monotonic, so the minimum is always the same.
//
// Parents are found when all distances are known. The parent of v is the lowest u that is nearer and has a final edge
// to v. A vertex whose final edges all have length 0 gets its parent, round by round, from vertices at the same
// distance.
//
// Near and far lists after Davidson, Baxter, Garland and Owens, "Work-Efficient Parallel GPU Methods for Single-Source
// Shortest Paths" (IPDPS 2014). Work: each row is visited once per improvement of its vertex within its range, usually
// little more than once.
#include "grid.cuh"
#include "platform.cuh"
#include "rows.cuh"
#include "status.cuh"
#include "warp.cuh"
#ifndef VERTEX_T
#error "VERTEX_T is set by the host"
#endif

typedef unsigned long long bits_t;                     // the bits of a distance
constexpr bits_t not_reached = 0x7ff0000000000000ull;  // infinity

__device__ __forceinline__ bits_t bits_of(double distance) {
  return static_cast<bits_t>(__double_as_longlong(distance));
}
__device__ __forceinline__ double distance_of(bits_t bits) {
  return __longlong_as_double(static_cast<long long>(bits));
}

// Only 64-bit words. shortest_paths.py relies on their order.
struct paths_state {
  row_counts rounds[2];  // vertices queued for the current and for the next round, indexed by the round's parity
  unsigned long long listed, survivors;
  bits_t limit;  // of the current range
  bits_t least;  // distance in the far list
  double width;
  long long round, scans, collecting, done;
  unsigned long long reached, orphans;  // number of reached vertices; of those without a parent
  unsigned tickets, unused;
};

struct paths {
  const long long* offsets;
  const VERTEX_T* neighbors;
  const double* lengths;
  long long num_vertices;
  bits_t* distances;
  int* queued;       // the last round for which the vertex was queued; -1: none
  int* far_marks;    // 1: was put in the far list
  VERTEX_T* queues;  // two queues of num_vertices each
  VERTEX_T* listed;  // two lists of num_vertices each, indexed by the parity of `scans`
  paths_state* state;
  status_word* status;
};

// One round, by all blocks that call it: relaxes the edges of all queued vertices.
__device__ void walk_round(const paths& p) {
  const int now = static_cast<int>(p.state->round & 1), next = now ^ 1;
  const int next_round = static_cast<int>(p.state->round + 1);
  const VERTEX_T* queue = p.queues + now * p.num_vertices;
  VERTEX_T* next_queue = p.queues + next * p.num_vertices;
  VERTEX_T* far_list = p.listed + (p.state->scans & 1) * p.num_vertices;
  const bits_t limit = p.state->limit;
  const offset_rows rows{p.offsets};
  visit_rows(queue, p.num_vertices, p.state->rounds[now], rows, [&](VERTEX_T from, bool there, long long entry) {
    VERTEX_T to = 0;
    bool comes_near = false, goes_far = false;
    if (there) {
      to = p.neighbors[entry];
      if (to < 0 || to >= p.num_vertices) {
        raise_status(p.status, fault_bad_neighbor, entry);
      } else {
        const bits_t offered = bits_of(distance_of(p.distances[from]) + p.lengths[entry]);
        // The plain comparison saves most atomics. It is safe: a stale distance can only be too high.
        if (offered < p.distances[to] && offered < atomicMin(p.distances + to, offered)) {
          if (offered < limit) {
            comes_near = atomicExch(p.queued + to, next_round) != next_round;
          } else {
            goes_far = atomicExch(p.far_marks + to, 1) == 0;
          }
        }
      }
    }
    push_row(next_queue, p.num_vertices, &p.state->rounds[next], rows, comes_near, to);
    const long long place = warp_append(&p.state->listed, goes_far);
    if (goes_far) far_list[place] = to;
  });
}

__device__ void finish_round(paths_state* state) {
  state->rounds[state->round & 1] = row_counts{0, 0, 0};
  state->round += 1;
}

__device__ bool round_is_empty(const paths_state* state) {
  const row_counts& counts = state->rounds[state->round & 1];
  return counts.short_rows + counts.long_rows == 0;
}

// Keeps in the list the vertices that are still far, and finds the least of their distances.
__device__ void scan_far(const paths& p) {
  const long long now = p.state->scans & 1, length = static_cast<long long>(p.state->listed);
  const VERTEX_T* listed = p.listed + now * p.num_vertices;
  VERTEX_T* shorter = p.listed + (now ^ 1) * p.num_vertices;
  const bits_t limit = p.state->limit;
  bits_t least = not_reached;
  for (long long first = grid_warp_id() * 32; first < length; first += grid_warps() * 32) {
    const bool there = first + lane_id() < length;
    const VERTEX_T vertex = there ? listed[first + lane_id()] : 0;
    const bits_t distance = there ? p.distances[vertex] : 0;
    const bool is_far = there && distance >= limit;
    const long long place = warp_append(&p.state->survivors, is_far);
    if (is_far) {
      shorter[place] = vertex;
      least = min(least, distance);
    }
  }
  least = warp_min(least);
  if (lane_id() == 0) atomicMin(&p.state->least, least);
}

__device__ void finish_scan(paths_state* state) {
  state->listed = state->survivors;
  state->survivors = 0;
  // The range must contain at least one distance, even if the width is lost in rounding.
  state->limit = max(state->least + 1, bits_of(distance_of(state->least) + state->width));
  state->least = not_reached;
  state->scans += 1;
  state->done = state->listed == 0;
  state->collecting = !state->done;
}

// Queues the vertices in the range that the scan found.
__device__ void collect_near(const paths& p) {
  const long long length = static_cast<long long>(p.state->listed);
  const VERTEX_T* listed = p.listed + (p.state->scans & 1) * p.num_vertices;
  const int now = static_cast<int>(p.state->round & 1);
  for (long long first = grid_warp_id() * 32; first < length; first += grid_warps() * 32) {
    const bool there = first + lane_id() < length;
    const VERTEX_T vertex = there ? listed[first + lane_id()] : 0;
    const bool is_near = there && p.distances[vertex] < p.state->limit;
    push_row(p.queues + now * p.num_vertices, p.num_vertices, &p.state->rounds[now], offset_rows{p.offsets}, is_near,
             vertex);
  }
}

// Each scan reads the whole list. If a range brought few of its vertices near, the next ranges become wider.
__device__ void finish_collect(paths_state* state) {
  const row_counts& counts = state->rounds[state->round & 1];
  if (16 * (counts.short_rows + counts.long_rows) < state->listed) state->width *= 2;
  state->collecting = 0;
}

#define PATHS_PARAMETERS                                                                                      \
  const long long *offsets, const VERTEX_T *neighbors, const double *lengths, long long num_vertices,         \
      bits_t *distances, int *queued, int *far_marks, VERTEX_T *queues, VERTEX_T *listed, paths_state *state, \
      status_word *status
#define PATHS_ARGUMENTS \
  offsets, neighbors, lengths, num_vertices, distances, queued, far_marks, queues, listed, state, status

// Queues the source as the first round. One thread works.
extern "C" __global__ void paths_start(PATHS_PARAMETERS, VERTEX_T source) {
  const bool first = grid_thread_id() == 0;
  if (first) {
    distances[source] = 0;
    state->limit = max(1ull, bits_of(state->width));
    state->least = not_reached;
  }
  if (grid_warp_id() == 0) {
    push_row(queues, num_vertices, &state->rounds[0], offset_rows{offsets}, first, source);
  }
}

// One round by the whole grid: a warp per short row, the grid per long row. Returns at once if nothing is queued.
extern "C" __global__ void paths_round(PATHS_PARAMETERS) {
  if (round_is_empty(state)) return;
  walk_round(paths{PATHS_ARGUMENTS});
  if (last_block(&state->tickets) && threadIdx.x == 0) finish_round(state);
}

// Finds the next range with the whole grid, one thread per listed vertex. Returns at once while a round is queued.
extern "C" __global__ void paths_scan(PATHS_PARAMETERS) {
  if (!round_is_empty(state) || state->done) return;
  scan_far(paths{PATHS_ARGUMENTS});
  if (last_block(&state->tickets) && threadIdx.x == 0) finish_scan(state);
}

// Queues the first round of a range that paths_scan found. A separate launch, because the scan must be complete.
extern "C" __global__ void paths_collect(PATHS_PARAMETERS) {
  if (!state->collecting) return;
  collect_near(paths{PATHS_ARGUMENTS});
  if (last_block(&state->tickets) && threadIdx.x == 0) finish_collect(state);
}

// Up to max_rounds rounds and scans by one block, while each is small. max_rounds keeps a launch short, so that the
// host can stop between launches.
extern "C" __global__ void paths_tail(PATHS_PARAMETERS, long long max_rounds, long long max_entries,
                                      long long max_listed) {
  const paths p{PATHS_ARGUMENTS};
  for (long long i = 0; i < max_rounds; ++i) {
    __syncthreads();  // wait for the state that thread 0 wrote at the end of the last step
    const bool empty = round_is_empty(state);
    if (empty ? state->done || static_cast<long long>(state->listed) > max_listed
              : static_cast<long long>(state->rounds[state->round & 1].entries) > max_entries) {
      break;
    }
    if (empty) {
      scan_far(p);
      __syncthreads();
      if (threadIdx.x == 0) finish_scan(state);
      __syncthreads();
      collect_near(p);
      __syncthreads();
      if (threadIdx.x == 0) finish_collect(state);
    } else {
      walk_round(p);
      __syncthreads();
      if (threadIdx.x == 0) finish_round(state);
    }
  }
}

// Lowers the parent atomically; -1 (no parent) is the highest unsigned number. Returns true to the one thread that
// replaced -1.
__device__ __forceinline__ bool lower_parent(int* parent, int from) {
  return atomicMin(reinterpret_cast<unsigned*>(parent), static_cast<unsigned>(from)) == ~0u;
}
__device__ __forceinline__ bool lower_parent(long long* parent, long long from) {
  return atomicMin(reinterpret_cast<unsigned long long*>(parent), static_cast<unsigned long long>(from)) == ~0ull;
}

// Queues and counts all reached vertices, for parents_nearer. One thread per vertex.
extern "C" __global__ void parents_queue_reached(PATHS_PARAMETERS) {
  VERTEX_T* queue = queues + (state->round & 1) * num_vertices;
  row_counts* counts = &state->rounds[state->round & 1];
  for (long long first = grid_warp_id() * 32; first < num_vertices; first += grid_warps() * 32) {
    const long long vertex = first + lane_id();
    const bool reached = vertex < num_vertices && distances[vertex] < not_reached;
    push_row(queue, num_vertices, counts, offset_rows{offsets}, reached, static_cast<VERTEX_T>(vertex));
  }
  if (last_block(&state->tickets) && threadIdx.x == 0) state->reached = counts->short_rows + counts->long_rows;
}

// Assigns parents along all final edges that come from a nearer vertex. Counts the vertices left without a parent,
// except for the source. One warp per short row, the whole grid per long row.
extern "C" __global__ void parents_nearer(PATHS_PARAMETERS, VERTEX_T* parents) {
  const int now = static_cast<int>(state->round & 1);
  unsigned long long found = 0;
  visit_rows(queues + now * num_vertices, num_vertices, state->rounds[now], offset_rows{offsets},
             [&](VERTEX_T from, bool there, long long entry) {
               if (!there) return;
               const VERTEX_T to = neighbors[entry];
               const bits_t here = distances[from], beyond = distances[to];
               if (here < beyond && bits_of(distance_of(here) + lengths[entry]) == beyond)
                 found += lower_parent(parents + to, from);
             });
  found = warp_sum(found);
  if (lane_id() == 0) atomicAdd(&state->orphans, 0ull - found);
  if (last_block(&state->tickets) && threadIdx.x == 0) {
    state->orphans += state->reached - 1;
    finish_round(state);
  }
}

// Queues the vertices that have a parent, and the source. They are the first that can become parents of others at the
// same distance. One thread per vertex.
extern "C" __global__ void parents_queue_settled(PATHS_PARAMETERS, const VERTEX_T* parents, VERTEX_T source) {
  const int now = static_cast<int>(state->round & 1);
  for (long long first = grid_warp_id() * 32; first < num_vertices; first += grid_warps() * 32) {
    const long long vertex = first + lane_id();
    const bool settled = vertex < num_vertices && (parents[vertex] >= 0 || vertex == source);
    if (settled) queued[vertex] = 0;
    push_row(queues + now * num_vertices, num_vertices, &state->rounds[now], offset_rows{offsets}, settled,
             static_cast<VERTEX_T>(vertex));
  }
}

// One round of parents at the same distance. `queued` is the round in which a vertex got its parent, or the highest
// number if it has none. A vertex that gets a parent in this round must not become a parent before the next one.
extern "C" __global__ void parents_equal(PATHS_PARAMETERS, VERTEX_T* parents, int round) {
  const int now = static_cast<int>(state->round & 1), next = now ^ 1;
  unsigned long long found = 0;
  visit_rows(queues + now * num_vertices, num_vertices, state->rounds[now], offset_rows{offsets},
             [&](VERTEX_T from, bool there, long long entry) {
               bool joins = false;
               const VERTEX_T to = there ? neighbors[entry] : 0;
               const bits_t here = distances[from];
               if (there && distances[to] == here && bits_of(distance_of(here) + lengths[entry]) == here &&
                   queued[to] >= round) {
                 joins = lower_parent(parents + to, from);
                 queued[to] = round;
               }
               found += joins;
               push_row(queues + next * num_vertices, num_vertices, &state->rounds[next], offset_rows{offsets}, joins,
                        to);
             });
  found = warp_sum(found);
  if (lane_id() == 0) atomicAdd(&state->orphans, 0ull - found);
  if (last_block(&state->tickets) && threadIdx.x == 0) finish_round(state);
}
