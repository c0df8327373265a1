// analytics/components.cu - connected components by union-find.
//
// Every vertex points to a vertex that is not higher; a vertex that points to itself is a root. Joining two trees hangs
// the higher root below the lower one by compare and swap. So the root of a finished component is its lowest vertex, in
// any order of the threads. No thread waits for another: a failed swap returns the current value, and the search goes
// on from there.
//
// On compressed rows a warp owns 32 rows: a lane processes a short row alone, the warp processes a long row together.
// On pages a warp owns a leaf, and the keys themselves name the row of each entry. Work: O(n + m) joins, most of which
// find both ends in one tree already. After Sutton, Ben-Nun and Barak, "Optimizing Parallel Graph Connectivity
// Computation via Subgraph Sampling" (IPDPS 2018).
#include "platform.cuh"
#include "rows.cuh"
#include "status.cuh"
#include "store/rows.cuh"
#include "warp.cuh"
#ifndef ROWS
#error "ROWS is set by the host"
#endif
using vertex_t = ROWS::vertex;

constexpr long long alone = 16;  // the longest row that one lane processes by itself

// Other threads change pointers concurrently. The read is volatile so that loops see the change.
__device__ __forceinline__ vertex_t parent_of(const vertex_t* parents, vertex_t v) {
  return static_cast<const volatile vertex_t*>(parents)[v];
}

__device__ __forceinline__ int swap_if(int* at, int expected, int value) { return atomicCAS(at, expected, value); }
__device__ __forceinline__ long long swap_if(long long* at, long long expected, long long value) {
  return static_cast<long long>(atomicCAS(reinterpret_cast<unsigned long long*>(at),
                                          static_cast<unsigned long long>(expected),
                                          static_cast<unsigned long long>(value)));
}

__device__ void join(vertex_t* parents, vertex_t u, vertex_t v) {
  vertex_t a = parent_of(parents, u), b = parent_of(parents, v);
  while (a != b) {
    const vertex_t high = max(a, b), low = min(a, b);
    const vertex_t above = swap_if(parents + high, high, low);
    if (above == high || above == low) return;
    a = parent_of(parents, above);
    b = parent_of(parents, low);
  }
}

struct joining {
  long long num_vertices;
  long long first_place, last_place;  // the entries of each row that are joined: first_place .. last_place - 1
  vertex_t skip;                      // rows that point to this root are left out
  vertex_t* parents;
  status_word* status;

  __device__ __forceinline__ bool wants(long long row) const {
    return row < num_vertices && parent_of(parents, static_cast<vertex_t>(row)) != skip;
  }
  __device__ __forceinline__ void take(long long row, vertex_t neighbor, long long entry) const {
    if (neighbor < 0 || neighbor >= num_vertices) {
      raise_status(status, fault_bad_neighbor, entry);
    } else {
      join(parents, static_cast<vertex_t>(row), neighbor);
    }
  }
};

template <class Vertex>
__device__ void join_rows(const joining& j, const csr_rows<Vertex>& rows) {
  for (long long first = grid_warp_id() * 32; first < j.num_vertices; first += grid_warps() * 32) {
    const long long row = first + lane_id();
    const bool wanted = j.wants(row);
    const long long begin = wanted ? rows.offsets[row] + j.first_place : 0;
    const long long end = wanted ? min(rows.offsets[row + 1], rows.offsets[row] + j.last_place) : 0;
    if (end - begin <= alone) {
      for (long long entry = begin; entry < end; ++entry) j.take(row, rows.neighbor(entry), entry);
    }
    for (unsigned left = __ballot_sync(full_mask, end - begin > alone); left != 0; left &= left - 1) {
      const int owner = __ffs(static_cast<int>(left)) - 1;
      const long long row_end = __shfl_sync(full_mask, end, owner);
      for (long long entry = __shfl_sync(full_mask, begin, owner) + lane_id(); entry < row_end; entry += 32) {
        j.take(first + owner, rows.neighbor(entry), entry);
      }
      __syncwarp();
    }
  }
}

// Places count from the first entry of the row in this leaf. So for a row that spans leaves, more entries count as the
// first ones.
__device__ void join_rows(const joining& j, const page_rows& rows) {
  for (long long place = grid_warp_id(); place < rows.num_places(); place += grid_warps()) {
    const leaf_entry entry = rows.read(place);
    if (entry.there && entry.rank >= j.first_place && entry.rank < j.last_place && j.wants(entry.row())) {
      j.take(entry.row(), entry.neighbor(), place);
    }
  }
}

// Joins each row with its entries at places first_place .. last_place - 1; rows that point to `skip` are left out.
extern "C" __global__ void components_join(const ROWS::first_array* first_array, const ROWS::second_array* second_array,
                                           long long num_vertices, long long first_place, long long last_place,
                                           vertex_t skip, vertex_t* parents, status_word* status) {
  join_rows(joining{num_vertices, first_place, last_place, skip, parents, status}, ROWS(first_array, second_array));
}

// Makes every vertex point to its root. One thread per vertex.
extern "C" __global__ void components_compress(long long num_vertices, vertex_t* parents) {
  const long long threads = static_cast<long long>(gridDim.x) * blockDim.x;
  for (long long v = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; v < num_vertices; v += threads) {
    vertex_t up = parent_of(parents, static_cast<vertex_t>(v));
    for (vertex_t above = parent_of(parents, up); above != up; above = parent_of(parents, up)) up = above;
    parents[v] = up;
  }
}
