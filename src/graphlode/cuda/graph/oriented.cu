// graph/oriented.cu - from a symmetric graph and an order of its vertices to the graph of edges towards higher ranks.
//
// Rows are written in rank space with their entries as sort keys (row above, neighbor below), so that one device-wide
// sort puts every row in order: on a GPU a radix sort of all keys beats sorting rows of very different lengths.
// The approximate core order is found here too: rounds that remove every vertex whose remaining degree is at most one
// and a half times the average, O(log n) of them. After Shi, Dhulipala and Shun, "Parallel clique counting and peeling
// algorithms" (ACDA 2021), with a rule in whole numbers so that every device finds the same rounds.
#include "grid.cuh"
#include "platform.cuh"
#include "rows.cuh"
#include "status.cuh"
#include "warp.cuh"
#ifndef VERTEX_T
#error "VERTEX_T is set by the host"
#endif

// The length of every oriented row, stored one place late: a running sum then gives the offsets. A warp per vertex.
extern "C" __global__ void orient_count(const long long* offsets, const VERTEX_T* neighbors, const VERTEX_T* rank,
                                        long long num_vertices, long long* oriented_offsets, status_word* status) {
  for (long long vertex = grid_warp_id(); vertex < num_vertices; vertex += grid_warps()) {
    const VERTEX_T own = rank[vertex];
    int higher = 0;
    for (long long entry = offsets[vertex] + lane_id(); entry < offsets[vertex + 1]; entry += 32) {
      const VERTEX_T neighbor = neighbors[entry];
      if (neighbor < 0 || neighbor >= num_vertices) {
        raise_status(status, fault_bad_neighbor, entry);
      } else {
        higher += rank[neighbor] > own;
      }
    }
    higher = warp_sum(higher);
    if (lane_id() == 0) oriented_offsets[own + 1] = higher;
  }
}

// The sort key of every oriented entry, at any place of its row. A warp per vertex. The neighbors were checked by
// orient_count.
extern "C" __global__ void orient_keys(const long long* offsets, const VERTEX_T* neighbors, const VERTEX_T* rank,
                                       const long long* oriented_offsets, long long num_vertices, int rank_bits,
                                       long long* keys) {
  for (long long vertex = grid_warp_id(); vertex < num_vertices; vertex += grid_warps()) {
    const VERTEX_T own = rank[vertex];
    long long place = oriented_offsets[own];
    for (long long first = offsets[vertex]; first < offsets[vertex + 1]; first += 32) {
      const long long entry = first + lane_id();
      const VERTEX_T other = entry < offsets[vertex + 1] ? rank[neighbors[entry]] : own;
      const unsigned votes = __ballot_sync(full_mask, other > own);
      if (other > own) keys[place + votes_below(votes)] = static_cast<long long>(own) << rank_bits | other;
      place += __popc(votes);
    }
  }
}

// 64-bit words only, in the order that oriented.py knows.
struct approximate_state {
  row_counts queued;
  unsigned long long remaining, degree_sum;  // at the start of the round
  unsigned long long removed, lost_degree;   // by the round so far
  unsigned long long round;
  unsigned tickets, unused;
};

// Chooses and queues the vertices of one round, a thread per vertex. degree <= 3/2 * degree_sum / remaining, without
// rounding: degrees are whole numbers, so the bound may be rounded down.
extern "C" __global__ void approximate_choose(const long long* offsets, long long num_vertices, const int* degree,
                                              int* round, VERTEX_T* queue, approximate_state* state) {
  if (state->remaining == 0) return;
  const unsigned long long bound = 3 * state->degree_sum / (2 * state->remaining);
  unsigned long long removed = 0, lost = 0;
  for (long long first = grid_warp_id() * 32; first < num_vertices; first += grid_warps() * 32) {
    const long long vertex = first + lane_id();
    const bool chosen =
        vertex < num_vertices && round[vertex] < 0 && static_cast<unsigned long long>(degree[vertex]) <= bound;
    if (chosen) {
      round[vertex] = static_cast<int>(state->round);
      removed += 1;
      lost += static_cast<unsigned long long>(degree[vertex]);
    }
    push_row(queue, num_vertices, &state->queued, offset_rows{offsets}, chosen, static_cast<VERTEX_T>(vertex));
  }
  removed = warp_sum(removed);
  lost = warp_sum(lost);
  if (lane_id() == 0 && removed != 0) {
    atomicAdd(&state->removed, removed);
    atomicAdd(&state->lost_degree, lost);
  }
}

// Takes the chosen vertices away: each neighbor that remains loses one degree. Short rows a warp, long rows the grid.
extern "C" __global__ void approximate_remove(const long long* offsets, const VERTEX_T* neighbors,
                                              long long num_vertices, int* degree, const int* round, VERTEX_T* queue,
                                              approximate_state* state, status_word* status) {
  if (state->remaining == 0) return;
  unsigned long long lost = 0;
  visit_entries(queue, num_vertices, state->queued, offset_rows{offsets}, [&](bool there, long long entry) {
    if (!there) return;
    const VERTEX_T neighbor = neighbors[entry];
    if (neighbor < 0 || neighbor >= num_vertices) {
      raise_status(status, fault_bad_neighbor, entry);
    } else if (round[neighbor] < 0) {
      atomicSub(degree + neighbor, 1);
      lost += 1;
    }
  });
  lost = warp_sum(lost);
  if (lane_id() == 0 && lost != 0) atomicAdd(&state->lost_degree, lost);
  if (last_block(&state->tickets) && threadIdx.x == 0) {
    state->remaining -= state->removed;
    state->degree_sum -= state->lost_degree;
    state->removed = state->lost_degree = 0;
    state->queued = row_counts{0, 0, 0};
    state->round += 1;
  }
}
