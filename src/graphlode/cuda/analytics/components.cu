// analytics/components.cu - components by union and find.
//
// Every vertex points to one that is not higher; whoever points to itself is a root. Joining two trees hangs the higher
// root below the lower one by compare and swap, so the root of a finished component is its lowest vertex whatever the
// threads did. Nobody waits for anybody: a swap that fails says what is there now, and the search goes on from it.
//
// A warp owns 32 rows: a lane walks a short row of its own, the warp a long one together. Work O(n + m) joins, most of
// which find both ends in one tree already. After Sutton, Ben-Nun and Barak, "Optimizing Parallel Graph Connectivity
// Computation via Subgraph Sampling" (IPDPS 2018).
#include "platform.cuh"
#include "status.cuh"
#include "warp.cuh"
#ifndef VERTEX_T
#error "VERTEX_T is set by the host"
#endif

constexpr long long long_row = 16;

// Pointers move while others read them; volatile, so that a loop sees them move.
__device__ __forceinline__ VERTEX_T parent_of(const VERTEX_T* parents, VERTEX_T v) {
  return static_cast<const volatile VERTEX_T*>(parents)[v];
}

__device__ __forceinline__ int swap_if(int* at, int expected, int value) { return atomicCAS(at, expected, value); }
__device__ __forceinline__ long long swap_if(long long* at, long long expected, long long value) {
  return static_cast<long long>(atomicCAS(reinterpret_cast<unsigned long long*>(at),
                                          static_cast<unsigned long long>(expected),
                                          static_cast<unsigned long long>(value)));
}

__device__ void join(VERTEX_T* parents, VERTEX_T u, VERTEX_T v) {
  VERTEX_T a = parent_of(parents, u), b = parent_of(parents, v);
  while (a != b) {
    const VERTEX_T high = max(a, b), low = min(a, b);
    const VERTEX_T above = swap_if(parents + high, high, low);
    if (above == high || above == low) return;
    a = parent_of(parents, above);
    b = parent_of(parents, low);
  }
}

// Joins each row with its entries at places first_place .. last_place - 1; rows that point to `skip` are left out.
extern "C" __global__ void components_join(const long long* offsets, const VERTEX_T* neighbors, long long num_vertices,
                                           long long first_place, long long last_place, VERTEX_T skip,
                                           VERTEX_T* parents, status_word* status) {
  const auto join_entry = [&](long long row, long long entry) {
    const VERTEX_T neighbor = neighbors[entry];
    if (neighbor < 0 || neighbor >= num_vertices) {
      raise_status(status, fault_bad_neighbor, entry);
    } else {
      join(parents, static_cast<VERTEX_T>(row), neighbor);
    }
  };
  for (long long first = grid_warp_id() * 32; first < num_vertices; first += grid_warps() * 32) {
    const long long row = first + lane_id();
    const bool wanted = row < num_vertices && parent_of(parents, static_cast<VERTEX_T>(row)) != skip;
    const long long begin = wanted ? offsets[row] + first_place : 0;
    const long long end = wanted ? min(offsets[row + 1], offsets[row] + last_place) : 0;
    if (end - begin <= long_row) {
      for (long long entry = begin; entry < end; ++entry) join_entry(row, entry);
    }
    for (unsigned left = __ballot_sync(full_mask, end - begin > long_row); left != 0; left &= left - 1) {
      const int owner = __ffs(static_cast<int>(left)) - 1;
      const long long row_end = __shfl_sync(full_mask, end, owner);
      for (long long entry = __shfl_sync(full_mask, begin, owner) + lane_id(); entry < row_end; entry += 32) {
        join_entry(first + owner, entry);
      }
      __syncwarp();
    }
  }
}

// Afterwards everybody points to a root. A thread per vertex.
extern "C" __global__ void components_compress(long long num_vertices, VERTEX_T* parents) {
  const long long threads = static_cast<long long>(gridDim.x) * blockDim.x;
  for (long long v = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; v < num_vertices; v += threads) {
    VERTEX_T up = parent_of(parents, static_cast<VERTEX_T>(v));
    for (VERTEX_T above = parent_of(parents, up); above != up; above = parent_of(parents, up)) up = above;
    parents[v] = up;
  }
}
