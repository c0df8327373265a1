// mining/motifs.cu - what every motif pass needs beside the view, and the sums over vertices, edges and triangles.
//
// Triangles a < b < c are met at the entry of b in row a, where a has the smallest of the three neighborhoods; its
// local graph, if it has a matrix, says which c there are and how many 4-cliques each triangle is in. A warp takes 32
// entries at a time and deals their triangles out to its lanes. See motifs/graph.cuh for the layouts.
#include "grid.cuh"
#include "motifs/graph.cuh"
#include "motifs/sums.cuh"
#include "motifs/triangles.cuh"
#include "motifs/walk.cuh"
#include "platform.cuh"
#include "search.cuh"
#include "status.cuh"
#include "warp.cuh"

constexpr int num_warps = 8;

// The row of each entry. A warp per row.
extern "C" __global__ void motif_rows(const long long* __restrict__ offsets, int num_vertices, int* rows) {
  for (long long row = grid_warp_id(); row < num_vertices; row += grid_warps()) {
    const long long end = offsets[row + 1];
    for (long long entry = offsets[row] + lane_id(); entry < end; entry += 32) rows[entry] = static_cast<int>(row);
  }
}

// The degree of each row, and the words of its matrix and of its tiles, one place late: running sums then say where
// they begin. A thread per row.
extern "C" __global__ void motif_sizes(const long long* __restrict__ offsets, int num_vertices, int* degrees,
                                       long long* matrix_begins, long long* tile_begins) {
  for (long long row = grid_thread_id(); row < num_vertices; row += grid_threads()) {
    const int degree = static_cast<int>(offsets[row + 1] - offsets[row]);
    const long long num_words = matrix_words(degree);
    degrees[row] = degree;
    matrix_begins[row + 1] = num_words * degree;
    tile_begins[row + 1] = num_words > tiled_words ? num_words * tile_words(degree) : 0;
  }
}

// What the host asks, in the order that motifs/graph.py knows; zero before.
struct motif_facts {
  long long first_vertex;  // the lowest rank of a vertex with two neighbors or more
  long long second, longest;
  long long matrix_words, tile_words;
  unsigned long long most_triangles, triangles;
};

// A thread per edge for its triangles; the rest by one thread.
extern "C" __global__ void motif_look(const long long* __restrict__ offsets, const int* __restrict__ triangles,
                                      const long long* __restrict__ matrix_begins,
                                      const long long* __restrict__ tile_begins, int num_vertices, long long num_edges,
                                      motif_facts* facts) {
  unsigned long long most = 0, sum = 0;
  for (long long edge = grid_thread_id(); edge < num_edges; edge += grid_threads()) {
    const unsigned long long found = static_cast<unsigned long long>(triangles[edge]);
    most = max(most, found);
    sum += found;
  }
  for (int distance = 16; distance > 0; distance >>= 1) {
    most = max(most, __shfl_xor_sync(full_mask, most, distance));
  }
  sum = warp_sum(sum);
  if (lane_id() == 0) {
    atomicMax(&facts->most_triangles, most);
    atomicAdd(&facts->triangles, sum);
  }
  if (grid_thread_id() != 0) return;
  int first = 0, last = num_vertices;
  while (first < last) {
    const int middle = (first + last) / 2;
    if (offsets[middle + 1] - offsets[middle] < 2) {
      first = middle + 1;
    } else {
      last = middle;
    }
  }
  facts->first_vertex = first;
  facts->second = offsets[num_vertices - 1] - offsets[num_vertices - 2];
  facts->longest = offsets[num_vertices] - offsets[num_vertices - 1];
  facts->matrix_words = matrix_begins[num_vertices];
  facts->tile_words = tile_begins[num_vertices];
}

// Place of each row in the rows of its neighbors, and triangles, by entry; and the upper parts of all rows back to
// back. A thread per entry: an upper entry knows its edge's id, which is a place in the lower part of the other row,
// and tells the entry there.
extern "C" __global__ void motif_entries(const long long* __restrict__ offsets, const int* __restrict__ neighbors,
                                         const int* __restrict__ lower, const int* __restrict__ edges,
                                         const int* __restrict__ triangles, const long long* __restrict__ lower_offsets,
                                         const int* __restrict__ rows, long long num_entries, int* places,
                                         int* supports, int* upper) {
  for (long long entry = grid_thread_id(); entry < num_entries; entry += grid_threads()) {
    const int row = rows[entry], other = neighbors[entry], edge = edges[entry];
    supports[entry] = triangles[edge];
    if (other < row) continue;
    const int place = static_cast<int>(edge - lower_offsets[other]);
    places[entry] = place;
    places[offsets[other] + place] = static_cast<int>(entry - offsets[row]);
    upper[entry - lower_offsets[row] - lower[row]] = other;
  }
}

// The first place in each row of a vertex that ranks at least `first_vertex`. A thread per row.
extern "C" __global__ void motif_firsts(const long long* __restrict__ offsets, const int* __restrict__ neighbors,
                                        int num_vertices, int first_vertex, int* firsts) {
  for (long long row = grid_thread_id(); row < num_vertices; row += grid_threads()) {
    const long long begin = offsets[row];
    firsts[row] = lower_bound(neighbors + begin, static_cast<int>(offsets[row + 1] - begin), first_vertex);
  }
}

// Sets the edge between the neighbors at two places of row h in the matrix of h.
__device__ __forceinline__ void join(unsigned* matrices, long long begin, int degree, int place, int other) {
  atomicOr(&matrices[begin + static_cast<long long>(other >> 5) * degree + place], 1u << (other & 31));
  atomicOr(&matrices[begin + static_cast<long long>(place >> 5) * degree + other], 1u << (place & 31));
}

// Fills the matrices, which are zero before. A warp per entry of b in row a; lanes search the upper row of b for c.
extern "C" __global__ void motif_matrices(const long long* __restrict__ offsets, const int* __restrict__ neighbors,
                                          const int* __restrict__ lower, const int* __restrict__ places,
                                          const int* __restrict__ supports, const int* __restrict__ rows,
                                          const long long* __restrict__ matrix_begins, int num_local,
                                          long long num_entries, unsigned* matrices) {
  for (long long entry = grid_warp_id(); entry < num_entries; entry += grid_warps()) {
    const int a = rows[entry], b = neighbors[entry];
    if (b < a || a >= num_local || supports[entry] == 0) continue;
    const long long row_a = offsets[a], row_b = offsets[b];
    const int degree_a = static_cast<int>(offsets[a + 1] - row_a), degree_b = static_cast<int>(offsets[b + 1] - row_b);
    const int b_in_a = static_cast<int>(entry - row_a), a_in_b = places[entry], below = lower[b];
    const int* const upper = neighbors + row_b + below;
    for (int c_in_a = b_in_a + 1 + lane_id(); c_in_a < degree_a; c_in_a += 32) {
      const int c = neighbors[row_a + c_in_a];
      const int found = lower_bound(upper, degree_b - below, c);
      if (found == degree_b - below || upper[found] != c) continue;
      join(matrices, matrix_begins[a], degree_a, b_in_a, c_in_a);
      const int c_in_b = below + found;
      if (b < num_local) join(matrices, matrix_begins[b], degree_b, a_in_b, c_in_b);
      if (c < num_local) {
        const int degree_c = static_cast<int>(offsets[c + 1] - offsets[c]);
        join(matrices, matrix_begins[c], degree_c, places[row_a + c_in_a], places[row_b + c_in_b]);
      }
    }
  }
}

// How many words of each matrix row are not zero, one place late; a running sum then gives where they are listed. Marks
// the tiles that they are in. A thread per entry.
extern "C" __global__ void motif_words_count(const long long* __restrict__ offsets, const int* __restrict__ rows,
                                             const int* __restrict__ supports,
                                             const long long* __restrict__ matrix_begins,
                                             const unsigned* __restrict__ matrices,
                                             const long long* __restrict__ tile_begins, int num_local,
                                             long long num_entries, unsigned* tiles, long long* word_begins) {
  for (long long entry = grid_thread_id(); entry < num_entries; entry += grid_threads()) {
    const int row = rows[entry];
    unsigned found = 0;
    if (row < num_local && supports[entry] != 0) {
      const int degree = static_cast<int>(offsets[row + 1] - offsets[row]);
      const unsigned place = static_cast<unsigned>(entry - offsets[row]), num_words = matrix_words(degree);
      const unsigned* const column = matrices + matrix_begins[row] + place;
      unsigned* const tile_column = tiles + tile_begins[row] + (place >> 10);
      for (unsigned word = 0; word < num_words; ++word) {
        if (column[static_cast<long long>(word) * degree] == 0) continue;
        ++found;
        if (num_words > tiled_words) {
          unsigned* const tile = tile_column + static_cast<long long>(word) * tile_words(degree);
          const unsigned bit = 1u << (place >> 5 & 31);
          if ((*tile & bit) == 0) atomicOr(tile, bit);  // most come too late: reading is cheaper
        }
      }
    }
    word_begins[entry + 1] = found;
  }
}

// Lists the words that are not zero. A thread per entry.
extern "C" __global__ void motif_words_write(const long long* __restrict__ offsets, const int* __restrict__ rows,
                                             const long long* __restrict__ matrix_begins,
                                             const unsigned* __restrict__ matrices,
                                             const long long* __restrict__ word_begins, long long num_entries,
                                             local_word* words) {
  for (long long entry = grid_thread_id(); entry < num_entries; entry += grid_threads()) {
    long long at = word_begins[entry];
    const long long end = word_begins[entry + 1];
    if (at == end) continue;
    const int row = rows[entry];
    const long long degree = offsets[row + 1] - offsets[row];
    const unsigned* const column = matrices + matrix_begins[row] + (entry - offsets[row]);
    for (unsigned word = 0; at < end; ++word) {
      const unsigned bits = column[word * degree];
      if (bits != 0) words[at++] = local_word{word, bits};
    }
  }
}

// Triangles of each vertex: half of those of its edges. A warp per row.
extern "C" __global__ void motif_vertex_triangles(const long long* __restrict__ offsets,
                                                  const int* __restrict__ supports, int num_vertices,
                                                  long long* vertex_triangles) {
  for (long long row = grid_warp_id(); row < num_vertices; row += grid_warps()) {
    long long sum = 0;
    for (long long entry = offsets[row] + lane_id(); entry < offsets[row + 1]; entry += 32) sum += supports[entry];
    sum = warp_sum(sum);
    if (lane_id() == 0) vertex_triangles[row] = sum / 2;
  }
}

// The sums over the vertices [begin, end). A warp per vertex.
extern "C" __global__ void __launch_bounds__(32 * num_warps)
    motif_vertex_sums(const long long* __restrict__ offsets, const int* __restrict__ neighbors,
                      const long long* __restrict__ vertex_triangles, int begin, int end, motif_work* work) {
  wide_sum wedges, stars3, stars4, tailed, forks, hourglasses, paths4;
  for (long long row = begin + grid_warp_id(); row < end; row += grid_warps()) {
    unsigned long long ahead = 0, squares = 0;
    for (long long entry = offsets[row] + lane_id(); entry < offsets[row + 1]; entry += 32) {
      const int other = neighbors[entry];
      const unsigned long long beyond = static_cast<unsigned long long>(offsets[other + 1] - offsets[other] - 1);
      ahead += beyond;
      squares += beyond * beyond;
    }
    ahead = warp_sum(ahead);
    squares = warp_sum(squares);
    if (lane_id() != 0) continue;
    const unsigned long long degree = static_cast<unsigned long long>(offsets[row + 1] - offsets[row]);
    const unsigned long long triangles = static_cast<unsigned long long>(vertex_triangles[row]);
    wedges.add(pairs_of(degree));
    paths4.add_product(ahead, ahead);
    paths4.subtract(squares);
    if (degree >= 2) {
      stars3.add_product(pairs_of(degree), degree - 2);
      stars4.add_product(pairs_of(degree), pairs_of(degree - 2));
      tailed.add_product(triangles, degree - 2);
      forks.add_product(triangles, pairs_of(degree - 2));
    }
    if (triangles > 0) hourglasses.add_product(triangles, triangles - 1);
  }
  flush_sum(work, sum_wedges, wedges);
  flush_sum(work, sum_stars3, stars3);
  flush_sum(work, sum_stars4, stars4);
  flush_sum(work, sum_tailed, tailed);
  flush_sum(work, sum_forks, forks);
  flush_sum(work, sum_hourglasses, hourglasses);
  flush_sum(work, sum_paths4, paths4);
}

// The sums over the edges whose higher end is the row of one of the entries [begin, end). A thread per entry.
extern "C" __global__ void __launch_bounds__(32 * num_warps)
    motif_edge_sums(const long long* __restrict__ offsets, const int* __restrict__ neighbors,
                    const int* __restrict__ supports, const int* __restrict__ rows,
                    const long long* __restrict__ vertex_triangles, long long begin, long long end, motif_work* work) {
  wide_sum triangles, paths3, diamonds, prongs, longtails, bulls, stingrays, books3;
  for (long long entry = begin + grid_thread_id(); entry < end; entry += grid_threads()) {
    const int u = rows[entry], v = neighbors[entry];
    if (v > u) continue;
    // Both ends have this edge, so no degree is zero.
    const unsigned long long d = static_cast<unsigned long long>(offsets[u + 1] - offsets[u]);
    const unsigned long long e = static_cast<unsigned long long>(offsets[v + 1] - offsets[v]);
    const unsigned long long t = static_cast<unsigned long long>(supports[entry]);
    triangles.add(t);
    paths3.add((d - 1) * (e - 1));
    prongs.add_product(pairs_of(d - 1), e - 1);
    prongs.add_product(pairs_of(e - 1), d - 1);
    longtails.add_product(static_cast<unsigned long long>(vertex_triangles[u]) - t, e - 1);
    longtails.add_product(static_cast<unsigned long long>(vertex_triangles[v]) - t, d - 1);
    if (t == 0) continue;
    bulls.add_product(t * (d - 2), e - 2);
    if (t == 1) continue;
    diamonds.add(pairs_of(t));
    stingrays.add_product(pairs_of(t), d + e - 6);
    books3.add_product(pairs_of(t), t - 2);
  }
  flush_sum(work, sum_triangles, triangles);
  flush_sum(work, sum_paths3, paths3);
  flush_sum(work, sum_diamonds, diamonds);
  flush_sum(work, sum_prongs, prongs);
  flush_sum(work, sum_longtails, longtails);
  flush_sum(work, sum_bulls, bulls);
  flush_sum(work, sum_stingrays, stingrays);
  flush_sum(work, sum_books3, books3);
}

// The sums over the triangles whose highest vertex is in [begin, end). A warp per 32 entries of b in row a; of a row
// without a matrix, entry by entry.
extern "C" __global__ void __launch_bounds__(32 * num_warps)
    motif_triangles(MOTIF_GRAPH_PARAMETERS, const int* __restrict__ rows, long long num_entries, int begin, int end,
                    motif_work* work) {
  __shared__ row_batch batches[num_warps];
  const motif_graph graph{MOTIF_GRAPH_ARGUMENTS};
  triangle_sums sums;
  for (long long first = 32 * grid_warp_id(); first < num_entries; first += 32 * grid_warps()) {
    const long long own = first + lane_id();
    int a = 0;
    bool upper = false;
    unsigned found = 0;
    if (own < num_entries && supports[own] != 0) {
      a = rows[own];
      upper = neighbors[own] > a && neighbors[offsets[a + 1] - 1] >= begin;
      if (upper && a < num_local) {
        const int place = static_cast<int>(own - offsets[a]);
        for (long long at = word_begins[own]; at < word_begins[own + 1]; ++at) {
          found += static_cast<unsigned>(__popc(bits_above(words[at], place)));
        }
      }
    }
    walk_rows(batches[warp_id()], 0, found, [&](int piece, long long number) {
      const long long entry = first + piece;
      const int row = rows[entry], place = static_cast<int>(entry - offsets[row]);
      // The neighbor of that number: in the word that takes the count beyond it.
      long long at = word_begins[entry];
      unsigned bits = bits_above(words[at], place);
      int left = static_cast<int>(number);
      while (left >= __popc(bits)) {
        left -= __popc(bits);
        bits = bits_above(words[++at], place);
      }
      for (; left > 0; --left) bits &= bits - 1;
      const int other = static_cast<int>(32 * words[at].word) + __ffs(static_cast<int>(bits)) - 1;
      const int c = neighbors[offsets[row] + other];
      if (c >= begin && c < end) sums.add(triangle_at(graph, row, entry, other), graph.local_common(row, place, other));
    });
    for (unsigned left = __ballot_sync(full_mask, upper && a >= num_local); left != 0; left &= left - 1) {
      const long long entry = first + __ffs(static_cast<int>(left)) - 1;
      const int row = rows[entry], b = neighbors[entry], degree = graph.degree(row);
      for (int other = static_cast<int>(entry - offsets[row]) + 1 + lane_id(); other < degree; other += 32) {
        const int c = neighbors[offsets[row] + other];
        if (c >= begin && c < end && graph.adjacent(b, c)) {
          sums.add(triangle_at(graph, row, entry, other), graph.search_common(row, b, c));
        }
      }
    }
  }
  sums.flush(work);
}
