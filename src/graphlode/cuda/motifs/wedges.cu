// motifs/wedges.cu - the sums over pairs of vertices: squares, houses, wheels and related motifs.
//
// For every vertex u, all wedges u - h - v with v < u are visited twice. The first pass counts W(u, v), the common
// neighbors of each pair, in shared memory. The second pass looks W up and adds what each wedge contributes to every
// sum: a pair's term, divided evenly over its W wedges. So one counter per pair serves all sums, and no counter can
// overflow. The expensive c3(h, u, v) is computed only for pairs with three common neighbors.
//
// Vertices with few wedges are processed by one warp with a small table, others by one block with a larger table.
// Vertices with very many wedges have no table: they use counters for one range of v at a time that fits shared memory,
// which also splits a hub over many blocks. Tasks are drawn from a list sorted by number of wedges, the heaviest first.
// Vertices with a single neighbor are in no pair with two common neighbors and are skipped: `firsts` says where the
// others begin.
//
// Cost: two steps per wedge, and for c3 the words that row u of the local graph of h and the tile have in common.
#include "block.cuh"
#include "grid.cuh"
#include "motifs/counters.cuh"
#include "motifs/graph.cuh"
#include "motifs/local_row.cuh"
#include "motifs/ranges.cuh"
#include "motifs/staged.cuh"
#include "motifs/sums.cuh"
#include "motifs/twins.cuh"
#include "motifs/walk.cuh"
#include "platform.cuh"
#include "search.cuh"
#include "warp.cuh"

constexpr int most_warps = 16;
constexpr unsigned long long fill_limit = 1ull << 61;
constexpr long long most_key = 0x7fffffff;

// Counts the wedges u - h - v with v < u of each row u in [begin, end), and those of them with h < u. Writes both as
// sort keys (wedges << 32 | u), where the number of wedges is clamped to 31 bits, and as exact totals. One warp per
// row.
extern "C" __global__ void motif_wedge_counts(const long long* __restrict__ offsets, const int* __restrict__ neighbors,
                                              const int* __restrict__ firsts, const int* __restrict__ places, int begin,
                                              int end, long long* keys, long long* lower_keys,
                                              unsigned long long* totals) {
  unsigned long long total = 0, lower_total = 0;
  for (long long row = begin + grid_warp_id(); row < end; row += grid_warps()) {
    long long sum = 0, below = 0;
    for (long long entry = offsets[row] + lane_id(); entry < offsets[row + 1]; entry += 32) {
      const int h = neighbors[entry], wedges = max(0, places[entry] - firsts[h]);
      sum += wedges;
      if (h < row) below += wedges;
    }
    sum = warp_sum(sum);
    below = warp_sum(below);
    if (lane_id() != 0) continue;
    keys[row - begin] = min(sum, most_key) << 32 | row;
    lower_keys[row - begin] = min(below, most_key) << 32 | row;
    total += static_cast<unsigned long long>(sum);
    lower_total += static_cast<unsigned long long>(below);
  }
  if (lane_id() != 0 || total == 0) return;
  atomicAdd(&totals[0], total);
  atomicAdd(&totals[1], lower_total);
}

// Writes, for each row, the first place of each range of `range` vertices from first_vertex on, and the end of the
// last. One thread per row and range.
extern "C" __global__ void motif_range_cuts(const long long* __restrict__ offsets, const int* __restrict__ neighbors,
                                            int num_vertices, int first_vertex, int range, int num_ranges, int* cuts) {
  const long long count = static_cast<long long>(num_vertices) * (num_ranges + 1);
  for (long long i = grid_thread_id(); i < count; i += grid_threads()) {
    const int row = static_cast<int>(i / (num_ranges + 1)), number = static_cast<int>(i % (num_ranges + 1));
    const long long begin = offsets[row], wanted = first_vertex + static_cast<long long>(number) * range;
    const int degree = static_cast<int>(offsets[row + 1] - begin);
    cuts[i] = lower_bound(neighbors + begin, degree, static_cast<int>(min(wanted, 0x7fffffffll)));
  }
}

// The sums of one lane since its last flush. The driver ensures that one row adds less than fill_limit.
struct pair_sums {
  unsigned long long squares = 0, tailed = 0, houses = 0, k23 = 0, diamonds = 0, wheels = 0;

  // Adds a wedge of a pair with `common` >= 2 common neighbors, `times` times. `reach` is d(u) + d(v) - 4, `triangles`
  // is t(uh) + t(hv). Factors have 32 bits: such a multiply-add is one instruction.
  __device__ __forceinline__ void add(unsigned common, unsigned reach, unsigned triangles, unsigned times = 1) {
    const unsigned others = times * (common - 1);
    squares += others;
    tailed += product(others, reach);
    houses += product(others, triangles);
    k23 += product(others, common - 2);
  }
  // Adds the terms of c3(h, u, v) = third.
  __device__ __forceinline__ void add_third(unsigned common, unsigned third, unsigned times = 1) {
    diamonds += product(times * third, common - 2);
    wheels += product(times * third, third - 1);
  }
  __device__ __forceinline__ static unsigned long long product(unsigned a, unsigned b) {
    return static_cast<unsigned long long>(a) * b;
  }

  __device__ __forceinline__ void flush(motif_work* work) {
    flush_sum(work, sum_squares, squares);
    flush_sum(work, sum_tailed_squares, tailed);
    flush_sum(work, sum_houses, houses);
    flush_sum(work, sum_k23, k23);
    flush_sum(work, sum_wedge_diamonds, diamonds);
    flush_sum(work, sum_wheels, wheels);
    *this = pair_sums();
  }
  __device__ __forceinline__ void flush_if_full(motif_work* work) {
    const bool full = (squares | tailed | houses | k23 | diamonds | wheels) >= fill_limit;
    if (__any_sync(full_mask, full)) flush(work);
  }
};

// Sums the pairs of u with v in a range. Called by all threads of a block. `clear` prepares the counters; it is called
// only if there are wedges.
template <class Counters, class Clear>
__device__ void block_pairs(const motif_graph& graph, const int* degrees, const twin_hubs& twins, bool with_third,
                            int u, const vertex_range& range, const Counters& counters, Clear clear,
                            staged_rows& staged, unsigned* weights, pair_sums& sums, motif_work* work) {
  const long long row_u = graph.offsets[u];
  const int degree_u = graph.degree(u), capacity = staged_rows::capacity();
  for (int walk = 0; walk < 2; ++walk) {
    for (int first = 0; first < degree_u; first += capacity) {
      if (walk == 0 || degree_u > capacity) {
        const int number = first + static_cast<int>(threadIdx.x);
        const bool there = static_cast<int>(threadIdx.x) < capacity && number < degree_u;
        long long row = 0;
        int from = 0, to = 0;
        unsigned weight = 0;
        if (there) {
          const int h = graph.neighbors[row_u + number];
          weight = twins.weight(u, h);
          row = graph.offsets[h];
          from = graph.firsts[h];
          to = graph.places[row_u + number];
          range.clip(graph, h, from, to);
        }
        __syncthreads();  // the previous rows may still be in use
        if (there) weights[threadIdx.x] = weight;
        staged.stage(weight != 0, row, from, to);
      }
      if (walk == 0 && first == 0) {
        if (staged.total == 0 && degree_u <= capacity) return;
        clear();
        __syncthreads();
      }
      staged.share([&](int staged_row, int chunk, int last_chunk) {
        const long long row = staged.begins[staged_row];
        const int from = staged.firsts[staged_row], to = staged.lasts[staged_row];
        if (walk == 0) {
          for (; chunk < last_chunk; ++chunk) {
            const int place = 32 * chunk + lane_id();
            if (place >= from && place < to) counters.add(graph.neighbors[row + place], weights[staged_row]);
          }
          return;
        }
        const long long entry = row_u + first + staged_row;
        const int h = graph.neighbors[entry], triangles = graph.supports[entry], degree_h = graph.degree(h);
        const bool third = with_third && triangles != 0, searched = third && h >= graph.num_local;
        local_row own{};
        if (third && !searched) own.open(graph, h, row, degree_h, graph.places[entry]);
        const unsigned weight = weights[staged_row];
        // The next chunk is loaded while this one is processed.
        int next_v = 0, next_others = 0;
        const auto fetch = [&](int of) {
          const int place = 32 * of + lane_id();
          if (of >= last_chunk || place < from || place >= to) return false;
          next_v = graph.neighbors[row + place];
          next_others = graph.supports[row + place];
          return true;
        };
        bool next_there = fetch(chunk);
        for (; chunk < last_chunk; ++chunk) {
          const bool there = next_there;
          const int v = next_v, others = next_others;
          next_there = fetch(chunk + 1);
          const unsigned common = there ? counters.get(v) : 0;
          const unsigned reach =
              common >= 2 ? static_cast<unsigned>(degree_u) + static_cast<unsigned>(degrees[v]) - 4 : 0;
          const bool asks = third && common >= 3 && others != 0;
          unsigned found = 0;
          if (searched) {
            if (asks) found = graph.search_common(h, u, v);
          } else if (__any_sync(full_mask, asks)) {
            found = own.common(chunk, asks);
          }
          if (common >= 2) {
            sums.add(common, reach, static_cast<unsigned>(triangles) + static_cast<unsigned>(others), weight);
          }
          if (asks && found != 0) sums.add_third(common, found, weight);
        }
        sums.flush_if_full(work);
      });
    }
    __syncthreads();
  }
}

// Sums the pairs of u with one warp. Its table has room for all of them.
__device__ void warp_pairs(const motif_graph& graph, const int* degrees, bool with_third, int u,
                           const hashed_counters& counters, row_batch& batch, pair_sums& sums, motif_work* work) {
  const long long row_u = graph.offsets[u], end_u = graph.offsets[u + 1];
  for (int walk = 0; walk < 2; ++walk) {
    for (long long first = row_u; first < end_u; first += 32) {
      const long long own = first + lane_id();
      long long begin = 0;
      unsigned length = 0;
      if (own < end_u) {
        const int h = graph.neighbors[own], from = graph.firsts[h];
        begin = graph.offsets[h] + from;
        length = static_cast<unsigned>(max(0, graph.places[own] - from));
      }
      if (walk == 0) {
        walk_rows(batch, begin, length, [&](int, long long entry) { counters.add(graph.neighbors[entry]); });
        continue;
      }
      walk_rows(batch, begin, length, [&](int piece, long long entry) {
        const int v = graph.neighbors[entry];
        const unsigned common = counters.get(v);
        if (common < 2) return;
        const int triangles = graph.supports[first + piece], others = graph.supports[entry];
        sums.add(common, static_cast<unsigned>(end_u - row_u) + static_cast<unsigned>(degrees[v]) - 4,
                 static_cast<unsigned>(triangles) + static_cast<unsigned>(others));
        if (!with_third || common < 3 || triangles == 0 || others == 0) return;
        const int h = graph.neighbors[first + piece];
        const unsigned found =
            graph.local_common(h, graph.places[first + piece], static_cast<int>(entry - graph.offsets[h]));
        if (found != 0) sums.add_third(common, found);
      });
      sums.flush_if_full(work);
    }
    __syncwarp();
  }
}

// Sums the pairs of `tasks`, which are (wedges << 32 | u), ascending, in three ranges [begin, end):
// - ranged: one block per task and range of `range` vertices, with counters in `range_words` words; `cuts` has the
//   places of the range in each row.
// - block: one block per task, with a table.
// - warp: one warp per task, with a table.
// Shared memory: the counters or tables.
extern "C" __global__ void __launch_bounds__(32 * most_warps, 2)
    motif_wedges(MOTIF_GRAPH_PARAMETERS, const int* __restrict__ degrees, const long long* __restrict__ tasks,
                 long long ranged_begin, long long ranged_end, long long block_begin, long long block_end,
                 long long warp_begin, long long warp_end, int first_vertex, int range, int range_words, int warp_words,
                 int with_third, int with_cuts, const int* __restrict__ cuts, int first_hub,
                 const int* __restrict__ leaders, const int* __restrict__ class_sizes, unsigned long long* drawn_tasks,
                 motif_work* work) {
  DYN_SHARED(unsigned, counters);
  __shared__ staged_rows staged;
  __shared__ unsigned weights[most_staged];
  __shared__ row_batch batches[most_warps];
  __shared__ unsigned long long drawn;
  const motif_graph graph{MOTIF_GRAPH_ARGUMENTS};
  const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  const twin_hubs twins{first_hub, leaders, class_sizes};
  pair_sums sums;

  const int num_ranges = (num_vertices - first_vertex + range - 1) / range;
  const long long num_ranged = (ranged_end - ranged_begin) * num_ranges;
  for (;;) {
    const long long number = block_draw(&drawn_tasks[0], drawn);
    if (number >= num_ranged) break;
    const int u = static_cast<int>(tasks[ranged_end - 1 - number / num_ranges]);
    const int low = first_vertex + static_cast<int>(number % num_ranges) * range;
    if (low >= u) continue;
    const range_counters own{counters, low, range_words, range > range_words ? 0xffffu : ~0u};
    const vertex_range part{low, low + range, with_cuts ? cuts + number % num_ranges : nullptr, num_ranges + 1};
    const auto clear = [&] { own.clear(min(range, u - low), thread, threads); };
    block_pairs(graph, degrees, twins, with_third != 0, u, part, own, clear, staged, weights, sums, work);
  }

  for (;;) {
    const long long number = block_draw(&drawn_tasks[1], drawn);
    if (number >= block_end - block_begin) break;
    const long long task = tasks[block_end - 1 - number];
    const int bits = counter_bits(static_cast<unsigned>(task >> 32)), u = static_cast<int>(task);
    const hashed_counters own{reinterpret_cast<int*>(counters), counters + (1 << bits), bits};
    const auto clear = [&] { own.clear(thread, threads); };
    const vertex_range all{0, num_vertices, nullptr, 0};
    block_pairs(graph, degrees, twins, with_third != 0, u, all, own, clear, staged, weights, sums, work);
  }

  unsigned* const warp_counters = counters + warp_id() * warp_words;
  for (;;) {
    const long long number = warp_draw(&drawn_tasks[2], 1);
    if (number >= warp_end - warp_begin) break;
    const long long task = tasks[warp_end - 1 - number];
    const int bits = counter_bits(static_cast<unsigned>(task >> 32));
    const hashed_counters own{reinterpret_cast<int*>(warp_counters), warp_counters + (1 << bits), bits};
    own.clear(lane_id(), 32);
    __syncwarp();
    warp_pairs(graph, degrees, with_third != 0, static_cast<int>(task), own, batches[warp_id()], sums, work);
  }
  sums.flush(work);
}
