// orbits/pairs.cu - sums over the wedges u - h - v of every entry of h in row u: the wide part of orbits.
//
// A block takes a vertex u and counts W(u, v) for all v at distance two, both higher and lower. So the sums of u and
// its entries are complete, and nothing has to be added to v. Vertices with few wedges use a table in shared memory.
// Others use counters for one range of v at a time that fits shared memory. In graphs with very many vertices they use
// counters in global memory instead, by vertex, with a list of the vertices used. A first pass counts W. A second sums
// by row, computes c3(h, u, v) and adds it to twice D(u, v). A third sums D. Vertices with a single neighbor are
// skipped: they have no second common neighbor with any vertex. Twin hubs (motifs/twins.cuh) are visited once.
#include "block.cuh"
#include "grid.cuh"
#include "motifs/counters.cuh"
#include "motifs/graph.cuh"
#include "motifs/local_row.cuh"
#include "motifs/ranges.cuh"
#include "motifs/twins.cuh"
#include "motifs/walk.cuh"
#include "orbits/counters.cuh"
#include "orbits/sums.cuh"
#include "platform.cuh"
#include "warp.cuh"
#ifndef EDGES
#error "EDGES is set by the host"
#endif

constexpr int most_warps = 16;

using count_t = unsigned long long;

// Values of all v in row h, by place, for one u. A warp keeps them while it is at h.
struct row_memory {
  int* thirds;  // c3(h, u, v) - 1
  int* common;  // W(u, v) - 2
};

// Calls visit(place) with the places of all neighbors of `row` that are adjacent to the neighbor at place `to`. All
// lanes of the warp make every call together.
template <class Visit>
__device__ __forceinline__ void visit_joined(const motif_graph& graph, int row, int to, Visit visit) {
  const long long entry = graph.offsets[row] + to;
  if (row < graph.num_local) {
    for (long long at = graph.word_begins[entry]; at < graph.word_begins[entry + 1]; ++at) {
      const local_word own = graph.words[at];
      for (unsigned left = own.bits; left != 0; left &= left - 1) {
        visit(static_cast<int>(32 * own.word) + __ffs(static_cast<int>(left)) - 1);
      }
    }
  } else {
    const int other = graph.neighbors[entry], degree = graph.degree(row);
    for (int place = 0; place < degree; ++place) {
      if (graph.adjacent(other, graph.neighbors[graph.offsets[row] + place])) visit(place);
    }
  }
}

// For every x adjacent to u in the local graph of h, sums over the neighbors y of x there, except u: c3(h, u, y) - 1,
// the 4-cycles through ux there; and W(u, y) - 2.
__device__ void sum_beyond(const motif_graph& graph, const orbit_sums& sums, int u, int h, int place_u,
                           const row_part& part, const row_memory& memory) {
  const long long row_h = graph.offsets[h];
  visit_joined(graph, h, place_u, [&](int place_x) {
    count_t rims = 0, bridges = 0;
    visit_common(graph, h, row_h + place_x, [&](int place_y) {
      if (place_y == place_u || place_y < part.from || place_y >= part.to) return;
      rims += static_cast<count_t>(memory.thirds[place_y]);
      bridges += static_cast<count_t>(memory.common[place_y]);
    });
    rims = warp_sum(rims);
    bridges = warp_sum(bridges);
    if (lane_id() != 0) return;
    if (bridges != 0) atomicAdd(&sums.at(sum_bridges, row_h + place_x), bridges);
    const int x = graph.neighbors[row_h + place_x];
    if (rims != 0) atomicAdd(&sums.at(sum_rims, graph.offsets[u] + place_of(graph, u, x)), rims);
  });
}

// Writes the sum over the lanes, or adds it if it is only a part.
__device__ __forceinline__ void write_sum(const orbit_sums& sums, orbit_sum which, long long entry, count_t value,
                                          bool is_part) {
  value = warp_sum(value);
  if (lane_id() != 0) return;
  if (!is_part) {
    sums.at(which, entry) = value;
  } else if (value != 0) {
    atomicAdd(&sums.at(which, entry), value);
  }
}

// The leader h of a class is not in its own row, but it is in the rows of the other members, and c3 to it is the same
// from each of them. One lane works.
template <class Counters>
__device__ void join_leader(const motif_graph& graph, const twin_hubs& twins, int u, int h, const vertex_range& range,
                            const class_weights& weights, const Counters& counters) {
  if (lane_id() != 0 || h < range.low || h >= range.high) return;
  int place = graph.lower[h];  // members rank above their leader
  while (twins.leader(graph.neighbors[graph.offsets[h] + place]) != h) ++place;
  const int member = graph.neighbors[graph.offsets[h] + place];
  const unsigned found = graph.local_common(member, place_of(graph, member, u), place_of(graph, member, h));
  if (found != 0) atomicAdd(&counters.joined[counters.find(h)], found * weights.members);
}

// The second pass along row h: everything that is computed per wedge.
template <class Counters>
__device__ void sum_row(const motif_graph& graph, const orbit_sums& sums, const int* degrees, int u, long long entry,
                        const vertex_range& range, const twin_hubs& twins, const Counters& counters,
                        const row_memory& memory, int size) {
  const int h = graph.neighbors[entry], triangles = graph.supports[entry], place_u = graph.places[entry];
  const class_weights weights(twins, u, h);
  if (weights.is_skipped()) return;
  if (weights.others > 1 && size == 5) join_leader(graph, twins, u, h, range, weights, counters);
  const row_part part(graph, h, range);
  if (part.from >= part.to) return;
  const long long row_h = graph.offsets[h];
  const bool third = size == 5 && triangles != 0, searched = h >= graph.num_local;
  local_row own{};
  if (third && !searched) own.open(graph, h, row_h, graph.degree(h), place_u);
  count_t squares = 0, k23 = 0, far_degrees = 0, sides = 0, third_pairs = 0, wheels = 0, third_reach = 0;
  for (int chunk = part.from >> 5; 32 * chunk < part.to; ++chunk) {
    const int place = 32 * chunk + lane_id();
    count_t common = 0;
    int v = 0, at = -1, others = 0;
    if (place >= part.from && place < part.to && place != place_u) {
      v = graph.neighbors[row_h + place];
      at = counters.find(v);
      common = counters.common[at];
      if (common >= 2) {
        others = graph.supports[row_h + place];
        squares += common - 1;
        k23 += pairs_of(common - 1);
        far_degrees += (common - 1) * static_cast<count_t>(degrees[v] - 2);
        sides += (common - 1) * static_cast<count_t>(others);
        if (for_edges && others != 0) atomicAdd(&counters.sides[at], static_cast<unsigned>(others));
      }
    }
    const bool asks = third && common >= 2 && others != 0;
    unsigned found = 0;
    if (searched) {
      if (asks) found = graph.search_common(h, u, v);
    } else if (__any_sync(full_mask, asks)) {
      found = own.common(chunk, asks);
    }
    if (asks && found != 0) {
      third_pairs += found * (common - 2);
      wheels += pairs_of(found);
      third_reach += static_cast<count_t>(found) * static_cast<count_t>(degrees[v] - 2);
      atomicAdd(&counters.joined[at], found * weights.to(twins, v));
      if (for_edges) {
        memory.thirds[place] = static_cast<int>(found) - 1;
        memory.common[place] = static_cast<int>(common) - 2;
      }
    }
  }
  const auto write = [&](orbit_sum which, count_t value) { write_sum(sums, which, entry, value, counters.is_part()); };
  write(sum_squares, squares);
  if (size < 5) return;
  write(sum_k23, k23);
  write(sum_far_degrees, far_degrees);
  write(sum_sides, sides);
  if (!third) return;
  write(sum_third_pairs, third_pairs);
  write(sum_wheels, wheels);
  write(sum_third_reach, third_reach);
  if (for_edges) {
    __syncwarp();
    sum_beyond(graph, sums, u, h, place_u, part, memory);
    __syncwarp();
  }
}

// The third pass along row h: sums over v of the counts of v.
template <class Counters>
__device__ void sum_counted(const motif_graph& graph, const orbit_sums& sums, long long entry,
                            const vertex_range& range, const twin_hubs& twins, const Counters& counters, int u) {
  const int h = graph.neighbors[entry], place_u = graph.places[entry];
  if (class_weights(twins, u, h).is_skipped()) return;
  const row_part part(graph, h, range);
  if (part.from >= part.to) return;
  const long long row_h = graph.offsets[h];
  count_t joined = 0, far_sides = 0;
  for (int place = part.from + lane_id(); place < part.to; place += 32) {
    if (place == place_u) continue;
    const int at = counters.find(graph.neighbors[row_h + place]);
    joined += counters.joined[at];
    if (for_edges && counters.common[at] >= 2) {
      far_sides += counters.sides[at] - static_cast<count_t>(graph.supports[row_h + place]);
    }
  }
  write_sum(sums, sum_joined, entry, joined, counters.is_part());
  if (for_edges) write_sum(sums, sum_far_sides, entry, far_sides, counters.is_part());
}

// Whether any wedge of u ends in the range. Called by all threads of a block.
__device__ bool any_wedge(const motif_graph& graph, int u, const vertex_range& range) {
  bool found = false;
  for (long long entry = graph.offsets[u] + threadIdx.x; entry < graph.offsets[u + 1] && !found; entry += blockDim.x) {
    const row_part part(graph, graph.neighbors[entry], range);
    found = part.from < part.to;
  }
  return __syncthreads_or(found) != 0;
}

// Sums the wedges of u that end in a range. Called by all threads of a block.
template <class Counters>
__device__ void sum_vertex(const motif_graph& graph, const orbit_sums& sums, const int* degrees, int u,
                           const vertex_range& range, const twin_hubs& twins, const Counters& counters,
                           const row_memory& memory, row_batch& batch, int size) {
  const long long row_u = graph.offsets[u], end_u = graph.offsets[u + 1];
  const bool no_twins = twins.first >= graph.num_vertices;
  for (long long first = row_u + 32 * warp_id(); first < end_u; first += 32 * warps_per_block()) {
    long long begin = 0;
    unsigned length = 0;
    if (first + lane_id() < end_u) {
      const int h = graph.neighbors[first + lane_id()];
      const row_part part(graph, h, range);
      const class_weights weights(twins, u, h);
      begin = graph.offsets[h] + part.from;
      if (!weights.is_skipped()) length = static_cast<unsigned>(max(0, part.to - part.from));
      if (weights.others > 1 && h >= range.low && h < range.high) counters.count(h, weights.members);
    }
    walk_rows(batch, begin, length, [&](int piece, long long entry) {
      const int v = graph.neighbors[entry];
      if (v == u) return;
      counters.count(v, no_twins ? 1 : class_weights(twins, u, graph.neighbors[first + piece]).to(twins, v));
    });
  }
  __syncthreads();
  for (long long entry = row_u + warp_id(); entry < end_u; entry += warps_per_block()) {
    sum_row(graph, sums, degrees, u, entry, range, twins, counters, memory, size);
  }
  if (size < 5) return;
  __syncthreads();
  for (long long entry = row_u + warp_id(); entry < end_u; entry += warps_per_block()) {
    sum_counted(graph, sums, entry, range, twins, counters, u);
  }
}

// Sums the wedges of `tasks`, which are (wedges << 32 | u), ascending. One block per task, or per task and range.
// - large: if `range` is not zero, ranges of `range` vertices from first_vertex on, with counters in shared memory;
//   `cuts` has the places of each range. If `range` is zero, counters by vertex in `scratch`, zero before and after: W,
//   D and sides, num_vertices of each per block.
// - table: tables of up to 2^table_bits slots in shared memory.
// `memory` has two numbers per place of the longest row for each warp.
extern "C" __global__ void __launch_bounds__(32 * most_warps, EDGES ? 1 : 2)
    orbit_pairs(MOTIF_GRAPH_PARAMETERS, const int* __restrict__ degrees, const long long* __restrict__ tasks,
                long long large_begin, long long large_end, long long table_begin, long long table_end,
                int first_vertex, int range, int with_cuts, const int* __restrict__ cuts, int table_bits, int size,
                int longest, long long num_entries, int first_hub, const int* __restrict__ leaders,
                const int* __restrict__ class_sizes, unsigned* scratch, int* touched, int* memory, count_t* drawn_tasks,
                count_t* values) {
  DYN_SHARED(unsigned, slots);
  __shared__ row_batch batches[most_warps];
  __shared__ count_t drawn;
  __shared__ unsigned num_touched;
  const motif_graph graph{MOTIF_GRAPH_ARGUMENTS};
  const orbit_sums sums{values, num_entries};
  const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  const long long warp = grid_warp_id(), block = blockIdx.x;
  const row_memory own_memory{memory + 2 * warp * longest, memory + (2 * warp + 1) * longest};
  const vertex_range all{0, num_vertices, nullptr, 0};
  const twin_hubs twins{first_hub, leaders, class_sizes};

  const int num_ranges = range == 0 ? 1 : (num_vertices - first_vertex + range - 1) / range;
  for (;;) {
    const long long number = block_draw(&drawn_tasks[0], drawn);
    if (number >= (large_end - large_begin) * num_ranges) break;
    const int u = static_cast<int>(tasks[large_end - 1 - number / num_ranges]);
    const int which = static_cast<int>(number % num_ranges), low = range == 0 ? 0 : first_vertex + which * range;
    const vertex_range part =
        range == 0 ? all : vertex_range{low, low + range, with_cuts ? cuts + which : nullptr, num_ranges + 1};
    if (range != 0 && !any_wedge(graph, u, part)) continue;
    if (thread == 0) num_touched = 0;
    const int stride = range == 0 ? num_vertices : range;
    unsigned* const own = range == 0 ? scratch + 3 * block * num_vertices : slots;
    const vertex_pairs counters{{own, own + stride, own + 2ll * stride},
                                low,
                                stride,
                                range == 0 ? touched + block * num_vertices : nullptr,
                                &num_touched};
    if (range != 0) counters.clear(thread, threads);
    __syncthreads();
    sum_vertex(graph, sums, degrees, u, part, twins, counters, own_memory, batches[warp_id()], size);
    __syncthreads();
    if (range == 0) counters.clear(thread, threads);
  }

  const int most_slots = 1 << table_bits;
  for (;;) {
    const long long number = block_draw(&drawn_tasks[1], drawn);
    if (number >= table_end - table_begin) break;
    const long long task = tasks[table_end - 1 - number];
    const tabled_pairs counters{{slots + most_slots, slots + 2 * most_slots, slots + 3 * most_slots},
                                reinterpret_cast<int*>(slots),
                                counter_bits(static_cast<unsigned>(task >> 32))};
    counters.clear(thread, threads);
    __syncthreads();
    sum_vertex(graph, sums, degrees, static_cast<int>(task), all, twins, counters, own_memory, batches[warp_id()],
               size);
  }
}

// Copies the sums of orbit_pairs from the leader's entry to the entries of its twins, in rows of other vertices. One
// thread per entry of [begin, end).
extern "C" __global__ void orbit_twins(MOTIF_GRAPH_PARAMETERS, const int* __restrict__ rows, long long num_entries,
                                       long long begin, long long end, int first_hub, const int* __restrict__ leaders,
                                       const int* __restrict__ class_sizes, count_t* values) {
  const motif_graph graph{MOTIF_GRAPH_ARGUMENTS};
  const orbit_sums sums{values, num_entries};
  const twin_hubs twins{first_hub, leaders, class_sizes};
  for (long long entry = begin + grid_thread_id(); entry < end; entry += grid_threads()) {
    const int u = rows[entry];
    const class_weights weights(twins, u, neighbors[entry]);
    if (!weights.is_skipped()) continue;
    const long long from = offsets[u] + place_of(graph, u, weights.leader);
    for (int which = sum_squares; which <= sum_joined; ++which) {
      sums.at(static_cast<orbit_sum>(which), entry) = sums.at(static_cast<orbit_sum>(which), from);
    }
  }
}
