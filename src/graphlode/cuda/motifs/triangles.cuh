// motifs/triangles.cuh - the terms of the sums over triangles a < b < c.
#pragma once
#include "motifs/graph.cuh"
#include "motifs/sums.cuh"
#include "search.cuh"

// Degrees of the vertices, triangles at the edges, and the number of neighbors of the three that rank above c.
struct triangle_facts {
  unsigned long long da, db, dc, ab, ac, bc, above;
};

// The triangle of the entry of b in row a and the neighbor of a at place c_in_a.
__device__ __forceinline__ triangle_facts triangle_at(const motif_graph& graph, int a, long long entry, int c_in_a) {
  const int b = graph.neighbors[entry], c = graph.neighbors[graph.offsets[a] + c_in_a], below = graph.lower[b];
  const long long row_b = graph.offsets[b];
  const int degree_a = graph.degree(a), degree_b = graph.degree(b), degree_c = graph.degree(c);
  const int c_in_b = below + lower_bound(graph.neighbors + row_b + below, degree_b - below, c);
  triangle_facts facts;
  facts.da = static_cast<unsigned long long>(degree_a);
  facts.db = static_cast<unsigned long long>(degree_b);
  facts.dc = static_cast<unsigned long long>(degree_c);
  facts.ab = static_cast<unsigned long long>(graph.supports[entry]);
  facts.ac = static_cast<unsigned long long>(graph.supports[graph.offsets[a] + c_in_a]);
  facts.bc = static_cast<unsigned long long>(graph.supports[row_b + c_in_b]);
  facts.above = static_cast<unsigned long long>(degree_a - 1 - c_in_a) +
                static_cast<unsigned long long>(degree_b - 1 - c_in_b) +
                static_cast<unsigned long long>(degree_c - graph.lower[c]);
  return facts;
}

struct triangle_sums {
  wide_sum cobras, gems, corrections, cliques4, tailed_cliques, hatted, almost_cliques;

  // Adds a triangle that is in `cliques` 4-cliques.
  __device__ __forceinline__ void add(const triangle_facts& t, unsigned cliques) {
    cobras.add((t.bc - 1) * (t.da - 2));
    cobras.add((t.ac - 1) * (t.db - 2));
    cobras.add((t.ab - 1) * (t.dc - 2));
    gems.add((t.ab - 1) * (t.ac - 1));
    gems.add((t.ab - 1) * (t.bc - 1));
    gems.add((t.ac - 1) * (t.bc - 1));
    corrections.add(t.above);
    add_cliques(t, cliques);
  }
  // The terms that involve 4-cliques.
  __device__ __forceinline__ void add_cliques(const triangle_facts& t, unsigned long long cliques) {
    if (cliques == 0) return;
    cliques4.add(cliques);
    tailed_cliques.add(cliques * (t.da + t.db + t.dc - 9));
    hatted.add(cliques * (t.ab + t.ac + t.bc - 6));
    almost_cliques.add(pairs_of(cliques));
  }

  __device__ __forceinline__ void flush(motif_work* work) const {
    flush_sum(work, sum_cobras, cobras);
    flush_sum(work, sum_gems, gems);
    flush_sum(work, sum_five_cycle_corrections, corrections);
    flush_sum(work, sum_cliques4, cliques4);
    flush_sum(work, sum_tailed_cliques, tailed_cliques);
    flush_sum(work, sum_hatted, hatted);
    flush_sum(work, sum_almost_cliques, almost_cliques);
  }
};
