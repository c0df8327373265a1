// cliques/tiny.cuh - finds all cliques among up to 8 vertices at once, with 8 lanes, as sets of sets.
//
// The bits of the lane number p in a group of 8 say which of the last three vertices are in the sets of that lane. The
// other members are a subset of the first five vertices. There are 32 such subsets, one per bit of a word: subset s is
// bit s. A set with two nonadjacent vertices is not a clique, and a few operations remove all such sets.
#pragma once
#include "warp.cuh"

constexpr int tiny_degree = 8;
constexpr int tiny_at_once = 32 / tiny_degree;
constexpr int tiny_lower = 5;               // vertices whose subsets are the bits of a word
constexpr int tiny_sizes = tiny_lower + 1;  // sizes of these subsets

// The subsets of the first five vertices that contain `vertex`.
__device__ constexpr unsigned sets_with(int vertex) {
  constexpr unsigned sets[tiny_lower] = {0xaaaaaaaau, 0xccccccccu, 0xf0f0f0f0u, 0xff00ff00u, 0xffff0000u};
  return sets[vertex];
}

// The number of subsets in `sets` that have `size` members.
__device__ __forceinline__ unsigned tiny_of_size(unsigned sets, int size) {
  constexpr unsigned of_size[tiny_sizes] = {0x00000001u, 0x00010116u, 0x01161668u,
                                            0x16686880u, 0x68808000u, 0x80000000u};
  return static_cast<unsigned>(__popc(sets & of_size[size]));
}

// The cliques of this lane; the empty set belongs to lane 0. Lane p of the group has the row of vertex p of `degree`.
// If degree is -1, there are no cliques. Called by all lanes of the warp.
__device__ __forceinline__ unsigned tiny_cliques(unsigned row, int degree) {
  const int place = lane_id() % tiny_degree, base = lane_id() - place;
  unsigned cliques = degree < 0 ? 0u : ~0u;
#pragma unroll
  for (int v = 0; v < tiny_degree; ++v) {
    const unsigned of_v = __shfl_sync(full_mask, row, base + v);
    if (v < tiny_lower) {
      if (v >= degree) cliques &= ~sets_with(v);
#pragma unroll
      for (int u = 0; u < v; ++u) {
        if (!(of_v >> u & 1u)) cliques &= ~(sets_with(u) & sets_with(v));
      }
    } else if (place >> (v - tiny_lower) & 1) {  // v is in all sets of this lane
      const unsigned others = static_cast<unsigned>(place) << tiny_lower & ~(1u << v);
      if (v >= degree || (others & ~of_v) != 0) cliques = 0;
#pragma unroll
      for (int u = 0; u < tiny_lower; ++u) {
        if (!(of_v >> u & 1u)) cliques &= ~sets_with(u);
      }
    }
  }
  return cliques;
}
