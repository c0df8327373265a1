// cliques/credit.cu - k-cliques by vertex or by edge, by enumeration: every vertex or edge of a clique is credited.
//
// A block takes a root, and its warps take the root's entries. A warp searches the sets below its edge in the bit rows
// of the root. It stops two vertices early and credits in bulk: in the remaining set P, each member completes as many
// cliques as it has neighbors in P, and the path and its edges receive all of them. Credits are summed per root, by
// place, and added once to the counts of the graph.
//
// Rows as in cliques/rows.cuh, of at most 32 words. A sum below one root fits 64 bits, because more cannot be
// enumerated. Counts have `limbs` 64-bit words.
#include "cliques/matrix.cuh"
#include "cliques/rows.cuh"
#include "platform.cuh"
#include "warp.cuh"
#define BY_VERTEX 1
#define BY_EDGE 2
#if !defined(VERTEX_T) || !defined(BY)
#error "VERTEX_T and BY are set by the host"
#endif

// Only 64-bit words. cliques/credit.py relies on their order.
struct credit_work {
  unsigned long long total_low, total_high, drawn;
};

// Adds to a number of several limbs.
__device__ __forceinline__ void add_limbs(unsigned long long* number, int limbs, unsigned long long value) {
  for (int limb = 0; limb < limbs && value != 0; ++limb) {
    const unsigned long long before = atomicAdd(&number[limb], value);
    value = before + value < before ? 1 : 0;
  }
}

// The credits below one root. BY_VERTEX: one per place, and one for the root. BY_EDGE: one per pair of places (lower
// place first), and one per place for the edge to the root.
struct root_credits {
  unsigned long long* sums;
  int degree;

  __device__ __forceinline__ long long size() const {
    return BY == BY_VERTEX ? degree + 1ll : static_cast<long long>(degree) * (degree + 1);
  }
  __device__ __forceinline__ void vertex(int place, unsigned long long value) const {
    if (value != 0) atomicAdd(&sums[place], value);
  }
  __device__ __forceinline__ void root(unsigned long long value) const { vertex(degree, value); }
  __device__ __forceinline__ void root_edge(int place, unsigned long long value) const {
    vertex(degree * degree + place, value);
  }
  __device__ __forceinline__ void edge(int a, int b, unsigned long long value) const {
    vertex(min(a, b) * degree + max(a, b), value);
  }
};

// A path below a root. Lane p holds the place of its p-th vertex.
struct clique_path {
  int place, length;

  __device__ __forceinline__ int at(int p) const { return __shfl_sync(full_mask, place, p); }
};

// Credits every clique that consists of the root, a path, and `needed` (one or two) adjacent members of the set `own`.
// Returns their number. Called by all lanes of a warp.
__device__ unsigned long long credit_below(const clique_root& root, const root_credits& credits, clique_path path,
                                           unsigned own, int needed) {
  unsigned long long ends = 0;  // cliques that each member ends; with two members needed, both are counted
  for (int word = 0; word < root.words; ++word) {
    const unsigned bits = __shfl_sync(full_mask, own, word);
    if (bits == 0) continue;
    const bool mine = bits >> lane_id() & 1u;
    const int member = 32 * word + lane_id();
    unsigned below = needed == 1 && mine ? 1u : 0u;
    if (needed == 2) {
      for (int other = 0; other < root.words; ++other) {
        unsigned adjacent = __shfl_sync(full_mask, own, other);
        adjacent &= mine ? root.rows[member * root.words + other] : 0u;
        below += static_cast<unsigned>(__popc(adjacent));
        if (BY == BY_EDGE) {
          for (adjacent &= bits_above(member, other); adjacent != 0; adjacent &= adjacent - 1) {
            credits.edge(member, 32 * other + __ffs(static_cast<int>(adjacent)) - 1, 1);
          }
        }
      }
    }
    ends += below;
    if (BY == BY_VERTEX) {
      credits.vertex(member, below);
    } else {
      if (mine) credits.root_edge(member, below);
      for (int p = 0; p < path.length; ++p) {
        const int place = path.at(p);
        if (mine) credits.edge(place, member, below);
      }
    }
  }
  const unsigned long long found = warp_sum(ends) / static_cast<unsigned>(needed);
  const bool on_path = lane_id() < path.length;
  if (BY == BY_VERTEX) {
    if (on_path) credits.vertex(path.place, found);
    if (lane_id() == 0) credits.root(found);
  } else {
    if (on_path) credits.root_edge(path.place, found);
    for (int p = 0; p < path.length; ++p) {
      const int place = path.at(p);
      if (on_path && lane_id() > p) credits.edge(place, path.place, found);
    }
  }
  return found;
}

// The entry of the edge between two neighbors of a root, the lower-ranked first.
__device__ __forceinline__ long long entry_of(const clique_rows<VERTEX_T>& graph, VERTEX_T row, VERTEX_T vertex) {
  long long low = graph.offsets[row], high = graph.offsets[row + 1];
  while (low < high) {
    const long long middle = (low + high) / 2;
    if (graph.neighbors[middle] < vertex) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

// Adds the credits of a root to the counts, and clears them. Called by all threads of the block.
__device__ void flush_credits(const clique_rows<VERTEX_T>& graph, const clique_root& root, const root_credits& credits,
                              unsigned long long* counts, int limbs) {
  for (long long i = threadIdx.x; i < credits.size(); i += blockDim.x) {
    const unsigned long long value = credits.sums[i];
    if (value == 0) continue;
    credits.sums[i] = 0;
    long long target;
    if (BY == BY_VERTEX) {
      target = i == root.degree ? root.vertex : static_cast<long long>(graph.neighbors[root.begin + i]);
    } else {
      const int a = static_cast<int>(i / root.degree), b = static_cast<int>(i % root.degree);
      target = a == root.degree ? root.begin + b
                                : entry_of(graph, graph.neighbors[root.begin + a], graph.neighbors[root.begin + b]);
    }
    add_limbs(counts + target * limbs, limbs, value);
  }
}

// Credits the cliques below slots [first, last), entries [begin, end). A block of 4 warps owns one root at a time, a
// warp one entry. `scratch` has scratch_words zeros per block; `counts` has `limbs` words per vertex or entry. Dynamic
// shared memory: frames of k sets per warp.
extern "C" __global__ void __launch_bounds__(128)
    clique_credit(const long long* __restrict__ offsets, const VERTEX_T* __restrict__ neighbors,
                  const VERTEX_T* __restrict__ roots, const long long* __restrict__ slab_shifts, unsigned* slab,
                  long long first, long long last, long long begin, long long end, int k, int frame_words,
                  long long scratch_words, unsigned long long* scratch, int limbs, unsigned long long* counts,
                  credit_work* work) {
  DYN_SHARED(unsigned, memory);
  __shared__ long long drawn;
  __shared__ int next_place;
  const clique_rows<VERTEX_T> graph{offsets, neighbors, roots, slab_shifts, slab};
  unsigned* const frames = memory + warp_id() * frame_words;
  unsigned long long found = 0;  // the same in all lanes
  for (;;) {
    __syncthreads();
    if (threadIdx.x == 0) {
      drawn = first + static_cast<long long>(atomicAdd(&work->drawn, 1ull));
      next_place = 0;
    }
    __syncthreads();
    if (drawn >= last) break;
    const clique_root root = graph.at(drawn);
    const root_credits credits{scratch + blockIdx.x * scratch_words, root.degree};
    const int low = static_cast<int>(max(0ll, begin - root.begin));
    const int high = static_cast<int>(min(static_cast<long long>(root.degree), end - root.begin));
    for (;;) {
      int place = 0;
      if (lane_id() == 0) place = low + atomicAdd(&next_place, 1);
      place = __shfl_sync(full_mask, place, 0);
      if (place >= high) break;
      const unsigned own =
          lane_id() < root.words ? root.rows[place * root.words + lane_id()] & bits_above(place, lane_id()) : 0u;
      clique_path path{place, 1};  // lanes of later vertices are written before they are read
      if (k <= 4) {
        found += credit_below(root, credits, path, own, k - 2);
        continue;
      }
      walk_sets(bit_matrix{root.rows, root.words, 1}, root.words, own, branch_range{0, root.degree, 1}, k - 2, frames,
                [&](int member, unsigned child, int, int left) {
                  path.length = k - 1 - left;
                  if (lane_id() == path.length - 1) path.place = member;
                  if (left == 2) found += credit_below(root, credits, path, child, 2);
                  return left > 2;
                });
    }
    __syncthreads();
    flush_credits(graph, root, credits, counts, limbs);
  }
  if (lane_id() != 0 || found == 0) return;
  const unsigned long long before = atomicAdd(&work->total_low, found);
  if (before + found < before) atomicAdd(&work->total_high, 1ull);
}
