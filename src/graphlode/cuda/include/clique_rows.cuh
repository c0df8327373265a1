// clique_rows.cuh - where the bit rows of a root's neighbourhood lie, for the kernel that builds them and all that
// read.
//
// Roots are rows of the oriented graph, numbered as slots by falling length. The neighbourhood of a root with d
// neighbors is a d x d bit matrix: bit j of row i is set when its i-th and j-th neighbor are adjacent, in both
// directions. A row has ceil(d / 32) words, and the matrices of all slots lie back to back in one slab. Slots of one
// length are consecutive, so a table with a number per length says where each begins.
#pragma once

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
