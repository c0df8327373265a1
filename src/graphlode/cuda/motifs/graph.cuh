// motifs/graph.cuh - the supported graph as motif kernels see it, and the graphs inside of neighborhoods as bit
// matrices.
//
// Rows are in rank space, both directions, ascending. For the entry of h in row u, `places` is the place of u in row h,
// and `supports` the triangles at the edge: both save a search.
//
// The local graph of h has the neighbors of h as vertices, numbered by their places in row h, and the edges among them.
// It is a matrix of bits, word by word: word j of all rows, then word j + 1 of all rows, so that neighboring places are
// neighbors in memory. Most rows have few words that are not zero: these are listed, by entry, as (word, bits). In
// large matrices a bit for each tile of 32 x 32 says whether it has any edge. Ranks ascend by degree, and only the
// ranks below `num_local` have a matrix, of fewer than 2^32 words; the others are searched for.
#pragma once
#include "search.cuh"
#include "warp.cuh"

// C(x, 2); x may be anything from 0.
__device__ __forceinline__ unsigned long long pairs_of(unsigned long long x) { return x == 0 ? 0 : x * (x - 1) / 2; }

struct local_word {
  unsigned word, bits;
};

// The bits of a listed word that stand for places above `place`.
__device__ __forceinline__ unsigned bits_above(local_word own, int place) {
  const unsigned word = static_cast<unsigned>(place) >> 5;
  if (own.word != word) return own.word > word ? own.bits : 0;
  return own.bits & ~0u << (place & 31) << 1;
}

// How many vertices have an edge to all three, through the shortest of their rows. Not worth the registers of the
// kernels that hope to do without.
__device__ __noinline__ unsigned count_common(const long long* offsets, const int* neighbors, int a, int b, int c) {
  const auto degree = [&](int row) { return static_cast<int>(offsets[row + 1] - offsets[row]); };
  const auto exchange = [](int& first, int& second) {
    const int kept = first;
    first = second;
    second = kept;
  };
  if (degree(b) < degree(a)) exchange(a, b);
  if (degree(c) < degree(a)) exchange(a, c);
  unsigned found = 0;
  for (long long entry = offsets[a]; entry < offsets[a + 1]; ++entry) {
    const int x = neighbors[entry];
    found += contains(neighbors + offsets[b], degree(b), x) && contains(neighbors + offsets[c], degree(c), x);
  }
  return found;
}

constexpr unsigned tiled_words = 8;  // matrices of more words per row have tiles

struct motif_graph {
  const long long* __restrict__ offsets;
  const int* __restrict__ neighbors;
  const int* __restrict__ lower;     // by row: how many neighbors rank below it
  const int* __restrict__ firsts;    // by row: the first place of a neighbor that has two neighbors or more
  const int* __restrict__ places;    // by entry
  const int* __restrict__ supports;  // by entry
  const long long* __restrict__ matrix_begins;
  const unsigned* __restrict__ matrices;
  const long long* __restrict__ word_begins;  // by entry
  const local_word* __restrict__ words;
  const long long* __restrict__ tile_begins;
  const unsigned* __restrict__ tiles;
  int num_vertices;
  int num_local;

  __device__ __forceinline__ int degree(int row) const { return static_cast<int>(offsets[row + 1] - offsets[row]); }
  __device__ __forceinline__ bool adjacent(int row, int other) const {
    return contains(neighbors + offsets[row], degree(row), other);
  }

  // |N(h) & N(u) & N(v)| without a matrix.
  __device__ __forceinline__ unsigned search_common(int h, int u, int v) const {
    return count_common(offsets, neighbors, h, u, v);
  }

  // The listed words of the row of a place in the local graph of h.
  __device__ __forceinline__ long long num_words(int h, int place) const {
    return word_begins[offsets[h] + place + 1] - word_begins[offsets[h] + place];
  }

  // The same by one lane for neighbors u and v of h at these places, by the words of one of their rows in the local
  // graph: that of `place_u`, unless it is long.
  __device__ __forceinline__ unsigned local_common(int h, int place_u, int place_v) const {
    const long long row = offsets[h];
    if (h >= num_local) return search_common(h, neighbors[row + place_u], neighbors[row + place_v]);
    if (num_words(h, place_u) > 8 && num_words(h, place_v) < num_words(h, place_u)) {
      const int kept = place_u;
      place_u = place_v;
      place_v = kept;
    }
    const unsigned* const column = matrices + matrix_begins[h] + place_v;
    const unsigned stride = static_cast<unsigned>(degree(h));
    const long long end = word_begins[row + place_u + 1];
    unsigned found = 0;
    for (long long at = word_begins[row + place_u]; at < end; ++at) {
      const local_word own = words[at];
      found += static_cast<unsigned>(__popc(own.bits & column[own.word * stride]));
    }
    return found;
  }
};

// Words of a row of a matrix, and of a row of tiles.
__device__ __forceinline__ unsigned matrix_words(int degree) { return (static_cast<unsigned>(degree) + 31) / 32; }
__device__ __forceinline__ unsigned tile_words(int degree) { return (matrix_words(degree) + 31) / 32; }

#define MOTIF_GRAPH_PARAMETERS                                                                             \
  const long long *__restrict__ offsets, const int *__restrict__ neighbors, const int *__restrict__ lower, \
      const int *__restrict__ firsts, const int *__restrict__ places, const int *__restrict__ supports,    \
      const long long *__restrict__ matrix_begins, const unsigned *__restrict__ matrices,                  \
      const long long *__restrict__ word_begins, const local_word *__restrict__ words,                     \
      const long long *__restrict__ tile_begins, const unsigned *__restrict__ tiles, int num_vertices, int num_local
#define MOTIF_GRAPH_ARGUMENTS                                                                                    \
  offsets, neighbors, lower, firsts, places, supports, matrix_begins, matrices, word_begins, words, tile_begins, \
      tiles, num_vertices, num_local
