// cliques/sets.cu - k-cliques by sorted lists: the baseline for comparisons with bit rows.
//
// A warp takes an edge (u, v) and lists the common neighbors. At every level each listed vertex is tried in turn: the
// list is intersected with its row, by one binary search per element and lane, and the result is the list of the next
// level. The last level is only counted. Rows must be sorted, in rank space, and contain higher ranks only. Cost: for
// every clique of up to k - 1 vertices, the length of its list times the logarithm of a row.
#include "platform.cuh"
#include "warp.cuh"
#if !defined(VERTEX_T)
#error "VERTEX_T is set by the host"
#endif

// Only 64-bit words. cliques/sets.py relies on their order.
struct set_work {
  unsigned long long total_low, total_high, drawn;
};

struct oriented_rows {
  const long long* __restrict__ offsets;
  const VERTEX_T* __restrict__ neighbors;
  long long num_rows;

  // The row of an entry.
  __device__ long long row_of(long long entry) const {
    long long low = 0, high = num_rows;  // offsets[low] <= entry < offsets[high]
    while (high - low > 1) {
      const long long middle = (low + high) / 2;
      if (offsets[middle] <= entry) {
        low = middle;
      } else {
        high = middle;
      }
    }
    return low;
  }

  __device__ bool has(long long row, VERTEX_T vertex) const {
    long long low = offsets[row], high = offsets[row + 1];
    while (low < high) {
      const long long middle = (low + high) / 2;
      if (neighbors[middle] < vertex) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low < offsets[row + 1] && neighbors[low] == vertex;
  }
};

// Counts which of `length` listed vertices are in a row, and writes them to `common` unless it is null. Called by one
// warp.
__device__ __forceinline__ int intersect(const oriented_rows& graph, const VERTEX_T* list, int length, long long row,
                                         VERTEX_T* common) {
  int size = 0;
  for (int base = 0; base < length; base += 32) {
    const VERTEX_T vertex = base + lane_id() < length ? list[base + lane_id()] : 0;
    const unsigned votes = __ballot_sync(full_mask, base + lane_id() < length && graph.has(row, vertex));
    if (common != nullptr && (votes >> lane_id() & 1u) != 0) common[size + votes_below(votes)] = vertex;
    size += __popc(votes);
  }
  __syncwarp();
  return size;
}

// Counts below entries [begin, end). One warp per entry. Per warp of the grid, `scratch` has room for k lists of
// `longest` vertices, and `positions` for k pairs of a length and a position.
extern "C" __global__ void __launch_bounds__(256)
    clique_sets(const long long* __restrict__ offsets, const VERTEX_T* __restrict__ neighbors, long long num_rows,
                long long begin, long long end, int k, int longest, VERTEX_T* scratch, int* positions, set_work* work) {
  const oriented_rows graph{offsets, neighbors, num_rows};
  VERTEX_T* const lists = scratch + grid_warp_id() * k * longest;
  int* const lengths = positions + grid_warp_id() * 2 * k;
  unsigned long long found = 0;
  for (;;) {
    const long long entry = begin + warp_draw(&work->drawn, 1);
    if (entry >= end) break;
    const long long u = graph.row_of(entry), after = entry + 1;
    // The common neighbors rank above v, so only the rest of row u is read.
    int length = static_cast<int>(offsets[u + 1] - after);
    if (length < k - 2) continue;
    length = intersect(graph, neighbors + after, length, neighbors[entry], k == 3 ? nullptr : lists);
    if (k == 3) found += lane_id() == 0 ? static_cast<unsigned>(length) : 0u;
    if (k == 3 || length < k - 2) continue;
    if (lane_id() == 0) lengths[0] = length, lengths[1] = 0;
    __syncwarp();
    for (int depth = 1; depth > 0;) {
      const VERTEX_T* const list = lists + (depth - 1) * longest;
      const int size = lengths[2 * depth - 2], position = lengths[2 * depth - 1], left = k - 2 - depth;
      __syncwarp();
      if (size - position <= left) {  // too few are left
        --depth;
        continue;
      }
      if (lane_id() == 0) lengths[2 * depth - 1] = position + 1;
      const int rest = size - position - 1;
      const bool last = left == 1;
      const int common =
          intersect(graph, list + position + 1, rest, list[position], last ? nullptr : lists + depth * longest);
      if (last) {
        found += lane_id() == 0 ? static_cast<unsigned>(common) : 0u;
      } else if (common >= left) {
        if (lane_id() == 0) lengths[2 * depth] = common, lengths[2 * depth + 1] = 0;
        ++depth;
      }
      __syncwarp();
    }
  }
  found = warp_sum(found);
  if (lane_id() != 0 || found == 0) return;
  const unsigned long long before = atomicAdd(&work->total_low, found);
  if (before + found < before) atomicAdd(&work->total_high, 1ull);
}
