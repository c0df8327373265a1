// motifs/local_row.cuh - c3(h, u, v) for one u and many v, which a warp queries in chunks of 32 places of row h.
#pragma once
#include "motifs/graph.cuh"
#include "warp.cuh"

// The row of u in the local graph of h. Each lane keeps one of its nonzero words. A chunk only uses the words whose
// tile has an edge.
struct local_row {
  const unsigned* matrix;
  const unsigned* tiles;  // null if there are none
  const local_word* words;
  int count;
  unsigned stride, tile_stride;
  unsigned bits, column, tile_row;  // the lane's word; the start of its column in the matrix, its row in the tiles
  unsigned tile;                    // one bit for each of the 32 chunks from tile_chunk on
  int tile_chunk;

  // Called by all lanes. h must have a matrix.
  __device__ __forceinline__ void open(const motif_graph& graph, int h, long long row, int degree, int place_u) {
    matrix = graph.matrices + graph.matrix_begins[h];
    tiles = matrix_words(degree) > tiled_words ? graph.tiles + graph.tile_begins[h] : nullptr;
    stride = static_cast<unsigned>(degree);
    tile_stride = tile_words(degree);
    const long long begin = graph.word_begins[row + place_u];
    words = graph.words + begin;
    count = static_cast<int>(graph.word_begins[row + place_u + 1] - begin);
    load(0);
  }

  // c3 for the place 32 * chunk + lane of each lane that is `on`. Called by all lanes.
  __device__ __forceinline__ unsigned common(int chunk, bool on) {
    unsigned found = 0;
    for (int first = 0; first < count; first += 32) {
      if (count > 32) load(first);
      if (tiles != nullptr && tile_chunk != (chunk & ~31)) {
        tile_chunk = chunk & ~31;
        if (bits != 0) tile = tiles[tile_row + static_cast<unsigned>(chunk >> 5)];
      }
      const bool met = bits != 0 && (tile >> (chunk & 31) & 1) != 0;
      const unsigned* const places = matrix + 32 * chunk + lane_id();
      // Two at a time, so that both loads are in flight before the first is used.
      for (unsigned left = __ballot_sync(full_mask, met); left != 0;) {
        const int first_from = __ffs(static_cast<int>(left)) - 1;
        left &= left - 1;
        const int second_from = left != 0 ? __ffs(static_cast<int>(left)) - 1 : first_from;
        const unsigned first_at = __shfl_sync(full_mask, column, first_from);
        const unsigned second_at = __shfl_sync(full_mask, column, second_from);
        unsigned first_word = 0, second_word = 0;
        if (on) {
          first_word = places[first_at];
          if (left != 0) second_word = places[second_at];
        }
        left &= left - 1;  // zero stays zero
        found += static_cast<unsigned>(__popc(first_word & __shfl_sync(full_mask, bits, first_from)));
        found += static_cast<unsigned>(__popc(second_word & __shfl_sync(full_mask, bits, second_from)));
      }
    }
    return found;
  }

 private:
  __device__ __forceinline__ void load(int first) {
    const local_word own = first + lane_id() < count ? words[first + lane_id()] : local_word{0, 0};
    bits = own.bits;
    column = own.word * stride;
    tile_row = own.word * tile_stride;
    tile = ~0u;
    tile_chunk = -1;
  }
};
