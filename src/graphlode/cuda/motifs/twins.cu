// motifs/twins.cu - finds hubs with the same neighbors (see motifs/twins.cuh).
//
// Each hub gets a key that is equal for twins. The hubs are sorted by key, and adjacent hubs with equal keys are
// compared.
#include "grid.cuh"
#include "platform.cuh"
#include "search.cuh"
#include "warp.cuh"

__device__ __forceinline__ unsigned long long scatter_bits(int vertex) {
  unsigned long long x = static_cast<unsigned long long>(vertex) + 0x9e3779b97f4a7c15ull;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ x >> 27) * 0x94d049bb133111ebull;
  return x ^ x >> 31;
}

// Computes the key of each hub (the vertices from first_hub on): a hash of its neighbors and itself. One warp per hub.
extern "C" __global__ void motif_twin_keys(const long long* __restrict__ offsets, const int* __restrict__ neighbors,
                                           int num_vertices, int first_hub, unsigned long long* keys) {
  for (long long hub = first_hub + grid_warp_id(); hub < num_vertices; hub += grid_warps()) {
    unsigned long long key = lane_id() == 0 ? scatter_bits(static_cast<int>(hub)) : 0;
    for (long long entry = offsets[hub] + lane_id(); entry < offsets[hub + 1]; entry += 32) {
      key += scatter_bits(neighbors[entry]);
    }
    key = warp_sum(key);
    if (lane_id() == 0) keys[hub - first_hub] = key;
  }
}

// Finds the classes of twins. `keys` are sorted; `hubs` has the hub of each key. Hubs with equal keys are compared with
// the lowest of them, neighbor by neighbor. A hub without a twin is its own leader. `sizes` must be zero. One warp per
// hub.
extern "C" __global__ void motif_twins(const long long* __restrict__ offsets, const int* __restrict__ neighbors,
                                       int num_hubs, int first_hub, const unsigned long long* __restrict__ keys,
                                       const long long* __restrict__ hubs, int* leaders, int* sizes) {
  for (long long number = grid_warp_id(); number < num_hubs; number += grid_warps()) {
    const int own = static_cast<int>(hubs[number]);
    int leader = own;
    for (long long other = number - 1; other >= 0 && keys[other] == keys[number]; --other) {
      leader = min(leader, static_cast<int>(hubs[other]));
    }
    for (long long other = number + 1; other < num_hubs && keys[other] == keys[number]; ++other) {
      leader = min(leader, static_cast<int>(hubs[other]));
    }
    const long long row = offsets[first_hub + own], leading_row = offsets[first_hub + leader];
    const int degree = static_cast<int>(offsets[first_hub + own + 1] - row);
    bool same = degree == static_cast<int>(offsets[first_hub + leader + 1] - leading_row);
    bool adjacent = leader == own;
    for (int place = lane_id(); place < degree && same && leader != own; place += 32) {
      const int other = neighbors[row + place];
      if (other == first_hub + leader) {
        adjacent = true;
      } else {
        same = contains(neighbors + leading_row, degree, other);
      }
    }
    same = __all_sync(full_mask, same) && __any_sync(full_mask, adjacent);
    if (lane_id() != 0) continue;
    leaders[own] = first_hub + (same ? leader : own);
    atomicAdd(&sizes[same ? leader : own], 1);
  }
}
