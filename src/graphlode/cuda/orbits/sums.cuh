// orbits/sums.cuh - the sums of orbit kernels: for the entry of h in row u, over subgraphs with the edge uh.
//
// A sum per entry distinguishes the two ends of an edge. Sums per vertex and per edge are computed from them
// afterwards, row by row. Below, w is any common neighbor of u and h, so that uhw is a triangle, and v any neighbor of
// h except u, so that u - h - v is a wedge. The other letters are those of `graphlode.mining.orbits`.
#pragma once
#include "motifs/graph.cuh"

// In the order of SUMS in orbits.py: first the sums for orbits of vertices, then those for orbits of edges only.
enum orbit_sum {
  // orbit_triangles
  sum_fans,   // t(uw) - 1
  sum_tails,  // d(w) - 2
  sum_books,  // C(t(uw) - 1, 2)
  sum_above,  // for u above h and w: their neighbors, and those of u, that rank above u; for edges, also added to hw
  sum_below,  // 1 for every w below h
  // orbit_cliques
  sum_cliques,  // K4(uhw)
  sum_hats,     // K4(uhw) (t(uw) - 2)
  sum_almost,   // C(K4(uhw), 2)
  sum_triples,  // over 4-cliques uhab: K4(uab) - 1; for vertices, with a and b below u
  // orbit_second
  sum_squares_beside,  // C4(uw)
  sum_cliques_beside,  // twice K4(uw)
  sum_fans_beside,     // fans of w in row u
  // orbit_pairs
  sum_squares,      // W(u, v) - 1
  sum_k23,          // C(W(u, v) - 1, 2)
  sum_far_degrees,  // (W(u, v) - 1) (d(v) - 2)
  sum_sides,        // (W(u, v) - 1) t(hv)
  sum_third_pairs,  // c3(h, u, v) (W(u, v) - 2)
  sum_wheels,       // C(c3(h, u, v), 2)
  sum_third_reach,  // c3(h, u, v) (d(v) - 2)
  sum_joined,       // twice D(u, v)
  // orbit_cliques5
  sum_fives,  // 5-cliques with lowest vertex u; for edges, three times
  // orbit_triangles, for edges
  sum_ahead,  // the sum of d(x) - 1 over the neighbors x of w
  sum_forks,  // C(d(w) - 2, 2)
  sum_hooks,  // (t(uw) - 1) (d(w) - 3)
  sum_peaks,  // t(w)
  sum_gems,   // (t(uw) - 1) (t(hw) - 1)
  // orbit_cliques, for edges
  sum_reach,     // K4(uhw) (d(w) - 3)
  sum_opposite,  // over 4-cliques uhab: t(ab) - 2
  // orbit_second, for edges
  sum_tails_beside,  // tails of w in row u
  sum_fans_across,   // fans of u in row w
  // orbit_pairs, for edges
  sum_far_sides,  // over 4-cycles u - h - v - x: t(vx)
  sum_rims,       // over the common neighbors c of u and h: 4-cycles of the local graph of c through uh
  sum_bridges,    // over ordered pairs of common neighbors a, b of u and h: W(a, b) - 2
  // for edges, in the rows of their higher ends
  sum_cycles,        // orbit_cycles: 5-cycles, including the walks that the driver subtracts
  sum_fives_across,  // orbit_cliques5: 5-cliques with a lowest vertex below u and h
};

struct orbit_sums {
  unsigned long long* values;  // one after the other, num_entries each
  long long num_entries;

  __device__ __forceinline__ unsigned long long& at(orbit_sum which, long long entry) const {
    return values[which * num_entries + entry];
  }
};

// Calls visit(place) for every common neighbor of u and the neighbor of its entry, by place in row u, each in one lane.
// Called by all lanes of a warp.
template <class Visit>
__device__ __forceinline__ void visit_common(const motif_graph& graph, int u, long long entry, Visit visit) {
  if (u < graph.num_local) {
    for (long long at = graph.word_begins[entry]; at < graph.word_begins[entry + 1]; ++at) {
      const local_word own = graph.words[at];
      if (own.bits >> lane_id() & 1) visit(static_cast<int>(32 * own.word) + lane_id());
    }
  } else {
    const int h = graph.neighbors[entry], degree = graph.degree(u);
    for (int place = lane_id(); place < degree; place += 32) {
      if (graph.adjacent(h, graph.neighbors[graph.offsets[u] + place])) visit(place);
    }
  }
}

// The place of a neighbor in a row.
__device__ __forceinline__ int place_of(const motif_graph& graph, int row, int neighbor) {
  return lower_bound(graph.neighbors + graph.offsets[row], graph.degree(row), neighbor);
}
