// motifs/materialize.cu - motifs from stored lists: triangles by edge, wedges by vertex, diamonds by entry.
//
// Every list is made in the same way: a first kernel counts what each thread will write, a running sum gives each its
// place, and a second kernel writes without conflicts. Wedges u - h - v and diamonds (u - h, v: both adjacent to a
// common neighbor of u and h) are written as sort keys, and one sort orders all rows. Equal keys are then adjacent, and
// the length of a run is W(u, v) or c3(h, u, v). This is simple and regular, but needs memory for all wedges and
// diamonds. The two steps are those of the ESCAPE formulas on GPUs; see docs/operations/motifs.md.
#include "grid.cuh"
#include "motifs/graph.cuh"
#include "motifs/sums.cuh"
#include "motifs/triangles.cuh"
#include "platform.cuh"
#include "search.cuh"
#include "warp.cuh"

// Lists the common neighbors of every edge, sorted. One warp per entry of a lower neighbor; the lanes scan the shorter
// of the two rows.
extern "C" __global__ void materialize_triangles(MOTIF_GRAPH_PARAMETERS, const int* __restrict__ rows,
                                                 const int* __restrict__ edges, long long num_entries,
                                                 const long long* __restrict__ triangle_begins, int* triangles) {
  const motif_graph graph{MOTIF_GRAPH_ARGUMENTS};
  for (long long entry = grid_warp_id(); entry < num_entries; entry += grid_warps()) {
    int u = rows[entry], v = neighbors[entry];
    if (v > u || supports[entry] == 0) continue;
    long long place = triangle_begins[edges[entry]];
    // Ranks ascend by degree: v has the shorter row.
    const long long end = offsets[v + 1];
    for (long long first = offsets[v]; first < end; first += 32) {
      const long long own = first + lane_id();
      const bool common = own < end && graph.adjacent(u, neighbors[own]);
      const unsigned votes = __ballot_sync(full_mask, common);
      if (common) triangles[place + votes_below(votes)] = neighbors[own];
      place += __popc(votes);
    }
  }
}

// Counts the wedges of each of the entries [begin, end), one place late. One thread per entry.
extern "C" __global__ void materialize_wedge_counts(const int* __restrict__ neighbors, const int* __restrict__ firsts,
                                                    const int* __restrict__ places, long long begin, long long end,
                                                    long long* wedge_begins) {
  for (long long entry = begin + grid_thread_id(); entry < end; entry += grid_threads()) {
    wedge_begins[entry - begin + 1] = max(0, places[entry] - firsts[neighbors[entry]]);
  }
}

// Writes the wedges as keys (u above, v below). One warp per entry.
extern "C" __global__ void materialize_wedges(const long long* __restrict__ offsets, const int* __restrict__ neighbors,
                                              const int* __restrict__ firsts, const int* __restrict__ rows,
                                              long long begin, long long end,
                                              const long long* __restrict__ wedge_begins, long long* keys) {
  for (long long entry = begin + grid_warp_id(); entry < end; entry += grid_warps()) {
    const long long place = wedge_begins[entry - begin], count = wedge_begins[entry - begin + 1] - place;
    const int h = neighbors[entry];
    const int* const others = neighbors + offsets[h] + firsts[h];
    const long long own = static_cast<long long>(rows[entry]) << 32;
    for (long long i = lane_id(); i < count; i += 32) keys[place + i] = own | others[i];
  }
}

// Calls take(first, count) for every common neighbor x of row u and the neighbor h of an entry, one x per lane. The
// common neighbors of x and h below u are the `count` elements of the list of triangles from `first` on.
template <class Take>
__device__ __forceinline__ void visit_diamonds(const motif_graph& graph, const int* edges,
                                               const long long* triangle_begins, const int* triangles, int u,
                                               long long entry, Take take) {
  const int h = graph.neighbors[entry];
  const long long row_h = graph.offsets[h], end = triangle_begins[edges[entry] + 1];
  const int degree_h = graph.degree(h);
  for (long long first = triangle_begins[edges[entry]]; first < end; first += 32) {
    const long long own = first + lane_id();
    long long list = 0;
    int count = 0;
    if (own < end) {
      const int x = triangles[own];
      const int edge = edges[row_h + lower_bound(graph.neighbors + row_h, degree_h, x)];
      list = triangle_begins[edge];
      count = lower_bound(triangles + list, static_cast<int>(triangle_begins[edge + 1] - list), u);
    }
    take(list, count);
  }
}

// Counts the diamonds of each of the entries [begin, end), one place late. One warp per entry.
extern "C" __global__ void materialize_diamond_counts(MOTIF_GRAPH_PARAMETERS, const int* __restrict__ rows,
                                                      const int* __restrict__ edges,
                                                      const long long* __restrict__ triangle_begins,
                                                      const int* __restrict__ triangles, long long begin, long long end,
                                                      long long* diamond_begins) {
  const motif_graph graph{MOTIF_GRAPH_ARGUMENTS};
  for (long long entry = begin + grid_warp_id(); entry < end; entry += grid_warps()) {
    long long sum = 0;
    visit_diamonds(graph, edges, triangle_begins, triangles, rows[entry], entry,
                   [&](long long, int count) { sum += count; });
    sum = warp_sum(sum);
    if (lane_id() == 0) diamond_begins[entry - begin + 1] = sum;
  }
}

// Writes the diamonds as keys (entry of h in row u above, v below). One warp per entry.
extern "C" __global__ void materialize_diamonds(MOTIF_GRAPH_PARAMETERS, const int* __restrict__ rows,
                                                const int* __restrict__ edges,
                                                const long long* __restrict__ triangle_begins,
                                                const int* __restrict__ triangles, long long begin, long long end,
                                                const long long* __restrict__ diamond_begins, long long* keys) {
  const motif_graph graph{MOTIF_GRAPH_ARGUMENTS};
  for (long long entry = begin + grid_warp_id(); entry < end; entry += grid_warps()) {
    long long place = diamond_begins[entry - begin];
    const long long own = (entry - begin) << 31;
    visit_diamonds(graph, edges, triangle_begins, triangles, rows[entry], entry, [&](long long list, int count) {
      const int after = warp_inclusive_scan(count);
      long long at = place + after - count;
      for (int i = 0; i < count; ++i) keys[at++] = own | triangles[list + i];
      place += __shfl_sync(full_mask, after, 31);
    });
  }
}

// Runs of equal keys. `begins` has the first place of each run; begins[number_of_runs] is the number of keys.
struct key_runs {
  const long long* __restrict__ keys;
  const long long* __restrict__ begins;
  long long count;

  __device__ __forceinline__ long long key(long long run) const { return keys[begins[run]]; }
  __device__ __forceinline__ unsigned long long length(long long run) const {
    return static_cast<unsigned long long>(begins[run + 1] - begins[run]);
  }
  // The length of the run of a key. The key must exist.
  __device__ __forceinline__ unsigned long long find(long long wanted) const {
    long long first = 0, last = count - 1;
    while (first < last) {
      const long long middle = (first + last) / 2;
      if (key(middle) < wanted) {
        first = middle + 1;
      } else {
        last = middle;
      }
    }
    return length(first);
  }
};

// The sums over pairs that need only W. One thread per pair.
extern "C" __global__ void materialize_pair_sums(const long long* __restrict__ offsets,
                                                 const long long* __restrict__ wedge_keys,
                                                 const long long* __restrict__ wedge_runs, long long num_pairs,
                                                 motif_work* work) {
  const key_runs pairs{wedge_keys, wedge_runs, num_pairs};
  wide_sum squares, tailed, k23;
  for (long long pair = grid_thread_id(); pair < num_pairs; pair += grid_threads()) {
    const unsigned long long common = pairs.length(pair);
    if (common < 2) continue;
    const long long u = pairs.key(pair) >> 32, v = pairs.key(pair) & 0x7fffffff;
    const unsigned long long reach =
        static_cast<unsigned long long>(offsets[u + 1] - offsets[u] + offsets[v + 1] - offsets[v] - 4);
    squares.add(2 * pairs_of(common));
    tailed.add_product(2 * pairs_of(common), reach);
    k23.add_product(2 * pairs_of(common), common - 2);
  }
  flush_sum(work, sum_squares, squares);
  flush_sum(work, sum_tailed_squares, tailed);
  flush_sum(work, sum_k23, k23);
}

// Houses: visits every wedge again, with the W of its pair. One warp per entry.
extern "C" __global__ void materialize_houses(MOTIF_GRAPH_PARAMETERS, const int* __restrict__ rows, long long begin,
                                              long long end, const long long* __restrict__ wedge_keys,
                                              const long long* __restrict__ wedge_runs, long long num_pairs,
                                              motif_work* work) {
  const key_runs pairs{wedge_keys, wedge_runs, num_pairs};
  wide_sum houses;
  for (long long entry = begin + grid_warp_id(); entry < end; entry += grid_warps()) {
    const long long row_h = offsets[neighbors[entry]], own = static_cast<long long>(rows[entry]) << 32;
    for (int place = firsts[neighbors[entry]] + lane_id(); place < places[entry]; place += 32) {
      const unsigned long long triangles =
          static_cast<unsigned long long>(supports[entry]) + static_cast<unsigned>(supports[row_h + place]);
      if (triangles != 0) houses.add_product(pairs.find(own | neighbors[row_h + place]) - 1, triangles);
    }
  }
  flush_sum(work, sum_houses, houses);
}

// The sums over triangles without 4-cliques, for the highest vertex in [begin, end). One warp per entry of b in row a.
extern "C" __global__ void materialize_triangle_sums(MOTIF_GRAPH_PARAMETERS, const int* __restrict__ rows,
                                                     const int* __restrict__ edges, long long num_entries,
                                                     const long long* __restrict__ triangle_begins,
                                                     const int* __restrict__ triangles, int begin, int end,
                                                     motif_work* work) {
  const motif_graph graph{MOTIF_GRAPH_ARGUMENTS};
  triangle_sums sums;
  for (long long entry = grid_warp_id(); entry < num_entries; entry += grid_warps()) {
    const int a = rows[entry], b = neighbors[entry];
    if (b < a) continue;
    const long long last = triangle_begins[edges[entry] + 1];
    for (long long at = triangle_begins[edges[entry]] + lane_id(); at < last; at += 32) {
      const int c = triangles[at];
      if (c <= b || c < begin || c >= end) continue;
      sums.add(triangle_at(graph, a, entry, lower_bound(neighbors + offsets[a], graph.degree(a), c)), 0);
    }
  }
  sums.flush(work);
}

// The sums that need c3: over diamonds, and over triangles in 4-cliques, which are diamonds with h < v < u and v ~ u.
// One thread per run of equal diamonds. `begin` is the first entry of the keys.
extern "C" __global__ void materialize_diamond_sums(MOTIF_GRAPH_PARAMETERS, const int* __restrict__ rows,
                                                    long long begin, const long long* __restrict__ diamond_keys,
                                                    const long long* __restrict__ diamond_runs, long long num_runs,
                                                    const long long* __restrict__ wedge_keys,
                                                    const long long* __restrict__ wedge_runs, long long num_pairs,
                                                    motif_work* work) {
  const motif_graph graph{MOTIF_GRAPH_ARGUMENTS};
  const key_runs diamonds{diamond_keys, diamond_runs, num_runs}, pairs{wedge_keys, wedge_runs, num_pairs};
  triangle_sums triangles;
  wide_sum wedge_diamonds, wheels;
  for (long long run = grid_thread_id(); run < num_runs; run += grid_threads()) {
    const unsigned long long third = diamonds.length(run);
    const long long entry = begin + (diamonds.key(run) >> 31);
    const int u = rows[entry], h = neighbors[entry], v = static_cast<int>(diamonds.key(run) & 0x7fffffff);
    wedge_diamonds.add_product(third, pairs.find(static_cast<long long>(u) << 32 | v) - 2);
    wheels.add(2 * pairs_of(third));
    if (h < v && graph.adjacent(v, u)) {
      const int v_in_h = lower_bound(neighbors + offsets[h], graph.degree(h), v);
      triangles.add_cliques(triangle_at(graph, h, offsets[h] + v_in_h, places[entry]), third);
    }
  }
  flush_sum(work, sum_wedge_diamonds, wedge_diamonds);
  flush_sum(work, sum_wheels, wheels);
  triangles.flush(work);
}
