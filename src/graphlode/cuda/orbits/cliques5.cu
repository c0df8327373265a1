// orbits/cliques5.cu - 5-cliques at every vertex or edge, each found at its lowest vertex u.
//
// A warp takes the entry of a in row u, a > u, and the row of a in the local graph of u: the common neighbors of both,
// as bit words. For each b of them, the words are restricted to the neighbors of b. Each lane takes one remaining c and
// counts the remaining d adjacent to c. The lanes have different c; words are processed one after the other.
//
// For vertices, b < c < d, and the count is the 5-cliques with u and a. For edges, a < b and c < d, and the count is
// the 5-cliques with u, a and b. It is added to the edge ab, and to ua and ub, which thus count each clique three
// times.
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

using count_t = unsigned long long;
constexpr bool for_edges = EDGES != 0;

// The common neighbors of u and a above u: 32 words at a time, one per lane.
struct common_words {
  const motif_graph& graph;
  long long begin;  // the first listed word
  int count, first_place;
  const unsigned* matrix;
  long long stride;

  __device__ __forceinline__ local_word get(int number) const {
    if (number >= count) return local_word{0, 0};
    local_word own = graph.words[begin + number];
    if (first_place > 0) own.bits = bits_above(own, first_place - 1);
    return own;
  }
  // Restricted to neighbors of the vertex at place_b; for vertices, also to places above it.
  __device__ __forceinline__ local_word get(int number, int place_b) const {
    local_word own = get(number);
    if (own.bits != 0) own.bits &= matrix[own.word * stride + place_b];
    if (!for_edges) own.bits = bits_above(own, place_b);
    return own;
  }
};

// Counts the edges cd among the common neighbors of u, a and b. Returns the share of this lane; the lanes have
// different c.
__device__ unsigned count_edges(const common_words& common, int place_b) {
  unsigned found = 0;
  for (int first = 0; first < common.count; first += 32) {
    const local_word own = common.get(first + lane_id(), place_b);
    for (int second = first; second < common.count; second += 32) {
      const local_word other = second == first ? own : common.get(second + lane_id(), place_b);
      const unsigned filled = __ballot_sync(full_mask, other.bits != 0);
      for (unsigned left = __ballot_sync(full_mask, own.bits != 0); left != 0; left &= left - 1) {
        const int from = __ffs(static_cast<int>(left)) - 1;
        const unsigned members = __shfl_sync(full_mask, own.bits, from);
        const bool is_member = (members >> lane_id() & 1) != 0;
        const unsigned* const column = common.matrix + 32ll * __shfl_sync(full_mask, own.word, from) + lane_id();
        // d is in the words from that of c on.
        for (unsigned ahead = second == first ? filled & ~0u << from : filled; ahead != 0; ahead &= ahead - 1) {
          const int at = __ffs(static_cast<int>(ahead)) - 1;
          unsigned bits = __shfl_sync(full_mask, other.bits, at);
          const unsigned word = __shfl_sync(full_mask, other.word, at);
          if (second == first && at == from) bits &= ~1u << lane_id();
          if (is_member) found += static_cast<unsigned>(__popc(bits & column[word * common.stride]));
        }
      }
    }
  }
  return found;
}

// Counts the 5-cliques of entries [begin, end). One warp per entry of a in row u. All rows must have matrices.
extern "C" __global__ void __launch_bounds__(32 * num_warps)
    orbit_cliques5(MOTIF_GRAPH_PARAMETERS, const int* __restrict__ rows, long long num_entries, long long begin,
                   long long end, count_t* values) {
  const motif_graph graph{MOTIF_GRAPH_ARGUMENTS};
  const orbit_sums sums{values, num_entries};
  for (long long entry = begin + grid_warp_id(); entry < end; entry += grid_warps()) {
    const int u = rows[entry], a = neighbors[entry];
    if (a < u || supports[entry] < 3) continue;
    const int place_a = static_cast<int>(entry - offsets[u]);
    const common_words common{
        graph,    word_begins[entry],          static_cast<int>(word_begins[entry + 1] - word_begins[entry]),
        lower[u], matrices + matrix_begins[u], graph.degree(u)};
    count_t cliques = 0;
    for (int number = 0; number < common.count; ++number) {
      local_word own = common.get(number);
      if (for_edges) own.bits = bits_above(own, place_a);
      for (unsigned left = own.bits; left != 0; left &= left - 1) {
        const int place_b = static_cast<int>(32 * own.word) + __ffs(static_cast<int>(left)) - 1;
        count_t found = count_edges(common, place_b);
        if (for_edges) {
          found = warp_sum(found);
          if (lane_id() == 0 && found != 0) {
            const int b = neighbors[offsets[u] + place_b];
            atomicAdd(&sums.at(sum_fives_across, offsets[b] + place_of(graph, b, a)), found);
            atomicAdd(&sums.at(sum_fives, offsets[u] + place_b), found);
          }
        }
        cliques += found;
      }
    }
    if (!for_edges) cliques = warp_sum(cliques);
    if (lane_id() == 0 && cliques != 0) atomicAdd(&sums.at(sum_fives, entry), cliques);
  }
}
