// analytics/cores.cu - core numbers by peeling the graph in rounds.
//
// A round removes all vertices of the current level at once: those whose remaining degree is at most `level`. Removing
// a vertex lowers the degree of each neighbor by one. The one subtraction that brings a degree down to the level queues
// that neighbor for the next round. When a round is empty, a scan over the remaining vertices finds their least degree,
// which becomes the level. The scan also writes a shorter list of those that remain.
//
// The host does not have to read the state between steps: every kernel reads it, and returns at once if it is not its
// turn. The grid runs one large round per launch. A single block runs thousands of small rounds per launch, because
// most graphs end in a long tail of small rounds. The inner loop needs no test for removed vertices: their degree is at
// most the level and only falls, so it never passes from level + 1 to level again.
//
// Work O(n + m) for the rounds, plus O(vertices remaining) per level. Level-synchronous peeling after Dasari, Desh and
// Zubair, "ParK" (IEEE Big Data 2014).
#include "grid.cuh"
#include "platform.cuh"
#include "rows.cuh"
#include "status.cuh"
#include "warp.cuh"
#ifndef VERTEX_T
#error "VERTEX_T is set by the host"
#endif

// Only 64-bit words. cores.py relies on their order.
struct peel_state {
  row_counts rounds[2];  // vertices queued for the current and for the next round, indexed by the round's parity
  unsigned long long remaining, survivors;
  long long level, round, least_degree, scans, collecting, done;
  unsigned tickets, unused;
};

struct peel {
  const long long* offsets;
  const VERTEX_T* neighbors;
  long long num_vertices;
  int* degree;  // number of neighbors that remain
  int* core;    // -1: not removed yet
  int* round;
  VERTEX_T* queues;  // two queues of num_vertices each
  VERTEX_T* listed;  // two lists of num_vertices each: the remaining vertices, indexed by the parity of `scans`
  peel_state* state;
  status_word* status;
};

// One round, by all blocks that call it: record the vertices that are removed, then lower the degrees of their
// neighbors.
__device__ void peel_round(const peel& p) {
  const int level = static_cast<int>(p.state->level), round = static_cast<int>(p.state->round);
  const int now = round & 1, next = now ^ 1;
  const VERTEX_T* queue = p.queues + now * p.num_vertices;
  VERTEX_T* next_queue = p.queues + next * p.num_vertices;
  const row_counts counts = p.state->rounds[now];
  take_vertices(queue, p.num_vertices, counts, grid_thread_id(), grid_threads(), [&](VERTEX_T vertex) {
    p.core[vertex] = level;
    p.round[vertex] = round;
  });
  visit_entries(queue, p.num_vertices, counts, offset_rows{p.offsets}, [&](bool there, long long entry) {
    VERTEX_T neighbor = 0;
    bool falls = false;
    if (there) {
      neighbor = p.neighbors[entry];
      if (neighbor < 0 || neighbor >= p.num_vertices) {
        raise_status(p.status, fault_bad_neighbor, entry);
      } else {
        falls = atomicSub(p.degree + neighbor, 1) == level + 1;
      }
    }
    push_row(next_queue, p.num_vertices, &p.state->rounds[next], offset_rows{p.offsets}, falls, neighbor);
  });
}

__device__ void finish_round(peel_state* state) {
  state->rounds[state->round & 1] = row_counts{0, 0, 0};
  state->round += 1;
}

__device__ bool round_is_empty(const peel_state* state) {
  const row_counts& counts = state->rounds[state->round & 1];
  return counts.short_rows + counts.long_rows == 0;
}

// Writes the shorter list of remaining vertices and finds their least degree.
__device__ void scan_remaining(const peel& p) {
  const long long now = p.state->scans & 1, length = static_cast<long long>(p.state->remaining);
  const VERTEX_T* listed = p.listed + now * p.num_vertices;
  VERTEX_T* shorter = p.listed + (now ^ 1) * p.num_vertices;
  long long least = 0x7fffffffffffffffll;
  for (long long first = grid_warp_id() * 32; first < length; first += grid_warps() * 32) {
    const bool there = first + lane_id() < length;
    const VERTEX_T vertex = there ? listed[first + lane_id()] : 0;
    const bool remains = there && p.core[vertex] < 0;
    const long long place = warp_append(&p.state->survivors, remains);
    if (remains) {
      shorter[place] = vertex;
      least = min(least, static_cast<long long>(p.degree[vertex]));
    }
  }
  least = warp_min(least);
  if (lane_id() == 0) atomicMin(&p.state->least_degree, least);
}

__device__ void finish_scan(peel_state* state) {
  state->remaining = state->survivors;
  state->survivors = 0;
  state->level = state->least_degree;
  state->least_degree = 0x7fffffffffffffffll;
  state->scans += 1;
  state->done = state->remaining == 0;
  state->collecting = !state->done;
}

// Queues the remaining vertices whose degree is at most the level.
__device__ void collect(const peel& p) {
  const long long length = static_cast<long long>(p.state->remaining);
  const VERTEX_T* listed = p.listed + (p.state->scans & 1) * p.num_vertices;
  const int level = static_cast<int>(p.state->level), now = static_cast<int>(p.state->round & 1);
  for (long long first = grid_warp_id() * 32; first < length; first += grid_warps() * 32) {
    const bool there = first + lane_id() < length;
    const VERTEX_T vertex = there ? listed[first + lane_id()] : 0;
    push_row(p.queues + now * p.num_vertices, p.num_vertices, &p.state->rounds[now], offset_rows{p.offsets},
             there && p.degree[vertex] <= level, vertex);
  }
}

#define PEEL_PARAMETERS                                                                                            \
  const long long *offsets, const VERTEX_T *neighbors, long long num_vertices, int *degree, int *core, int *round, \
      VERTEX_T *queues, VERTEX_T *listed, peel_state *state, status_word *status
#define PEEL_ARGUMENTS offsets, neighbors, num_vertices, degree, core, round, queues, listed, state, status

// One round by the whole grid: a warp per short row, the grid per long row. Returns at once if nothing is queued.
extern "C" __global__ void cores_round(PEEL_PARAMETERS) {
  if (round_is_empty(state)) return;
  peel_round(peel{PEEL_ARGUMENTS});
  if (last_block(&state->tickets) && threadIdx.x == 0) finish_round(state);
}

// Finds the next level with the whole grid, one thread per vertex. Returns at once while a round is queued.
extern "C" __global__ void cores_scan(PEEL_PARAMETERS) {
  if (!round_is_empty(state) || state->done) return;
  scan_remaining(peel{PEEL_ARGUMENTS});
  if (last_block(&state->tickets) && threadIdx.x == 0) finish_scan(state);
}

// Queues the first round of a level that cores_scan found. A separate launch, because the scan must be complete.
extern "C" __global__ void cores_collect(PEEL_PARAMETERS) {
  if (!state->collecting) return;
  collect(peel{PEEL_ARGUMENTS});
  if (last_block(&state->tickets) && threadIdx.x == 0) state->collecting = 0;
}

// Up to max_rounds rounds and scans by one block, while each is small. max_rounds keeps a launch short, so that the
// host can stop between launches.
extern "C" __global__ void cores_tail(PEEL_PARAMETERS, long long max_rounds, long long max_entries,
                                      long long max_remaining) {
  const peel p{PEEL_ARGUMENTS};
  for (long long i = 0; i < max_rounds; ++i) {
    __syncthreads();  // wait for the state that thread 0 wrote at the end of the last step
    const bool empty = round_is_empty(state);
    if (empty ? state->done || static_cast<long long>(state->remaining) > max_remaining
              : static_cast<long long>(state->rounds[state->round & 1].entries) > max_entries) {
      break;
    }
    if (empty) {
      scan_remaining(p);
      __syncthreads();
      if (threadIdx.x == 0) finish_scan(state);
      __syncthreads();
      collect(p);
      __syncthreads();
      if (threadIdx.x == 0) state->collecting = 0;
    } else {
      peel_round(p);
      __syncthreads();
      if (threadIdx.x == 0) finish_round(state);
    }
  }
}
