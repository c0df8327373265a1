// mining/orbits.cu - sums over the triangles and 4-cliques of every entry: the local part of orbits.
//
// A warp takes the entry of h in row u and visits the common neighbors w of both, one per lane. They come from the bits
// of row h in the local graph of u or, if u has no matrix, from a search. Every triangle is found from its six entries,
// so a warp adds to entries of row u only. See orbits/sums.cuh for the sums.
#include "grid.cuh"
#include "motifs/graph.cuh"
#include "orbits/sums.cuh"
#include "platform.cuh"
#include "search.cuh"
#include "warp.cuh"
#ifndef EDGES
#error "EDGES is set by the host"
#endif

constexpr int num_warps = 8;
constexpr int most_held = 64;
constexpr int long_row_words = 32, short_row = 8;  // in listed words

using count_t = unsigned long long;
constexpr bool for_edges = EDGES != 0;

// Writes the sum over the lanes of a warp.
__device__ __forceinline__ void write_sum(const orbit_sums& sums, orbit_sum which, long long entry, count_t value) {
  value = warp_sum(value);
  if (lane_id() == 0) sums.at(which, entry) = value;
}

// Adds the sum over the lanes of a warp atomically, for sums that other warps add to.
__device__ __forceinline__ void add_sum(const orbit_sums& sums, orbit_sum which, long long entry, count_t value) {
  value = warp_sum(value);
  if (lane_id() == 0 && value != 0) atomicAdd(&sums.at(which, entry), value);
}

// Sums that need only degrees and triangles. One warp per entry.
extern "C" __global__ void __launch_bounds__(32 * num_warps)
    orbit_triangles(MOTIF_GRAPH_PARAMETERS, const int* __restrict__ rows,
                    const long long* __restrict__ vertex_triangles, const long long* __restrict__ ahead,
                    long long num_entries, long long begin, long long end, count_t* values) {
  const motif_graph graph{MOTIF_GRAPH_ARGUMENTS};
  const orbit_sums sums{values, num_entries};
  for (long long entry = begin + grid_warp_id(); entry < end; entry += grid_warps()) {
    if (supports[entry] == 0) continue;
    const int u = rows[entry], h = neighbors[entry];
    const int place_h = static_cast<int>(entry - offsets[u]);
    const int around = graph.degree(u) - lower[u] + graph.degree(h) - 1 - places[entry];
    count_t fans = 0, tails = 0, books = 0, below = 0, above = 0;
    count_t beyond = 0, forks = 0, hooks = 0, peaks = 0, gems = 0;
    visit_common(graph, u, entry, [&](int place) {
      const int w = neighbors[offsets[u] + place];
      const count_t t = static_cast<count_t>(supports[offsets[u] + place]), d = static_cast<count_t>(graph.degree(w));
      below += place < place_h;
      count_t higher = 0;
      if (h < u && w < u) {
        higher = static_cast<count_t>(around + graph.degree(w) - 1 - places[offsets[u] + place]);
        above += higher;
      }
      fans += t - 1;
      tails += d - 2;
      books += pairs_of(t - 1);
      if (!for_edges) return;
      beyond += static_cast<count_t>(ahead[w]);
      forks += pairs_of(d - 2);
      hooks += (t - 1) * (d - 3);  // where t is 1, d may be 2
      peaks += static_cast<count_t>(vertex_triangles[w]);
      const long long across = offsets[h] + place_of(graph, h, w);
      gems += (t - 1) * static_cast<count_t>(supports[across] - 1);
      if (higher != 0 && w < h) atomicAdd(&sums.at(sum_above, across), higher);
    });
    write_sum(sums, sum_fans, entry, fans);
    write_sum(sums, sum_tails, entry, tails);
    write_sum(sums, sum_books, entry, books);
    write_sum(sums, sum_below, entry, below);
    add_sum(sums, sum_above, entry, above);
    if (!for_edges) continue;
    write_sum(sums, sum_ahead, entry, beyond);
    write_sum(sums, sum_forks, entry, forks);
    write_sum(sums, sum_hooks, entry, hooks);
    write_sum(sums, sum_peaks, entry, peaks);
    write_sum(sums, sum_gems, entry, gems);
  }
}

// Sums over common neighbors whose terms are sums of orbit_triangles, orbit_cliques and orbit_pairs. One warp per
// entry.
extern "C" __global__ void __launch_bounds__(32 * num_warps)
    orbit_second(MOTIF_GRAPH_PARAMETERS, const int* __restrict__ rows, long long num_entries, long long begin,
                 long long end, count_t* values) {
  const motif_graph graph{MOTIF_GRAPH_ARGUMENTS};
  const orbit_sums sums{values, num_entries};
  for (long long entry = begin + grid_warp_id(); entry < end; entry += grid_warps()) {
    if (supports[entry] == 0) continue;
    const int u = rows[entry];
    count_t squares = 0, cliques = 0, fans = 0, tails = 0, across = 0;
    visit_common(graph, u, entry, [&](int place) {
      const long long other = offsets[u] + place;
      squares += sums.at(sum_squares, other);
      cliques += sums.at(sum_cliques, other);
      fans += sums.at(sum_fans, other);
      if (!for_edges) return;
      tails += sums.at(sum_tails, other);
      across += sums.at(sum_fans, offsets[neighbors[other]] + places[other]);
    });
    write_sum(sums, sum_squares_beside, entry, squares);
    write_sum(sums, sum_cliques_beside, entry, cliques);
    write_sum(sums, sum_fans_beside, entry, fans);
    if (!for_edges) continue;
    write_sum(sums, sum_tails_beside, entry, tails);
    write_sum(sums, sum_fans_across, entry, across);
  }
}

// Edges ab of the local graph of u that a warp has found at a. They wait to be credited to their triangles there.
struct held_edges {
  int places[most_held];  // of b
  unsigned cliques[most_held], triangles[most_held];
};

// Credits `count` held edges to every c adjacent to a and b in the local graph of u: then uabc is a 4-clique. Each lane
// has one c in each word of row a.
__device__ void credit_held(const motif_graph& graph, const orbit_sums& sums, int u, long long entry,
                            const held_edges& held, int count) {
  const unsigned* const matrix = graph.matrices + graph.matrix_begins[u];
  const long long stride = graph.degree(u);
  for (long long at = graph.word_begins[entry]; at < graph.word_begins[entry + 1]; ++at) {
    const local_word own = graph.words[at];
    if ((own.bits >> lane_id() & 1) == 0) continue;
    count_t triples = 0, opposite = 0;
    for (int i = 0; i < count; ++i) {
      if ((matrix[own.word * stride + held.places[i]] >> lane_id() & 1) == 0) continue;
      triples += held.cliques[i] - 1;
      if (for_edges) opposite += held.triangles[i] - 2;
    }
    const long long credited = graph.offsets[u] + 32 * own.word + lane_id();
    if (triples != 0) atomicAdd(&sums.at(sum_triples, credited), triples);
    if (opposite != 0) atomicAdd(&sums.at(sum_opposite, credited), opposite);
  }
}

// Credits one edge ab with one lane, along the words of row b. Used when row b has few words and row a many.
__device__ void credit_alone(const motif_graph& graph, const orbit_sums& sums, int u, int place_a, int place_b,
                             unsigned cliques, unsigned triangles) {
  const long long row = graph.offsets[u];
  const unsigned* const column = graph.matrices + graph.matrix_begins[u] + place_a;
  for (long long at = graph.word_begins[row + place_b]; at < graph.word_begins[row + place_b + 1]; ++at) {
    const local_word own = graph.words[at];
    for (unsigned left = own.bits & column[static_cast<long long>(own.word) * graph.degree(u)]; left != 0;
         left &= left - 1) {
      const long long credited = row + 32 * own.word + __ffs(static_cast<int>(left)) - 1;
      atomicAdd(&sums.at(sum_triples, credited), static_cast<count_t>(cliques - 1));
      if (for_edges) atomicAdd(&sums.at(sum_opposite, credited), static_cast<count_t>(triangles - 2));
    }
  }
}

// Credits one edge ab with one lane when u has no matrix.
__device__ void credit_searched(const motif_graph& graph, const orbit_sums& sums, int u, int a, int b, unsigned cliques,
                                unsigned triangles) {
  for (long long entry = graph.offsets[u]; entry < graph.offsets[u + 1]; ++entry) {
    const int c = graph.neighbors[entry];
    if (!graph.adjacent(a, c) || !graph.adjacent(b, c)) continue;
    atomicAdd(&sums.at(sum_triples, entry), static_cast<count_t>(cliques - 1));
    if (for_edges) atomicAdd(&sums.at(sum_opposite, entry), static_cast<count_t>(triangles - 2));
  }
}

// Sums over 4-cliques. One warp per entry of a in row u. Shared memory: the held edges of every warp.
extern "C" __global__ void __launch_bounds__(32 * num_warps)
    orbit_cliques(MOTIF_GRAPH_PARAMETERS, const int* __restrict__ rows, long long num_entries, long long begin,
                  long long end, count_t* values) {
  __shared__ held_edges all_held[num_warps];
  held_edges& held = all_held[warp_id()];
  const motif_graph graph{MOTIF_GRAPH_ARGUMENTS};
  const orbit_sums sums{values, num_entries};
  for (long long entry = begin + grid_warp_id(); entry < end; entry += grid_warps()) {
    if (supports[entry] < 2) continue;
    const int u = rows[entry], a = neighbors[entry], place_a = static_cast<int>(entry - offsets[u]);
    const bool searched = u >= num_local;
    count_t cliques = 0, hats = 0, almost = 0, reach = 0;
    // For the triangle u, a, b: returns its number of 4-cliques if edge ab is to be credited, otherwise 0. Sets the
    // number of triangles at ab.
    const auto meet = [&](int place_b, unsigned& held_triangles) -> unsigned {
      const int b = neighbors[offsets[u] + place_b];
      const unsigned found = searched ? graph.search_common(u, a, b) : graph.local_common(u, place_a, place_b);
      if (found == 0) return 0;
      cliques += found;
      hats += static_cast<count_t>(found) * static_cast<count_t>(supports[offsets[u] + place_b] - 2);
      almost += pairs_of(found);
      if (for_edges) reach += static_cast<count_t>(found) * static_cast<count_t>(graph.degree(b) - 3);
      if (place_b < place_a || (!for_edges && (found < 2 || b > u))) return 0;
      if (for_edges) held_triangles = static_cast<unsigned>(supports[offsets[a] + place_of(graph, a, b)]);
      return found;
    };
    if (searched) {
      visit_common(graph, u, entry, [&](int place_b) {
        unsigned triangles = 2;
        const unsigned found = meet(place_b, triangles);
        if (found != 0) {
          credit_searched(graph, sums, u, a, neighbors[offsets[u] + place_b], found, triangles);
        }
      });
    } else {
      const bool is_long = graph.num_words(u, place_a) > long_row_words;
      int count = 0;
      for (long long at = word_begins[entry]; at < word_begins[entry + 1]; ++at) {
        const local_word own = words[at];
        const int place_b = static_cast<int>(32 * own.word) + lane_id();
        unsigned triangles = 2, found = 0;
        if (own.bits >> lane_id() & 1) found = meet(place_b, triangles);
        if (found != 0 && is_long && graph.num_words(u, place_b) < short_row) {
          credit_alone(graph, sums, u, place_a, place_b, found, triangles);
          found = 0;
        }
        const unsigned votes = __ballot_sync(full_mask, found != 0);
        if (count + __popc(votes) > most_held) {
          __syncwarp();
          credit_held(graph, sums, u, entry, held, count);
          __syncwarp();
          count = 0;
        }
        if (found != 0) {
          const int slot = count + votes_below(votes);
          held.places[slot] = place_b;
          held.cliques[slot] = found;
          held.triangles[slot] = triangles;
        }
        count += __popc(votes);
      }
      __syncwarp();
      if (count > 0) credit_held(graph, sums, u, entry, held, count);
      __syncwarp();
    }
    write_sum(sums, sum_cliques, entry, cliques);
    write_sum(sums, sum_hats, entry, hats);
    write_sum(sums, sum_almost, entry, almost);
    if (for_edges) write_sum(sums, sum_reach, entry, reach);
  }
}
