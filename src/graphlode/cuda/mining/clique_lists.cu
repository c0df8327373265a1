// mining/clique_lists.cu - lists the k-cliques below each entry of an oriented graph, as rows of ranks.
//
// A warp owns an entry (u, v). Its candidates are the common neighbors of u and v. Each candidate has a bit row with
// the higher candidates adjacent to it. The warp descends one candidate at a time, with one AND of bit rows per step.
// When two vertices are missing, each lane takes one candidate and writes its cliques. Space in the output is reserved
// once per 32 candidates. If the space does not suffice, or the warp has used up its steps, it saves its position in
// global memory and the next launch resumes there. So a buffer of any size can deliver any number of cliques, each
// exactly once.
//
// The output has no gaps: reservations only grow, so after the first one that fails all later ones fail too.
//
// Rows must be sorted, in rank space, and contain higher ranks only. Requires 3 <= k <= longest row + 1, and a capacity
// of at least 32 times the longest row. Global memory per warp: candidates and bit rows for the longest row, and one
// set per level.
#include "platform.cuh"
#include "status.cuh"
#include "warp.cuh"
#if !defined(VERTEX_T)
#error "VERTEX_T is set by the host"
#endif

struct list_work {
  status_word status;
  unsigned long long drawn;     // the next entry that no warp has drawn
  unsigned long long reserved;  // rows requested in this launch
  unsigned long long valid;     // rows before this one are complete
  unsigned long long paused;    // warps with unfinished entries
};

// The position of a warp. It owns the entries next .. last. `level` is the number of vertices held beside those of the
// current entry, next - 1; it is -1 between entries.
struct list_state {
  long long next, last, root;
  int level, size;
};

// The parameters that all warps share.
struct list_task {
  const long long* offsets;
  const VERTEX_T* neighbors;
  long long num_rows, capacity;
  int k;
  VERTEX_T* out;
  list_work* work;
};

// The memory of one warp.
struct list_space {
  VERTEX_T* members;  // the candidates, sorted
  VERTEX_T* held;     // the clique so far: u, v and the candidates on the path
  unsigned* rows;     // one bit row per candidate, of as many words as the candidates need
  unsigned* sets;     // for each level, the candidates that are still to be tried
};

__device__ __forceinline__ bool contains(const VERTEX_T* row, long long length, VERTEX_T wanted) {
  while (length > 0) {
    const long long half = length / 2;
    if (row[half] < wanted) {
      row += half + 1;
      length -= half + 1;
    } else {
      length = half;
    }
  }
  return *row == wanted;
}

__device__ __forceinline__ bool is_member(const list_task& task, VERTEX_T vertex, VERTEX_T wanted) {
  const long long begin = task.offsets[vertex], length = task.offsets[vertex + 1] - begin;
  return length > 0 && task.neighbors[begin + length - 1] >= wanted && contains(task.neighbors + begin, length, wanted);
}

// Collects the neighbors of u behind the entry that are also neighbors of v. Returns their number.
__device__ int collect_members(const list_task& task, long long entry, long long row_end, VERTEX_T v,
                               VERTEX_T* members) {
  int size = 0;
  for (long long first = entry + 1; first < row_end; first += 32) {
    const long long own = first + lane_id();
    bool wanted = false;
    VERTEX_T w = 0;
    if (own < row_end) {
      w = task.neighbors[own];
      if (w < 0 || w >= task.num_rows) {
        raise_status(&task.work->status, fault_bad_neighbor, own);
      } else {
        wanted = is_member(task, v, w);
      }
    }
    const unsigned votes = __ballot_sync(full_mask, wanted);
    if (wanted) members[size + votes_below(votes)] = w;
    size += __popc(votes);
  }
  __syncwarp();
  return size;
}

__device__ void build_rows(const list_task& task, const list_space& space, int size) {
  const int words = (size + 31) / 32;
  for (int i = 0; i < size; ++i) {
    const VERTEX_T vertex = space.members[i];
    for (int word = 0; word < words; ++word) {
      const int j = 32 * word + lane_id();
      const bool joined = j > i && j < size && is_member(task, vertex, space.members[j]);
      const unsigned bits = __ballot_sync(full_mask, joined);
      if (lane_id() == 0) space.rows[static_cast<long long>(i) * words + word] = bits;
    }
  }
}

// Starts the search below an entry, unless it is too small to contain cliques. Returns the number of steps used.
__device__ int begin_entry(const list_task& task, const list_space& space, list_state& state) {
  const long long entry = state.next++;
  while (task.offsets[state.root + 1] <= entry) ++state.root;
  const long long row_end = task.offsets[state.root + 1];
  const int missing = task.k - 2;
  const VERTEX_T v = task.neighbors[entry];
  if (v < 0 || v >= task.num_rows) {
    raise_status(&task.work->status, fault_bad_neighbor, entry);
    return 1;
  }
  if (row_end - entry - 1 < missing || task.offsets[v + 1] - task.offsets[v] < missing) return 1;
  const int size = collect_members(task, entry, row_end, v, space.members);
  if (size < missing) return 1;
  if (missing > 1) build_rows(task, space, size);
  const int words = (size + 31) / 32;
  for (int word = lane_id(); word < words; word += 32) {
    const int bits = size - 32 * word;
    space.sets[word] = bits >= 32 ? ~0u : (1u << bits) - 1u;
  }
  if (lane_id() == 0) {
    space.held[0] = static_cast<VERTEX_T>(state.root);
    space.held[1] = v;
  }
  __syncwarp();
  state.level = 0;
  state.size = size;
  return 1 + size;
}

// The first nonempty word of a set, or `words`.
__device__ __forceinline__ int first_word(const unsigned* set, int words) {
  for (int first = 0; first < words; first += 32) {
    const int word = first + lane_id();
    const unsigned votes = __ballot_sync(full_mask, word < words && set[word] != 0);
    if (votes != 0) return first + __ffs(static_cast<int>(votes)) - 1;
  }
  return words;
}

// Writes the cliques of the candidates in one word of the level's set, one candidate per lane: the held vertices, the
// candidate and, if two are missing, each common candidate. Returns false if the output is full.
__device__ bool write_word(const list_task& task, const list_space& space, const list_state& state, int word) {
  const int words = (state.size + 31) / 32, own = 32 * word + lane_id();
  const unsigned* const set = space.sets + static_cast<long long>(state.level) * words;
  const unsigned* const row = space.rows + static_cast<long long>(own) * words;
  const bool pairs = task.k > 3, mine = (set[word] >> lane_id() & 1u) != 0;
  unsigned count = mine && !pairs ? 1u : 0u;
  if (mine && pairs) {
    for (int x = word; x < words; ++x) count += static_cast<unsigned>(__popc(set[x] & row[x]));
  }
  const unsigned end = warp_inclusive_scan(count), total = __shfl_sync(full_mask, end, 31);
  if (total == 0) return true;
  unsigned long long start = 0;
  if (lane_id() == 0) {
    start = atomicAdd(&task.work->reserved, static_cast<unsigned long long>(total));
    if (start + total > static_cast<unsigned long long>(task.capacity)) atomicMin(&task.work->valid, start);
  }
  start = __shfl_sync(full_mask, start, 0);
  if (start + total > static_cast<unsigned long long>(task.capacity)) return false;

  VERTEX_T* to = task.out + (static_cast<long long>(start) + end - count) * task.k;
  const int shared = pairs ? task.k - 2 : 2;
  if (mine && !pairs) {
    for (int column = 0; column < shared; ++column) to[column] = space.held[column];
    to[shared] = space.members[own];
  } else if (mine) {
    for (int x = word; x < words; ++x) {
      for (unsigned bits = set[x] & row[x]; bits != 0; bits &= bits - 1) {
        for (int column = 0; column < shared; ++column) to[column] = space.held[column];
        to[shared] = space.members[own];
        to[shared + 1] = space.members[32 * x + __ffs(static_cast<int>(bits)) - 1];
        to += task.k;
      }
    }
  }
  return true;
}

// Removes the lowest candidate from a set and descends to the candidates adjacent to it, if there are enough.
__device__ void descend(const list_task& task, const list_space& space, list_state& state, int from) {
  const int words = (state.size + 31) / 32, missing = task.k - 2 - state.level;
  unsigned* const set = space.sets + static_cast<long long>(state.level) * words;
  unsigned* const next = set + words;
  const unsigned bits = set[from];
  const int chosen = 32 * from + __ffs(static_cast<int>(bits)) - 1;
  const unsigned* const row = space.rows + static_cast<long long>(chosen) * words;
  __syncwarp();                  // wait until all lanes have read the word
  if (lane_id() == from % 32) {  // the lane that reads this word below
    set[from] = bits & (bits - 1);
    space.held[2 + state.level] = space.members[chosen];
  }
  int count = 0;
  for (int word = lane_id(); word < words; word += 32) {
    const unsigned common = set[word] & row[word];
    next[word] = common;
    count += __popc(common);
  }
  count = warp_sum(count);
  __syncwarp();
  if (count >= missing - 1) ++state.level;
}

// Continues the search below an entry for at most `steps` steps. Returns false if it must pause: output full or no
// steps left.
__device__ bool walk(const list_task& task, const list_space& space, list_state& state, int& steps) {
  const int words = (state.size + 31) / 32, last_level = max(task.k - 4, 0);
  while (state.level >= 0) {
    if (steps-- <= 0) return false;
    unsigned* const set = space.sets + static_cast<long long>(state.level) * words;
    const int word = first_word(set, words);
    if (word == words) {
      --state.level;
    } else if (state.level < last_level) {
      descend(task, space, state, word);
    } else {
      if (!write_word(task, space, state, word)) return false;
      __syncwarp();
      if (lane_id() == 0) set[word] = 0;
      __syncwarp();
    }
  }
  return true;
}

// The row that an entry is in.
__device__ long long row_of(const list_task& task, long long entry) {
  long long low = 0, high = task.num_rows - 1;  // the row is in low .. high
  while (low < high) {
    const long long middle = low + (high - low + 1) / 2;
    if (task.offsets[middle] <= entry) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

// One launch: every warp resumes its search, then draws entries until none is left, the output is full, or it has used
// `steps` steps. `longest` is the length of the longest row.
extern "C" __global__ void clique_lists(const long long* __restrict__ offsets, const VERTEX_T* __restrict__ neighbors,
                                        long long num_rows, long long end, int k, int longest, int entries_per_draw,
                                        int steps, long long capacity, VERTEX_T* members, VERTEX_T* held,
                                        unsigned* rows, unsigned* sets, list_state* states, VERTEX_T* out,
                                        list_work* work) {
  const long long warp = grid_warp_id(), words = (longest + 31) / 32;
  const list_task task{offsets, neighbors, num_rows, capacity, k, out, work};
  const list_space space{members + warp * longest, held + warp * k, rows + warp * longest * words,
                         sets + warp * (k - 2) * words};
  list_state state = states[warp];
  __syncwarp();
  for (;;) {
    if (state.level >= 0 && !walk(task, space, state, steps)) break;
    if (state.next == state.last) {
      if (steps <= 0) break;
      state.next = min(warp_draw(&work->drawn, entries_per_draw), end);
      state.last = min(state.next + entries_per_draw, end);
      if (state.next == state.last) break;
      state.root = row_of(task, state.next);
    }
    if (steps <= 0) break;
    steps -= begin_entry(task, space, state);
  }
  if (lane_id() == 0) {
    states[warp] = state;
    if (state.level >= 0 || state.next < state.last) atomicAdd(&work->paused, 1ull);
  }
}
