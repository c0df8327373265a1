// analytics/bfs.cu - breadth-first search, level by level, in the cheaper of two directions.
//
// A forward step (top down) visits the rows of the frontier: one warp per short row, the whole grid per long row. A
// backward step (bottom up) lets every unreached vertex look for a neighbor in the frontier and stop at the first one.
// The host chooses the direction between launches. Small frontiers run in a single block, thousands of levels per
// launch; long chains have many of them.
//
// Rows are either compressed or lie on the pages of a shard. On pages, a backward step reads all leaves. It tests the
// two lowest neighbors of each row first, and the others only if these two are not in the frontier. This needs no
// index, and empty rows cost nothing. The price is that all keys are read, which is acceptable because backward steps
// run on levels that cover much of the graph.
//
// The parent of a vertex is its lowest neighbor on the previous level, so it does not depend on the order of the
// threads. A forward step uses an atomic minimum on unsigned numbers, where -1 (no parent) is the highest value; the
// thread that replaces -1 queues the vertex. In a backward step rows are sorted, so the first match is the lowest. A
// row that spans several leaves is shared by several warps and needs the atomic minimum again.
//
// Work O(n + m), usually much less. After Beamer, Asanovic and Patterson, "Direction-Optimizing Breadth-First Search"
// (SC 2012).
#include "grid.cuh"
#include "platform.cuh"
#include "rows.cuh"
#include "status.cuh"
#include "store/rows.cuh"
#include "warp.cuh"
#ifndef ROWS
#error "ROWS is set by the host"
#endif
using vertex_t = ROWS::vertex;

// Only 64-bit words. bfs.py relies on their order.
struct bfs_state {
  row_counts levels[2];  // vertices queued on the current and on the next level, indexed by the level's parity
  unsigned long long found, found_entries;        // backward step: next level, being built
  unsigned long long frontier, frontier_entries;  // backward step: current level
  unsigned long long reached;
  long long level;
  unsigned tickets, unused;
};

struct search {
  ROWS rows;
  long long num_vertices;
  vertex_t* levels;   // -1: not reached
  vertex_t* parents;  // -1: none
  vertex_t* queues;   // two queues of num_vertices each
  bfs_state* state;
  status_word* status;
};

// Lowers the parent atomically. Returns true to the one thread that replaced -1.
__device__ __forceinline__ bool lower_parent(int* parent, int from) {
  return atomicMin(reinterpret_cast<unsigned*>(parent), static_cast<unsigned>(from)) == ~0u;
}
__device__ __forceinline__ bool lower_parent(long long* parent, long long from) {
  return atomicMin(reinterpret_cast<unsigned long long*>(parent), static_cast<unsigned long long>(from)) == ~0ull;
}

// One forward step, by all blocks that call it.
__device__ void walk_level(const search& s) {
  const long long level = s.state->level;
  const int now = static_cast<int>(level & 1), next = now ^ 1;
  const vertex_t* queue = s.queues + now * s.num_vertices;
  vertex_t* next_queue = s.queues + next * s.num_vertices;
  visit_rows(queue, s.num_vertices, s.state->levels[now], s.rows, [&](vertex_t from, bool there, auto entry) {
    vertex_t to = 0;
    bool joins = false;
    if (there) {
      to = s.rows.neighbor(entry);
      if (to < 0 || to >= s.num_vertices) {
        raise_status(s.status, fault_bad_neighbor, static_cast<long long>(entry));
      } else {
        // Vertices on earlier levels are skipped. On the next level, several threads may still compete for the parent.
        const vertex_t seen = s.levels[to];
        if (seen < 0 || seen > level) joins = lower_parent(s.parents + to, from);
        if (joins) s.levels[to] = static_cast<vertex_t>(level + 1);
      }
    }
    push_row(next_queue, s.num_vertices, &s.state->levels[next], s.rows, joins, to);
  });
}

__device__ void finish_walk(bfs_state* state) {
  const row_counts& next = state->levels[(state->level & 1) ^ 1];
  state->reached += next.short_rows + next.long_rows;
  state->levels[state->level & 1] = row_counts{0, 0, 0};
  state->level += 1;
}

#define SEARCH_PARAMETERS                                                                               \
  const ROWS::first_array *first_array, const ROWS::second_array *second_array, long long num_vertices, \
      vertex_t *levels, vertex_t *parents, vertex_t *queues, bfs_state *state, status_word *status
#define SEARCH_ARGUMENTS ROWS(first_array, second_array), num_vertices, levels, parents, queues, state, status

// Puts the source on level 0. One thread works.
extern "C" __global__ void bfs_start(SEARCH_PARAMETERS, vertex_t source) {
  const bool first = grid_thread_id() == 0;
  if (first) levels[source] = 0;
  if (grid_warp_id() == 0)
    push_row(queues, num_vertices, &state->levels[0], ROWS(first_array, second_array), first, source);
  if (first) state->reached = 1;
}

// Sets the frontier of a search over several shards: marks its level and queues its rows. One thread per vertex.
extern "C" __global__ void bfs_enter(SEARCH_PARAMETERS, const vertex_t* frontier, long long size) {
  const ROWS rows(first_array, second_array);
  const long long level = state->level;
  for (long long first = grid_warp_id() * 32; first < size; first += grid_warps() * 32) {
    const bool there = first + lane_id() < size;
    const vertex_t vertex = there ? frontier[first + lane_id()] : 0;
    if (there) levels[vertex] = static_cast<vertex_t>(level);
    push_row(queues + (level & 1) * num_vertices, num_vertices, &state->levels[level & 1], rows, there, vertex);
  }
}

// One forward step by the whole grid.
extern "C" __global__ void bfs_walk(SEARCH_PARAMETERS) {
  walk_level(search{SEARCH_ARGUMENTS});
  if (last_block(&state->tickets) && threadIdx.x == 0) finish_walk(state);
}

// Up to max_levels forward steps by one block, while each level has few entries. max_levels keeps a launch short, so
// that the host can stop between launches.
extern "C" __global__ void bfs_tail(SEARCH_PARAMETERS, long long max_levels, long long max_entries) {
  const search s{SEARCH_ARGUMENTS};
  for (long long i = 0; i < max_levels; ++i) {
    __syncthreads();  // wait for the state that thread 0 wrote at the end of the last level
    const row_counts counts = state->levels[state->level & 1];
    if (counts.short_rows + counts.long_rows == 0 || static_cast<long long>(counts.entries) > max_entries) break;
    walk_level(s);
    __syncthreads();
    if (threadIdx.x == 0) finish_walk(state);
  }
}

struct found_rows {
  unsigned long long rows = 0, entries = 0;
};

// One backward step on compressed rows. A warp owns 32 vertices. Each lane first tests the first entries of its own
// row; then the warp scans the rest of the unresolved rows one after the other, 32 entries at a time.
template <class Vertex>
__device__ found_rows look_back(const search& s, const csr_rows<Vertex>& rows) {
  constexpr long long alone = 8;  // entries that a lane tests by itself
  const Vertex level = static_cast<Vertex>(s.state->level);
  found_rows found;
  for (long long first = grid_warp_id() * 32; first < s.num_vertices; first += grid_warps() * 32) {
    const long long vertex = first + lane_id();
    const bool open = vertex < s.num_vertices && s.levels[vertex] < 0;
    const long long begin = open ? rows.offsets[vertex] : 0, end = open ? rows.offsets[vertex + 1] : 0;
    Vertex parent = -1;
    for (long long entry = begin; entry < min(end, begin + alone) && parent < 0; ++entry) {
      const Vertex from = rows.neighbors[entry];
      if (from < 0 || from >= s.num_vertices) {
        raise_status(s.status, fault_bad_neighbor, entry);
      } else if (s.levels[from] == level) {
        parent = from;
      }
    }
    for (unsigned left = __ballot_sync(full_mask, parent < 0 && end - begin > alone); left != 0; left &= left - 1) {
      const int owner = __ffs(static_cast<int>(left)) - 1;
      const long long row_end = __shfl_sync(full_mask, end, owner);
      for (long long at = __shfl_sync(full_mask, begin, owner) + alone; at < row_end; at += 32) {
        const long long entry = at + lane_id();
        Vertex from = -1;
        if (entry < row_end) from = rows.neighbors[entry];
        if (entry < row_end && (from < 0 || from >= s.num_vertices)) {
          raise_status(s.status, fault_bad_neighbor, entry);
          from = -1;
        }
        const unsigned votes = __ballot_sync(full_mask, from >= 0 && s.levels[from < 0 ? 0 : from] == level);
        if (votes == 0) continue;
        from = __shfl_sync(full_mask, from, __ffs(static_cast<int>(votes)) - 1);
        if (lane_id() == owner) parent = from;
        break;
      }
    }
    if (parent >= 0) {
      s.parents[vertex] = parent;
      s.levels[vertex] = level + 1;  // safe: concurrent readers compare with `level`
      found.rows += 1;
      found.entries += static_cast<unsigned long long>(end - begin);
    }
  }
  return found;
}

// One backward step on pages: a warp per leaf.
__device__ found_rows look_back(const search& s, const page_rows& rows) {
  constexpr int at_once = 2;  // entries of a row that are tested first
  const int level = static_cast<int>(s.state->level);
  found_rows found;
  for (long long place = grid_warp_id(); place < rows.num_places(); place += grid_warps()) {
    const leaf_entry entry = rows.read(place);
    const int vertex = entry.row(), from = entry.neighbor();
    bool open = entry.there;
    if (open && (vertex >= s.num_vertices || from < 0 || from >= s.num_vertices)) {
      raise_status(s.status, fault_bad_neighbor, place);
      open = false;
    }
    // Another warp may have found a parent for a row that spans several leaves, but not necessarily the lowest one.
    if (open) open = s.levels[vertex] < 0 || s.levels[vertex] > level;
    unsigned votes = __ballot_sync(full_mask, open && entry.rank < at_once && s.levels[from] == level);
    const bool goes_on = open && entry.rank >= at_once && (votes & entry.run) == 0;
    votes |= __ballot_sync(full_mask, goes_on && s.levels[from] == level);
    const bool lowest = (votes & entry.run) != 0 && __ffs(static_cast<int>(votes & entry.run)) - 1 == lane_id();
    if (lowest && lower_parent(s.parents + vertex, from)) {
      s.levels[vertex] = level + 1;
      found.rows += 1;
      found.entries += static_cast<unsigned long long>(rows.length(vertex));
    }
  }
  return found;
}

extern "C" __global__ void bfs_look_back(SEARCH_PARAMETERS) {
  const search s{SEARCH_ARGUMENTS};
  const found_rows here = look_back(s, s.rows);
  const unsigned long long found = warp_sum(here.rows), found_entries = warp_sum(here.entries);
  if (lane_id() == 0 && found != 0) {
    atomicAdd(&state->found, found);
    atomicAdd(&state->found_entries, found_entries);
  }
  if (last_block(&state->tickets) && threadIdx.x == 0) {
    state->frontier = state->found;
    state->frontier_entries = state->found_entries;
    state->reached += state->found;
    state->found = state->found_entries = 0;
    state->levels[0] = state->levels[1] = row_counts{0, 0, 0};
    state->level += 1;
  }
}

// Turns the frontier of a backward step into a queue. One thread per vertex.
extern "C" __global__ void bfs_collect(SEARCH_PARAMETERS) {
  const ROWS rows(first_array, second_array);
  const long long level = state->level;
  for (long long first = grid_warp_id() * 32; first < num_vertices; first += grid_warps() * 32) {
    const long long vertex = first + lane_id();
    const bool wanted = vertex < num_vertices && levels[vertex] == level;
    push_row(queues + (level & 1) * num_vertices, num_vertices, &state->levels[level & 1], rows, wanted,
             static_cast<vertex_t>(vertex));
  }
}
