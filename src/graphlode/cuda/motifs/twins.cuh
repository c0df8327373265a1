// motifs/twins.cuh - hubs with the same neighbors, which stand for each other in the walks between others.
//
// Twins are adjacent and have all other neighbors in common; the lowest of them leads the class. For u and v outside of
// the class, walks u - h - v are the same through every h of it, and so are the triangles at uh and hv and the common
// neighbors of h, u and v: the leader's row is walked once and counts as often as the class has members. Twins are
// neighbors of u all together or not at all.
#pragma once

struct twin_hubs {
  int first;           // hubs are the vertices from here on
  const int* leaders;  // by hub
  const int* sizes;    // of the class, where the leader is

  // How often the walks of u through its neighbor h to lower v count: not at all where the leader of h does it. If u
  // ranks below the leader, v do, too, and are not in its class.
  __device__ __forceinline__ unsigned weight(int u, int h) const {
    if (h < first) return 1;
    const int leader = leaders[h - first];
    if (u >= leader) return 1;
    return h == leader ? static_cast<unsigned>(sizes[h - first]) : 0;
  }
  __device__ __forceinline__ int leader(int h) const { return h < first ? h : leaders[h - first]; }
  __device__ __forceinline__ unsigned size(int leader) const {
    return leader < first ? 1 : static_cast<unsigned>(sizes[leader - first]);
  }
};
