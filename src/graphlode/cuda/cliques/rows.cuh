// cliques/rows.cuh - where the bit rows of a root's neighborhood lie, for the kernel that builds them and all that
// read.
//
// Roots are rows of the oriented graph, numbered as slots by falling length. The neighborhood of a root with d
// neighbors is a d x d bit matrix: bit j of row i is set when its i-th and j-th neighbor are adjacent, in both
// directions. A row has ceil(d / 32) words, and the matrices of all slots lie back to back in one slab. Slots of one
// length are consecutive, so a table with a number per length says where each begins.
#pragma once
#include "warp.cuh"

__device__ __forceinline__ int words_for(int bits) { return (bits + 31) >> 5; }

struct clique_root {
  long long vertex, begin;  // the row of the oriented graph and its first entry
  int degree, words;        // neighbors, and words of a bit row
  unsigned* rows;
};

template <class Vertex>
struct clique_rows {
  const long long* __restrict__ offsets;
  const Vertex* __restrict__ neighbors;
  const Vertex* __restrict__ roots;           // by slot
  const long long* __restrict__ slab_shifts;  // by length: a slot s of d neighbors begins at shift + s * d * words
  unsigned* slab;

  __device__ __forceinline__ clique_root at(long long slot) const {
    clique_root root;
    root.vertex = static_cast<long long>(roots[slot]);
    root.begin = offsets[root.vertex];
    root.degree = static_cast<int>(offsets[root.vertex + 1] - root.begin);
    root.words = words_for(root.degree);
    root.rows = slab + (slab_shifts[root.degree] + slot * root.degree * root.words);
    return root;
  }
};

// The bits above `place` in word `word` of a row.
__device__ __forceinline__ unsigned bits_above(int place, int word) {
  if (word != place >> 5) return word < place >> 5 ? 0u : ~0u;
  return (~0u << (place & 31)) << 1;
}

// Takes the lowest place out of `apart` and `rest`, sets of `words` words of which the first is part of the second; if
// `apart` is empty, the place of the pivot. By a warp; what it returns is the same in all lanes.
struct taken_place {
  int place;
  bool is_pivot;
};
__device__ __forceinline__ taken_place take_place(unsigned* rest, unsigned* apart, int words, int pivot) {
  int place = -1;
  for (int first = 0; first < words && place < 0; first += 32) {
    const unsigned word = first + lane_id() < words ? apart[first + lane_id()] : 0;
    const unsigned filled = __ballot_sync(full_mask, word != 0);
    if (filled == 0) continue;
    const int at = __ffs(static_cast<int>(filled)) - 1;
    place = 32 * (first + at) + __ffs(static_cast<int>(__shfl_sync(full_mask, word, at))) - 1;
  }
  const bool is_pivot = place < 0;
  if (is_pivot) place = pivot;
  __syncwarp();
  if (lane_id() == 0) {
    rest[place >> 5] &= ~(1u << (place & 31));
    apart[place >> 5] &= ~(1u << (place & 31));
  }
  __syncwarp();
  return {place, is_pivot};
}
