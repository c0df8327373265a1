// motifs/counters.cuh - counters by vertex in shared memory: a table for few vertices, an array for a range of them.
//
// Both count what their threads add together and are looked up afterwards; `clear` makes them ready for the next use.
// Threads are synchronized by the caller.
#pragma once
#include "warp.cuh"

// One store clears them all.
struct alignas(16) four_counts {
  unsigned counts[4];
};

// A counter for each vertex from `begin` on, in `num_words` words, a multiple of four that begins at one. Where counts
// fit 16 bits, two share a word: that of a vertex and that of the one num_words after it, so that neighbors do not
// meet.
struct range_counters {
  unsigned* counts;
  int begin;
  int num_words;
  unsigned low_mask;  // of the lower counter of a word: 16 bits, or all

  __device__ __forceinline__ void clear(int size, int thread, int threads) const {
    four_counts* const fours = reinterpret_cast<four_counts*>(counts);
    for (int i = thread; 4 * i < min(size, num_words); i += threads) fours[i] = four_counts{};
  }
  __device__ __forceinline__ void add(int vertex, unsigned times) const {
    const int place = vertex - begin;
    const bool is_upper = place >= num_words;
    atomicAdd(&counts[is_upper ? place - num_words : place], is_upper ? times << 16 : times);
  }
  __device__ __forceinline__ unsigned get(int vertex) const {
    const int place = vertex - begin;
    return place >= num_words ? counts[place - num_words] >> 16 : counts[place] & low_mask;
  }
};

// A hash table of 2^bits slots, at most half full, with linear probing. The highest bit of a count may serve as a mark.
struct hashed_counters {
  static constexpr int empty = -1;

  int* keys;
  unsigned* counts;
  int bits;

  __device__ __forceinline__ void clear(int thread, int threads) const {
    for (int i = thread; i < 1 << bits; i += threads) {
      keys[i] = empty;
      counts[i] = 0;
    }
  }
  // The slot of a vertex, which is given one if it has none.
  __device__ __forceinline__ unsigned claim(int vertex) const {
    for (unsigned slot = first_slot(vertex);; slot = next_slot(slot)) {
      const int before = atomicCAS(&keys[slot], empty, vertex);
      if (before == empty || before == vertex) return slot;
    }
  }
  __device__ __forceinline__ void add(int vertex, unsigned times = 1) const {
    atomicAdd(&counts[claim(vertex)], times);
  }
  // The slot of a vertex, or -1.
  __device__ __forceinline__ int find(int vertex) const {
    for (unsigned slot = first_slot(vertex);; slot = next_slot(slot)) {
      const int key = keys[slot];
      if (key == vertex) return static_cast<int>(slot);
      if (key == empty) return -1;
    }
  }
  // Zero for a vertex without a slot.
  __device__ __forceinline__ unsigned get(int vertex) const {
    const int slot = find(vertex);
    return slot < 0 ? 0 : counts[slot];
  }

 private:
  __device__ __forceinline__ unsigned first_slot(int vertex) const {
    return static_cast<unsigned>(vertex) * 0x9e3779b1u >> (32 - bits);
  }
  __device__ __forceinline__ unsigned next_slot(unsigned slot) const { return (slot + 1) & ((1u << bits) - 1); }
};

// Bits of the smallest table, of at least 32 slots, that `members` fill no more than half.
__device__ __forceinline__ int counter_bits(unsigned members) {
  return max(5, 32 - __clz(static_cast<int>(2 * members - 1)));
}
