// graph/oriented.cu - orients a symmetric graph: keeps the edges towards higher ranks of a vertex order.
//
// Entries are written as sort keys (rank of the row in the upper bits, rank of the neighbor below), so one device-wide
// sort orders every row. On a GPU a radix sort of all keys is faster than sorting rows of very different lengths.
//
// The approximate core order is computed here too. Each round removes every vertex whose remaining degree is at most
// 1.5 times the average, which takes O(log n) rounds. After Shi, Dhulipala and Shun, "Parallel clique counting and
// peeling algorithms" (ACDA 2021). The rule uses integers only, so that every device finds the same rounds.
#include "grid.cuh"
#include "platform.cuh"
#include "rows.cuh"
#include "status.cuh"
#include "warp.cuh"
#ifndef VERTEX_T
#error "VERTEX_T is set by the host"
#endif

// Counts the entries of every oriented row, stored one place late so that a running sum gives the offsets. One warp per
// vertex.
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

// Writes the sort key of every oriented entry, at any place within its row. One warp per vertex. orient_count has
// checked the neighbors.
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

// Only 64-bit words. oriented.py relies on their order.
struct approximate_state {
  row_counts queued;
  unsigned long long remaining, degree_sum;  // at the start of the round
  unsigned long long removed, lost_degree;   // in this round so far
  unsigned long long round;
  unsigned tickets, unused;
};

// Chooses and queues the vertices of one round: degree <= 3/2 * degree_sum / remaining. Degrees are integers, so
// rounding the bound down changes nothing. One thread per vertex.
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

// Removes the chosen vertices: each remaining neighbor loses one degree. One warp per short row, the whole grid per
// long row.
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
