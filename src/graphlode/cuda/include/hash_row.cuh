// hash_row.cuh - one row of ranks as an open-addressing table in shared memory, filled and asked by a team of threads.
//
// A team is a warp or a block. The table is sized for the row (at most half full), so that short rows clear little and
// look-ups rarely take a second step. Keys are ranks, which are never negative.
#pragma once
#include "warp.cuh"

// The threads that own a row together. `Size` is 32 or the block's size.
struct warp_team {
  __device__ static int rank() { return lane_id(); }
  __device__ static int size() { return 32; }
  __device__ static void sync() { __syncwarp(); }
};
struct block_team {
  __device__ static int rank() { return static_cast<int>(threadIdx.x); }
  __device__ static int size() { return static_cast<int>(blockDim.x); }
  __device__ static void sync() { __syncthreads(); }
};

template <class Vertex>
struct hash_row {
  Vertex* keys;  // -1: empty
  int mask;      // number of slots - 1

  __device__ __forceinline__ int first_slot(Vertex key) const {
    return static_cast<int>((static_cast<unsigned>(key) * 0x9E3779B1u) >> 7) & mask;
  }

  // Called by the whole team, which must be done with the previous row. `place(slot, i)` may note where entry i went.
  template <class Team, class Place>
  __device__ void fill(const Vertex* row, int size, int capacity, Place place) {
    int slots = 64;
    while (slots < 4 * size && slots < capacity) slots *= 2;
    mask = slots - 1;
    for (int i = Team::rank(); i < slots; i += Team::size()) keys[i] = static_cast<Vertex>(-1);
    Team::sync();
    for (int i = Team::rank(); i < size; i += Team::size()) {
      int slot = first_slot(row[i]);
      while (!claim(slot, row[i])) slot = (slot + 1) & mask;
      place(slot, i);
    }
    Team::sync();
  }

  // The slot of a key, or -1.
  __device__ __forceinline__ int find(Vertex key) const {
    int slot = first_slot(key);
    for (Vertex seen = keys[slot]; seen != static_cast<Vertex>(-1); seen = keys[slot]) {
      if (seen == key) return slot;
      slot = (slot + 1) & mask;
    }
    return -1;
  }

 private:
  __device__ __forceinline__ bool claim(int slot, int key) { return atomicCAS(keys + slot, -1, key) == -1; }
  __device__ __forceinline__ bool claim(int slot, long long key) {
    return atomicCAS(reinterpret_cast<unsigned long long*>(keys) + slot, ~0ull, static_cast<unsigned long long>(key)) ==
           ~0ull;
  }
};
