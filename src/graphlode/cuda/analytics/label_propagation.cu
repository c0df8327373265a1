// analytics/label_propagation.cu - every vertex takes the most frequent label of its neighbors, in two phases.
//
// A phase is four launches:
// 1. Queue the vertices that are awake and belong to this phase.
// 2. Count the labels around each queued vertex in its own hash table. The table has two slots per entry of the row and
//    lies at the row's place in the array. One warp per short row, the whole grid per long row.
// 3. Choose the winner of each table, one warp per vertex, and clear the table. The winner is the most frequent label.
//    Among equals, the vertex keeps its own label if it is one of them; otherwise the lowest wins. No kernel reads
//    labels while winners are written, so all vertices of a phase change at once.
// 4. Wake the neighbors of the vertices that changed. All others would decide the same again.
//
// The phase of a vertex is a hash of vertex, iteration and seed, the same as in
// native/src/analytics/label_propagation.cpp. Work per phase: the rows of the vertices that are awake, which are few
// after some iterations.
#include "grid.cuh"
#include "platform.cuh"
#include "rows.cuh"
#include "status.cuh"
#include "warp.cuh"
#ifndef VERTEX_T
#error "VERTEX_T is set by the host"
#endif

// Only 64-bit words. label_propagation.py relies on their order.
struct labels_state {
  row_counts looking;          // vertices queued in this phase
  row_counts changed;          // those of them whose label changed
  unsigned long long changes;  // in this iteration
  unsigned tickets, unused;
};

struct label_table {
  VERTEX_T* labels;  // -1: a free slot
  int* counts;
  unsigned long long num_slots;

  __device__ __forceinline__ unsigned long long slot_of(VERTEX_T label) const {
    const unsigned long long hash = static_cast<unsigned long long>(label) * 0x9e3779b97f4a7c15ull;
    return __umul64hi(hash, num_slots);
  }
  __device__ __forceinline__ unsigned long long after(unsigned long long slot) const {
    return slot + 1 == num_slots ? 0 : slot + 1;
  }
};

__device__ __forceinline__ int claim(int* slot, int label) { return atomicCAS(slot, -1, label); }
__device__ __forceinline__ long long claim(long long* slot, long long label) {
  return static_cast<long long>(
      atomicCAS(reinterpret_cast<unsigned long long*>(slot), ~0ull, static_cast<unsigned long long>(label)));
}

struct propagation {
  const long long* offsets;
  const VERTEX_T* neighbors;
  long long num_vertices;
  VERTEX_T* labels;
  int* awake;
  VERTEX_T* queue;    // of num_vertices: the vertices of this phase
  VERTEX_T* changed;  // of num_vertices: those whose label changed
  VERTEX_T* slots;    // the labels in the tables
  int* counts;
  labels_state* state;
  status_word* status;

  __device__ __forceinline__ label_table table_of(VERTEX_T vertex) const {
    const long long begin = offsets[vertex];
    return {slots + 2 * begin, counts + 2 * begin, 2ull * static_cast<unsigned long long>(offsets[vertex + 1] - begin)};
  }
};

#define LABELS_PARAMETERS                                                                                    \
  const long long *offsets, const VERTEX_T *neighbors, long long num_vertices, VERTEX_T *labels, int *awake, \
      VERTEX_T *queue, VERTEX_T *changed, VERTEX_T *slots, int *counts, labels_state *state, status_word *status
#define LABELS_ARGUMENTS offsets, neighbors, num_vertices, labels, awake, queue, changed, slots, counts, state, status

__device__ __forceinline__ unsigned long long mix(unsigned long long x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

// Queues the vertices that are awake and belong to this phase, and puts them to sleep. One thread per vertex.
extern "C" __global__ void labels_queue(LABELS_PARAMETERS, unsigned long long key, unsigned long long phase) {
  for (long long first = grid_warp_id() * 32; first < num_vertices; first += grid_warps() * 32) {
    const long long vertex = first + lane_id();
    const bool looks = vertex < num_vertices && awake[vertex] != 0 &&
                       mix(key + static_cast<unsigned long long>(vertex + 1) * 0x9e3779b97f4a7c15ull) >> 63 == phase;
    if (looks) awake[vertex] = 0;
    push_row(queue, num_vertices, &state->looking, offset_rows{offsets}, looks, static_cast<VERTEX_T>(vertex));
  }
}

// Counts the labels around every queued vertex. One warp per short row, the whole grid per long row.
extern "C" __global__ void labels_count(LABELS_PARAMETERS) {
  const propagation p{LABELS_ARGUMENTS};
  visit_rows(queue, num_vertices, state->looking, offset_rows{offsets},
             [&](VERTEX_T vertex, bool there, long long entry) {
               if (!there) return;
               const VERTEX_T neighbor = neighbors[entry];
               if (neighbor < 0 || neighbor >= num_vertices) {
                 raise_status(status, fault_bad_neighbor, entry);
                 return;
               }
               const VERTEX_T label = labels[neighbor];
               const label_table table = p.table_of(vertex);
               unsigned long long slot = table.slot_of(label);
               for (;;) {  // ends: at least half of the slots are free
                 const VERTEX_T held = claim(table.labels + slot, label);
                 if (held == -1 || held == label) break;
                 slot = table.after(slot);
               }
               atomicAdd(table.counts + slot, 1);
             });
}

// Chooses the winner of each table and clears the table. One warp per queued vertex.
extern "C" __global__ void labels_choose(LABELS_PARAMETERS) {
  const propagation p{LABELS_ARGUMENTS};
  const long long num_short = static_cast<long long>(state->looking.short_rows);
  const long long num_queued = num_short + static_cast<long long>(state->looking.long_rows);
  for (long long i = grid_warp_id(); i < num_queued; i += grid_warps()) {
    const VERTEX_T vertex = i < num_short ? queue[i] : queue[num_vertices - 1 - (i - num_short)];
    const VERTEX_T own = labels[vertex];
    const label_table table = p.table_of(vertex);
    int most = 0, own_count = 0;
    VERTEX_T winner = own;
    for (unsigned long long slot = static_cast<unsigned long long>(lane_id()); slot < table.num_slots; slot += 32) {
      const VERTEX_T label = table.labels[slot];
      if (label == -1) continue;
      const int count = table.counts[slot];
      table.labels[slot] = -1;
      table.counts[slot] = 0;
      if (label == own) own_count = count;
      if (count > most || (count == most && label < winner)) {
        most = count;
        winner = label;
      }
    }
    for (int distance = 16; distance > 0; distance >>= 1) {
      const int other_most = __shfl_xor_sync(full_mask, most, distance);
      const VERTEX_T other = __shfl_xor_sync(full_mask, winner, distance);
      if (other_most > most || (other_most == most && other < winner)) {
        most = other_most;
        winner = other;
      }
      own_count = max(own_count, __shfl_xor_sync(full_mask, own_count, distance));
    }
    const bool changes = own_count < most;
    if (changes && lane_id() == 0) labels[vertex] = winner;
    push_row(changed, num_vertices, &state->changed, offset_rows{offsets}, changes && lane_id() == 0, vertex);
  }
}

// Wakes the neighbors of the vertices that changed, and ends the phase. One warp per short row, the grid per long row.
extern "C" __global__ void labels_wake(LABELS_PARAMETERS) {
  visit_entries(changed, num_vertices, state->changed, offset_rows{offsets}, [&](bool there, long long entry) {
    if (!there) return;
    const VERTEX_T neighbor = neighbors[entry];
    if (neighbor >= 0 && neighbor < num_vertices) awake[neighbor] = 1;
  });
  if (last_block(&state->tickets) && threadIdx.x == 0) {
    state->changes += state->changed.short_rows + state->changed.long_rows;
    state->looking = state->changed = row_counts{0, 0, 0};
  }
}
