// cliques/tiny.cuh - all cliques among up to 8 vertices at once, by 8 lanes, as sets of sets.
//
// Lane p of a group of 8 takes the sets of vertices whose members among the last three are those of the bits of p. The
// other members are a set of the first five: there are 32 of them, one per bit of a word, set s at bit s. A set that
// has two vertices which are not adjacent is no clique: it takes a few operations to strike all such sets out.
#pragma once
#include "warp.cuh"

constexpr int tiny_degree = 8;
constexpr int tiny_at_once = 32 / tiny_degree;
constexpr int tiny_lower = 5;               // vertices whose sets are bits of a word
constexpr int tiny_sizes = tiny_lower + 1;  // of these sets

// The sets of the first five vertices that have `vertex` in them.
__device__ constexpr unsigned sets_with(int vertex) {
  constexpr unsigned sets[tiny_lower] = {0xaaaaaaaau, 0xccccccccu, 0xf0f0f0f0u, 0xff00ff00u, 0xffff0000u};
  return sets[vertex];
}

// How many of some sets have so many members.
__device__ __forceinline__ unsigned tiny_of_size(unsigned sets, int size) {
  constexpr unsigned of_size[tiny_sizes] = {0x00000001u, 0x00010116u, 0x01161668u,
                                            0x16686880u, 0x68808000u, 0x80000000u};
  return static_cast<unsigned>(__popc(sets & of_size[size]));
}

// The cliques that are this lane's, the empty one of lane 0 among them. Lane p of the group has the row of vertex p of
// `degree`; with a degree of -1 there are none. Called by all lanes of the warp.
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
