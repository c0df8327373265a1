// members.cuh - a hash table in shared memory for the members of one row. It maps a member to its place in the row.
//
// Open addressing with linear probing, at most half full: a lookup reads one or two slots. The hash is multiplicative
// because the ranks of neighbors come in runs.
#pragma once

template <class Vertex>
struct member_table {
  static constexpr Vertex empty = -1;

  Vertex* keys;
  unsigned short* places;  // null if places are not needed
  int bits;                // 2^bits slots

  __device__ __forceinline__ unsigned num_slots() const { return 1u << bits; }
  __device__ __forceinline__ unsigned first_slot(Vertex vertex) const {
    return static_cast<unsigned>(vertex) * 0x9e3779b1u >> (32 - bits);
  }
  __device__ __forceinline__ unsigned next_slot(unsigned slot) const { return (slot + 1) & (num_slots() - 1); }

  __device__ __forceinline__ static int claim(int* key, int vertex) { return atomicCAS(key, -1, vertex); }
  __device__ __forceinline__ static long long claim(long long* key, long long vertex) {
    return static_cast<long long>(
        atomicCAS(reinterpret_cast<unsigned long long*>(key), ~0ull, static_cast<unsigned long long>(vertex)));
  }

  __device__ __forceinline__ void insert(Vertex vertex, int place) const {
    unsigned slot = first_slot(vertex);
    while (claim(keys + slot, vertex) != empty) slot = next_slot(slot);
    if (places != nullptr) places[slot] = static_cast<unsigned short>(place);
  }

  // The slot of a member, or -1.
  __device__ __forceinline__ int find(Vertex vertex) const {
    for (unsigned slot = first_slot(vertex);; slot = next_slot(slot)) {
      const Vertex key = keys[slot];
      if (key == vertex) return static_cast<int>(slot);
      if (key == empty) return -1;
    }
  }
};

// Bits of the smallest table that has at least 32 slots and is filled to at most one slot in `spread`.
__device__ __forceinline__ int table_bits(int members, int spread) { return max(5, 32 - __clz(members * spread - 1)); }
