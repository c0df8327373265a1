// motifs/twins.cuh - twins: hubs with the same neighbors, of which one can represent the others in walks.
//
// Twins are adjacent and have all other neighbors in common. The lowest of them is the leader of the class. For u and v
// outside the class, walks u - h - v are the same through every h of it, and so are the triangles at uh and hv and the
// common neighbors of h, u and v. So only the leader's row is walked, and it counts once per member of the class.
// Either all twins of a class are neighbors of u or none is.
#pragma once

struct twin_hubs {
  int first;           // hubs are the vertices from here on
  const int* leaders;  // by hub
  const int* sizes;    // size of the class, stored at the leader

  // How often the walks of u through its neighbor h to a lower v count; 0 if the leader of h represents h. If u ranks
  // below the leader, then so does v, and v is not in the class.
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
