// orbits/counters.cuh - counters for every v that has a common neighbor with a vertex u: in a table, in an array for a
// range of vertices, or in an array for all.
#pragma once
#include "motifs/counters.cuh"
#include "motifs/graph.cuh"
#include "motifs/ranges.cuh"
#include "motifs/twins.cuh"
#ifndef EDGES
#error "EDGES is set by the host"
#endif

constexpr bool for_edges = EDGES != 0;

// The counts of each v: W(u, v), twice D(u, v), and for edges `sides`, the sum of t(xv) over the common neighbors x.
struct pair_counters {
  unsigned *common, *joined, *sides;

  __device__ __forceinline__ void clear_at(int at) const {
    common[at] = joined[at] = 0;
    if (for_edges) sides[at] = 0;
  }
};

// Indexed by slot of a table.
struct tabled_pairs : pair_counters {
  int* keys;
  int bits;

  __device__ __forceinline__ void count(int v, unsigned times) const { table().add(v, times); }
  __device__ __forceinline__ int find(int v) const { return table().find(v); }
  __device__ __forceinline__ bool is_part() const { return false; }
  __device__ __forceinline__ void clear(int thread, int threads) const {
    for (int slot = thread; slot < 1 << bits; slot += threads) {
      keys[slot] = hashed_counters::empty;
      clear_at(slot);
    }
  }

 private:
  __device__ __forceinline__ hashed_counters table() const { return hashed_counters{keys, common, bits}; }
};

// Indexed by vertex: all vertices, with a list of those that were used, or a range.
struct vertex_pairs : pair_counters {
  int begin, size;
  int* members;  // null: a range
  unsigned* num_members;

  __device__ __forceinline__ void count(int v, unsigned times) const {
    const unsigned before = atomicAdd(&common[v - begin], times);
    if (members != nullptr && before == 0) members[atomicAdd(num_members, 1u)] = v;
  }
  __device__ __forceinline__ int find(int v) const { return v - begin; }
  // Whether other ranges add to the same sums.
  __device__ __forceinline__ bool is_part() const { return members == nullptr; }
  __device__ __forceinline__ void clear(int thread, int threads) const {
    if (members == nullptr) {
      for (int at = thread; at < size; at += threads) clear_at(at);
    } else {
      for (int at = thread; at < static_cast<int>(*num_members); at += threads) clear_at(members[at]);
    }
  }
};

// The places of a row whose vertices v are counted, from the first one with two neighbors on.
struct row_part {
  int from, to;

  __device__ __forceinline__ row_part(const motif_graph& graph, int h, const vertex_range& range)
      : from(graph.firsts[h]), to(graph.degree(h)) {
    range.clip(graph, h, from, to);
  }
};

// How the neighbor h of u represents its class of twins if u is not in it: the number of times its walks count to a v
// outside the class (`others`) and to another member (`members`).
struct class_weights {
  int leader;
  unsigned others, members;

  __device__ __forceinline__ class_weights(const twin_hubs& twins, int u, int h)
      : leader(twins.leader(h)), others(1), members(1) {
    if (twins.leader(u) == leader) return;
    others = h == leader ? twins.size(leader) : 0;
    members = others - 1;
  }
  __device__ __forceinline__ bool is_skipped() const { return others == 0; }
  __device__ __forceinline__ unsigned to(const twin_hubs& twins, int v) const {
    return others > 1 && twins.leader(v) == leader ? members : others;
  }
};
