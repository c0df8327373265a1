// cliques/pivot_nodes.cuh - one node of a search by pivoting: a leaf that is counted, or a pivot to branch on.
//
// A node has h held vertices (in every clique below it), p pivots passed (adjacent to all later vertices, each optional
// in a clique) and a set P of candidates. It still needs r = k - h vertices. A pivot of highest degree is chosen from
// P. Each candidate that is not adjacent to the pivot gets a branch in which it is held, over its neighbors in P; then
// it leaves P. The rest of P continues with the pivot passed. A node is a leaf if a closed form is known:
//   P empty: C(p, r); r = 1: p + |P|; r = 2: C(p, 2) + p |P| + edges of P; P a clique: C(p + |P|, r);
//   r = 3: C(p, 3) + C(p, 2) |P| + p edges + triangles of P, which the lanes count in parallel;
//   P independent: C(p, r) + |P| C(p, r - 1); P a clique less a matching of m pairs: sum of C(m, j) 2^j C(p + u, r - j)
// where u is the number of candidates outside the pairs. Candidates adjacent to all others are passed at once, as
// pivots. After Jain and Seshadhri, "The Power of Pivoting for Exact Clique Counting" (WSDM 2020).
//
// The lanes evaluate candidates in parallel; the node is the same in all lanes.
#pragma once
#include "cliques/counts.cuh"
#include "cliques/pivot_space.cuh"

constexpr int most_pairs = 39;  // the sum of C(m, j) 2^j = 3^m stays below 2^63

struct pivot_node {
  int held, pivots, size;
};

template <class Leaves>
struct pivot_counter {
  Leaves leaves;
  const unsigned long long* __restrict__ matchings;  // C(m, j) 2^j at [m * (most_pairs + 1) + j]
  int k;
  unsigned nodes;  // evaluated by this warp in this launch
  int root_words;

  static constexpr bool all_sizes = Leaves::all_sizes;

  // The warp's memory, which contains this object.
  __device__ __forceinline__ warp_space space() const {
    return {const_cast<unsigned*>(reinterpret_cast<const unsigned*>(this)) - warp_space::at_state};
  }

  __device__ __forceinline__ void leaf(int held, int pivots, unsigned long long times) {
    if (lane_id() == 0) leaves.add(held, k - held, pivots, times);
  }

  // Whether a node has no cliques, or can be counted without reading its candidates. In the latter case it is counted.
  __device__ __forceinline__ bool is_plain(const pivot_node& node) {
    const int needed = k - node.held;
    if (all_sizes) {
      if (needed != 0 && node.size > 1) return false;
      leaf(node.held, needed == 0 ? 0 : node.pivots + node.size, 1);
      return true;
    }
    if (node.pivots + node.size < needed) return true;
    if (needed != 1 && node.size > 1) return false;
    leaf(node.held, node.pivots + node.size, 1);
    return true;
  }

  // Counts a node that needs two more vertices: the edges among its candidates, each from its lower end.
  template <int W>
  __device__ __forceinline__ void count_pairs(const unsigned* matrix, int stride, const unsigned (&set)[W],
                                              const pivot_node& node) {
    const int lane = lane_id();
    unsigned edges = 0;
    if (W <= narrow_words) {
#pragma unroll
      for (int i = 0; i < W; ++i) {
        if (!(set[i] >> lane & 1u)) continue;
        const unsigned* row = matrix + 32 * i + lane;
        edges += static_cast<unsigned>(__popc(set[i] & row[i * stride] & ((~0u << lane) << 1)));
#pragma unroll
        for (int w = i + 1; w < W; ++w) edges += static_cast<unsigned>(__popc(set[w] & row[w * stride]));
      }
    } else {
      unsigned short* const list = space().list();
      list_set<W>(set, list);
      for (int i = 0; i < node.size; i += 32) {
        const int lowest = list[i] >> 5;
        const int v = i + lane < node.size ? list[i + lane] : 32 * W;
#pragma unroll
        for (int w = 0; w < W; ++w) {
          if (w < lowest) continue;  // the same for all lanes
          const unsigned row = v < 32 * W ? matrix[w * stride + v] : 0;
          edges += static_cast<unsigned>(__popc(set[w] & row & bits_above(v, w)));
        }
      }
    }
    edges = __reduce_add_sync(full_mask, edges);
    if (lane != 0) return;
    leaves.add(node.held, 2, node.pivots, 1);
    leaves.add(node.held + 1, 1, node.pivots, static_cast<unsigned>(node.size));
    leaves.add(node.held + 2, 0, 0, edges);
  }

  template <int W>
  __device__ __forceinline__ static void list_set(const unsigned (&set)[W], unsigned short* list) {
    __syncwarp();  // all lanes are done with the list of the previous node
    int listed = 0;
#pragma unroll
    for (int w = 0; w < W; ++w) {
      if (set[w] >> lane_id() & 1u)
        list[listed + votes_below(set[w])] = static_cast<unsigned short>(32 * w + lane_id());
      listed += __popc(set[w]);
    }
    __syncwarp();
  }

  // Counts a node by a closed form and returns false. Otherwise passes the universal candidates, chooses a pivot and
  // returns true: the node branches. `branches` is the number of branches except that of the pivot.
  template <int W>
  __device__ __forceinline__ bool evaluate(const unsigned* matrix, int stride, unsigned (&set)[W], pivot_node& node,
                                           int& pivot, int& branches) {
    const int size = node.size, lane = lane_id(), needed = k - node.held;
    if (lane == 0) ++nodes;
    if (!all_sizes && needed == 2) {
      count_pairs<W>(matrix, stride, set, node);
      return false;
    }
    unsigned edges_and_universal = 0, best = 0;  // the part of this lane
    unsigned universal = 0;                      // bit i: this lane's candidate of word i is adjacent to all others
    if (W <= narrow_words) {
#pragma unroll
      for (int i = 0; i < W; ++i) {
        if (!(set[i] >> lane & 1u)) continue;
        const int v = 32 * i + lane;
        int degree = 0;
#pragma unroll
        for (int w = 0; w < W; ++w) degree += __popc(set[w] & matrix[w * stride + v]);
        edges_and_universal += static_cast<unsigned>(degree);
        if (degree == size - 1) {
          edges_and_universal += 1u << 20;
          universal |= 1u << i;
        } else {
          best = max(best, static_cast<unsigned>(degree) << 10 | static_cast<unsigned>(v));
        }
      }
    } else {
      unsigned short* const list = space().list();
      unsigned* const marks = space().marks();
      list_set<W>(set, list);
      if (lane < W) marks[lane] = 0;
      __syncwarp();
      for (int i = lane; i < size; i += 32) {
        const int v = list[i];
        int degree = 0;
#pragma unroll
        for (int w = 0; w < W; ++w) degree += __popc(set[w] & matrix[w * stride + v]);
        edges_and_universal += static_cast<unsigned>(degree);
        if (degree == size - 1) {
          edges_and_universal += 1u << 20;
          atomicOr(&marks[v >> 5], 1u << (v & 31));
        } else {
          best = max(best, static_cast<unsigned>(degree) << 10 | static_cast<unsigned>(v));
        }
      }
    }
    edges_and_universal = __reduce_add_sync(full_mask, edges_and_universal);
    const int ends = static_cast<int>(edges_and_universal & 0xfffffu), alone = size - 1;
    const int passed = static_cast<int>(edges_and_universal >> 20), others = size - passed;
    if (others == 0) {
      leaf(node.held, node.pivots + size, 1);
      return false;
    }
    if (ends == passed * alone + others * (alone - 1) && others <= 2 * most_pairs) {
      const int pairs = others / 2;
      __syncwarp();  // lane 0 may just have added a leaf alone
      for (int j = lane; j <= min(pairs, needed); j += 32) {
        leaves.add_together(node.held + j, needed - j, node.pivots + passed, matchings[pairs * (most_pairs + 1) + j]);
      }
      __syncwarp();
      return false;
    }
    node.pivots += passed;
    node.size = others;
    best = __reduce_max_sync(full_mask, best);
    if (static_cast<int>(best >> 10) == passed) {  // the others are pairwise nonadjacent
      leaf(node.held, node.pivots, 1);
      leaf(node.held + 1, node.pivots, static_cast<unsigned>(others));
      return false;
    }
    pivot = static_cast<int>(best & 1023u);
    branches = alone - static_cast<int>(best >> 10);
    if (passed != 0) {
      __syncwarp();  // wait until all marks are set
#pragma unroll
      for (int w = 0; w < W; ++w) {
        set[w] &= ~(W <= narrow_words ? __ballot_sync(full_mask, universal >> w & 1u) : space().marks()[w]);
      }
    }
    if (!all_sizes && needed == 3) {
      count_triples<W>(matrix, stride, set, node, (ends - passed * (alone + others)) / 2);
      return false;
    }
    return true;
  }

  // Counts a node that needs three more vertices and has `edges` edges among its candidates. Each triangle is found
  // from its lowest corner, one lane per corner.
  template <int W>
  __device__ __forceinline__ void count_triples(const unsigned* matrix, int stride, const unsigned (&set)[W],
                                                const pivot_node& node, int edges) {
    const int lane = lane_id();
    unsigned triangles = 0;
    if (W == 1) {
      const unsigned above[1] = {set[0] >> lane & 1u ? set[0] & matrix[lane] & ((~0u << lane) << 1) : 0};
      triangles = edges_among<1>(matrix, stride, above);
    } else {
      unsigned short* const list = space().list();
      list_set<W>(set, list);
      for (int i = lane; i < node.size; i += 32) {
        const int v = list[i];
        unsigned above[W];
#pragma unroll
        for (int w = 0; w < W; ++w) above[w] = set[w] & matrix[w * stride + v] & bits_above(v, w);
        triangles += edges_among<W>(matrix, stride, above);
      }
    }
    triangles = __reduce_add_sync(full_mask, triangles);
    if (lane != 0) return;
    leaves.add(node.held, 3, node.pivots, 1);
    leaves.add(node.held + 1, 2, node.pivots, static_cast<unsigned>(node.size));
    leaves.add(node.held + 2, 1, node.pivots, static_cast<unsigned>(edges));
    leaves.add(node.held + 3, 0, 0, triangles);
  }

  // Counts the triangles among a root's neighbors that have a lane's `corner` as their lowest corner. `corner` may be
  // beyond the last neighbor.
  template <int W>
  __device__ __forceinline__ void count_corners(const unsigned* matrix, int stride, int corner, int degree) {
    unsigned above[W];
#pragma unroll
    for (int w = 0; w < W; ++w) {  // behind and inside the rows of a shorter root there is old data
      above[w] = corner < degree && w < root_words ? matrix[w * stride + corner] & bits_above(corner, w) : 0;
    }
    const unsigned triangles = __reduce_add_sync(full_mask, edges_among<W>(matrix, stride, above));
    if (lane_id() != 0) return;
    ++nodes;
    leaves.add(4, 0, 0, triangles);
  }

  // Counts the edges among the members of a lane's set, each from its lower end.
  template <int W>
  __device__ __forceinline__ static unsigned edges_among(const unsigned* matrix, int stride, const unsigned (&set)[W]) {
    unsigned edges = 0;
#pragma unroll
    for (int w = 0; w < W; ++w) {
      for (unsigned left = set[w]; left != 0;) {
        const unsigned* row = matrix + 32 * w + __ffs(static_cast<int>(left)) - 1;
        left &= left - 1;
        edges += static_cast<unsigned>(__popc(left & row[w * stride]));
#pragma unroll
        for (int q = w + 1; q < W; ++q) edges += static_cast<unsigned>(__popc(set[q] & row[q * stride]));
      }
    }
    return edges;
  }
};
