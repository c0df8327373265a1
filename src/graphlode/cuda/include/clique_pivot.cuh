// clique_pivot.cuh - counting cliques by pivoting, by one warp, with branches given away to others.
//
// A node has h vertices held (in every clique below it), p pivots passed (adjacent to all that follow, in a clique or
// not as one likes) and a set P of candidates; k - h = r vertices are still needed. From P a pivot of highest degree is
// chosen. Each candidate that is not adjacent to it gets a branch in which it is held, over its neighbors in P; then it
// leaves P. What is left of P goes on with the pivot passed. A node ends in a leaf when a closed form is known:
//   P empty: C(p, r); r = 1: p + |P|; r = 2: C(p, 2) + p |P| + edges of P; P a clique: C(p + |P|, r);
//   P independent: C(p, r) + |P| C(p, r - 1); P a clique less a matching of m pairs: sum of C(m, j) 2^j C(p + u, r - j)
// with u the candidates outside of the pairs. Candidates adjacent to all others are passed at once, as pivots.
// After Jain and Seshadhri, "The Power of Pivoting for Exact Clique Counting" (WSDM 2020).
//
// Lanes evaluate candidates side by side; everything else is the same in all lanes. When other warps wait for work,
// the branches of the lowest frame go into the queue; when the launch has run long enough, all do.
#pragma once
#include "clique_pivot_queue.cuh"
#include "clique_pivot_space.cuh"

constexpr int most_pairs = 39;  // sum of C(m, j) 2^j = 3^m stays below 2^63
constexpr int task_header_words = 3;
constexpr int frame_header_words = 2;
constexpr unsigned nodes_per_look = 16;  // at the queue: a look costs as much as a node
constexpr int frame_is_gone = 0xffff;    // in the place of its pivot: nothing is left of it
constexpr int fewest_needed = 3;         // vertices, in a branch that is worth giving away
constexpr int smallest_gift = 8;         // candidates of a branch that is worth giving away

// A task in the queue: slot, held, pivots, then the candidates as a set of the root's neighbors.
struct pivot_node {
  int held, pivots, size;
};

template <class Leaves>
struct pivot_search {
  Leaves leaves;
  task_queue queue;
  warp_space space;
  const unsigned long long* __restrict__ matchings;  // C(m, j) 2^j at [m * (most_pairs + 1) + j]
  int k;
  int cut_out_from;  // vertices still needed, below which a smaller matrix is not worth its making
  int give_when;     // warps that must be waiting before work is given away
  unsigned budget;   // nodes until everything is given away
  unsigned nodes;    // evaluated by this warp in this launch
  unsigned looked;   // how many there were when it last looked at the queue
  unsigned slot;     // the root that is searched, from the first of the batch
  int root_words;

  static constexpr bool all_sizes = Leaves::all_sizes;

  // ---- one node

  __device__ __forceinline__ void leaf(int held, int pivots, unsigned long long times) {
    if (lane_id() == 0) leaves.add(held, k - held, pivots, times);
  }

  // Whether a node has no cliques, or needs no look at its candidates; counts it then.
  __device__ __forceinline__ bool is_plain(const pivot_node& node) {
    const int needed = k - node.held;
    if (all_sizes) {
      if (needed != 0 && node.size > 1) return false;
      leaf(node.held, needed == 0 ? 0 : node.pivots + node.size, 1);
      return true;
    }
    if (node.pivots + node.size < needed) return true;
    if (needed != 1 && node.size > 1) return false;
    leaf(node.held, node.pivots + node.size, 1);
    return true;
  }

  // Counts a node that needs two more vertices: the edges among its candidates, each from its lower end.
  template <int W>
  __device__ __forceinline__ void count_pairs(const unsigned* matrix, int stride, const unsigned (&set)[W],
                                              const pivot_node& node) {
    const int lane = lane_id();
    unsigned edges = 0;
    if (W == 1) {
      if (set[0] >> lane & 1u) edges = static_cast<unsigned>(__popc(set[0] & matrix[lane] & ((~0u << lane) << 1)));
    } else {
      unsigned short* const list = space.list;
      list_set<W>(set, list);
      for (int i = 0; i < node.size; i += 32) {
        const int lowest = list[i] >> 5;
        const int v = i + lane < node.size ? list[i + lane] : 32 * W;
#pragma unroll
        for (int w = 0; w < W; ++w) {
          if (w < lowest) continue;  // the same for all lanes
          const unsigned row = v < 32 * W ? matrix[w * stride + v] : 0;
          edges += static_cast<unsigned>(__popc(set[w] & row & bits_above(v, w)));
        }
      }
    }
    edges = __reduce_add_sync(full_mask, edges);
    if (lane != 0) return;
    leaves.add(node.held, 2, node.pivots, 1);
    leaves.add(node.held + 1, 1, node.pivots, static_cast<unsigned>(node.size));
    leaves.add(node.held + 2, 0, 0, edges);
  }

  template <int W>
  __device__ __forceinline__ static void list_set(const unsigned (&set)[W], unsigned short* list) {
    int listed = 0;
#pragma unroll
    for (int w = 0; w < W; ++w) {
      if (set[w] >> lane_id() & 1u)
        list[listed + votes_below(set[w])] = static_cast<unsigned short>(32 * w + lane_id());
      listed += __popc(set[w]);
    }
    __syncwarp();
  }

  // Counts a node by a closed form, or strips it of universal candidates and chooses a pivot. True: it branches.
  template <int W>
  __device__ __forceinline__ bool evaluate(const unsigned* matrix, int stride, unsigned (&set)[W], pivot_node& node,
                                           int& pivot) {
    ++nodes;
    const int size = node.size, lane = lane_id(), needed = k - node.held;
    if (!all_sizes && needed == 2) {
      count_pairs<W>(matrix, stride, set, node);
      return false;
    }
    unsigned edges_and_universal = 0, best = 0;  // this lane's part
    unsigned universal = 0;
    if (W == 1) {
      if (set[0] >> lane & 1u) {
        const int degree = __popc(set[0] & matrix[lane]);
        universal = degree == size - 1 ? 1u : 0u;
        edges_and_universal = static_cast<unsigned>(degree) | universal << 20;
        if (!universal) best = static_cast<unsigned>(degree) << 10 | static_cast<unsigned>(lane);
      }
    } else {
      unsigned short* const list = space.list;
      unsigned* const marks = space.marks;
      __syncwarp();  // the marks of the node before have been read
      if (lane < W) marks[lane] = 0;
      list_set<W>(set, list);
      for (int i = lane; i < size; i += 32) {
        const int v = list[i];
        int degree = 0;
#pragma unroll
        for (int w = 0; w < W; ++w) degree += __popc(set[w] & matrix[w * stride + v]);
        edges_and_universal += static_cast<unsigned>(degree);
        if (degree == size - 1) {
          edges_and_universal += 1u << 20;
          atomicOr(&marks[v >> 5], 1u << (v & 31));
        } else {
          best = max(best, static_cast<unsigned>(degree) << 10 | static_cast<unsigned>(v));
        }
      }
    }
    edges_and_universal = __reduce_add_sync(full_mask, edges_and_universal);
    const int ends = static_cast<int>(edges_and_universal & 0xfffffu), alone = size - 1;
    const int passed = static_cast<int>(edges_and_universal >> 20), others = size - passed;
    if (others == 0) {
      leaf(node.held, node.pivots + size, 1);
      return false;
    }
    if (ends == passed * alone + others * (alone - 1) && others <= 2 * most_pairs) {
      const int pairs = others / 2;
      for (int j = lane; j <= min(pairs, needed); j += 32) {
        leaves.add(node.held + j, needed - j, node.pivots + passed, matchings[pairs * (most_pairs + 1) + j]);
      }
      return false;
    }
    node.pivots += passed;
    node.size = others;
    best = __reduce_max_sync(full_mask, best);
    if (static_cast<int>(best >> 10) == passed) {  // the others are adjacent to no other
      leaf(node.held, node.pivots, 1);
      leaf(node.held + 1, node.pivots, static_cast<unsigned>(others));
      return false;
    }
    pivot = static_cast<int>(best & 1023u);
    if (W == 1) {
      set[0] &= ~__ballot_sync(full_mask, universal);
    } else if (passed != 0) {
      __syncwarp();  // all marks are set
#pragma unroll
      for (int w = 0; w < W; ++w) set[w] &= ~space.marks[w];
    }
    return true;
  }

  // ---- the tree below a node

  // Searches below candidates `first`, word w of it in lane w: numbers of rows of the matrix. `places` are these rows'
  // among the root's neighbors, null if they are the same. Frames begin `bottom` words above the stack's bottom.
  template <int W>
  __device__ __noinline__ void search(const unsigned* matrix, int stride, const unsigned short* places, unsigned first,
                                      pivot_node node, int bottom) {
    constexpr int frame_words = 2 * W + frame_header_words;
    const int lane = lane_id(), held_below = node.held;
    unsigned set[W];
#pragma unroll
    for (int w = 0; w < W; ++w) set[w] = __shfl_sync(full_mask, first, w);
    int level = 0;
    for (;;) {
      int pivot = 0;
      if (!is_plain(node) && evaluate<W>(matrix, stride, set, node, pivot)) {
        unsigned mine = 0;
#pragma unroll
        for (int w = 0; w < W; ++w) {
          if (lane == w) mine = set[w];
        }
        const bool worth_cutting = all_sizes || k - node.held >= cut_out_from;
        if (W > 1 && worth_cutting && node.size <= (W > narrow_words ? narrow_degree : 32)) {
          if constexpr (W > 1) {
            search_within(matrix, stride, places, mine, W, node, bottom + level * frame_words);
          }
        } else {
          unsigned* frame = space.frame(bottom + level * frame_words, frame_words);
          if (lane < W) {
            unsigned apart = mine & ~matrix[lane * stride + pivot];
            if (lane == pivot >> 5) apart &= ~(1u << (pivot & 31));
            frame[lane] = mine;
            frame[W + lane] = apart;
          }
          if (lane == 0) {
            frame[2 * W] = static_cast<unsigned>(pivot);
            frame[2 * W + 1] = static_cast<unsigned>(node.pivots);
          }
          __syncwarp();
          ++level;
        }
      }
      if (level > 0 && nodes - looked >= nodes_per_look) share<W>(matrix, stride, places, held_below, bottom, level);
      while (level > 0 && is_gone<W>(bottom, level)) --level;
      if (level == 0) return;
      const unsigned next = take_branch<W>(matrix, stride, held_below, bottom, level, node);
      node.size = static_cast<int>(__reduce_add_sync(full_mask, static_cast<unsigned>(__popc(next))));
#pragma unroll
      for (int w = 0; w < W; ++w) set[w] = __shfl_sync(full_mask, next, w);
    }
  }

  template <int W>
  __device__ __forceinline__ bool is_gone(int bottom, int level) const {
    constexpr int frame_words = 2 * W + frame_header_words;
    return space.frame(bottom + (level - 1) * frame_words, frame_words)[2 * W] == frame_is_gone;
  }

  // The next branch of the highest frame, word w of its candidates in lane w. The branch of the pivot is the last; it
  // takes the frame off the stack.
  template <int W>
  __device__ __forceinline__ unsigned take_branch(const unsigned* matrix, int stride, int held_below, int bottom,
                                                  int& level, pivot_node& node) {
    const int lane = lane_id();
    unsigned* frame = space.frame(bottom + (level - 1) * (2 * W + frame_header_words), 2 * W + frame_header_words);
    unsigned rest = lane < W ? frame[lane] : 0;
    const unsigned apart = lane < W ? frame[W + lane] : 0;
    const unsigned filled = __ballot_sync(full_mask, apart != 0);
    node.pivots = static_cast<int>(frame[2 * W + 1]);
    if (filled == 0) {
      const int pivot = static_cast<int>(frame[2 * W]);
      if (lane == pivot >> 5) rest &= ~(1u << (pivot & 31));
      ++node.pivots;
      --level;
      node.held = held_below + level;
      __syncwarp();
      return rest;
    }
    const int word = __ffs(static_cast<int>(filled)) - 1;
    const int bit = __ffs(static_cast<int>(__shfl_sync(full_mask, apart, word))) - 1;
    if (lane == word) {
      rest &= ~(1u << bit);
      frame[lane] = rest;
      frame[W + lane] = apart & (apart - 1);
    }
    __syncwarp();
    node.held = held_below + level;
    return lane < W ? rest & matrix[lane * stride + 32 * word + bit] : 0;
  }

  // Goes on with the matrix among at most narrow_degree candidates.
  __device__ __forceinline__ void search_within(const unsigned* matrix, int stride, const unsigned short* places,
                                                unsigned set, int words, pivot_node node, int bottom) {
    if (node.size <= 32) {
      search_single(matrix, stride, places, set, words, node, bottom);
      return;
    }
    if (words <= narrow_words) return;  // never: such a matrix is in space.narrow already
    list_members(set, words, space.narrow_places);
    cut_out(
        space.narrow_places, node.size, [&](int v, int w) { return matrix[w * stride + v]; }, space.narrow,
        narrow_stride);
    name_places(space.narrow_places, node.size, places);
    search_narrow(node, bottom);
  }

  __device__ __noinline__ void search_single(const unsigned* matrix, int stride, const unsigned short* places,
                                             unsigned set, int words, pivot_node node, int bottom) {
    list_members(set, words, space.single_places);
    cut_out(
        space.single_places, node.size, [&](int v, int w) { return matrix[w * stride + v]; }, space.single,
        single_stride);
    name_places(space.single_places, node.size, places);
    search<1>(space.single, single_stride, space.single_places, first_members(node.size), node, bottom);
  }

  // Searches the rows that lie in space.narrow.
  __device__ __forceinline__ void search_narrow(pivot_node node, int bottom) {
    const unsigned set = first_members(node.size);
    if (node.size <= 64) {
      search<2>(space.narrow, narrow_stride, space.narrow_places, set, node, bottom);
    } else {
      search<narrow_words>(space.narrow, narrow_stride, space.narrow_places, set, node, bottom);
    }
  }

  __device__ __forceinline__ void name_places(unsigned short* list, int size, const unsigned short* places) {
    if (places != nullptr) {
      for (int i = lane_id(); i < size; i += 32) list[i] = places[list[i]];
    }
    __syncwarp();
  }

  // ---- sharing

  __device__ __forceinline__ bool leaving() const { return nodes >= budget; }

  // Gives branches of the lowest frame away if somebody waits for them, or all branches if the launch is to end.
  template <int W>
  __device__ __noinline__ void share(const unsigned* matrix, int stride, const unsigned short* places, int held_below,
                                     int bottom, int& level) {
    looked = nodes;
    int wanted = 0, used_up = 0;
    if (lane_id() == 0) {
      wanted = queue.hungry() >= give_when ? 1 : 0;
      used_up = load_fresh(&queue.state->givers) > queue.capacity / 2 ? 1 : 0;  // the rest is for leaving
    }
    if (__shfl_sync(full_mask, used_up, 0)) budget = 0;
    if (leaving()) {
      // The lowest first: should the queue be full, what is left to this warp is small.
      for (int height = 1; height <= level; ++height) {
        give_frame<W>(matrix, stride, places, held_below, bottom, height, 0);
      }
      return;
    }
    if (!__shfl_sync(full_mask, wanted, 0)) return;
    for (int height = 1; height <= level; ++height) {
      if (!all_sizes && k - (held_below + height) < fewest_needed) return;  // such branches are soon done
      if (give_frame<W>(matrix, stride, places, held_below, bottom, height, smallest_gift)) return;
    }
  }

  // Gives away the branches of one frame that have at least `smallest` candidates and fit a warp; with no such limit,
  // the branch of the pivot, too. What the queue does not take stays in the frame.
  template <int W>
  __device__ __forceinline__ bool give_frame(const unsigned* matrix, int stride, const unsigned short* places,
                                             int held_below, int bottom, int height, int smallest) {
    constexpr int frame_words = 2 * W + frame_header_words;
    const int lane = lane_id();
    unsigned* frame = space.frame(bottom + (height - 1) * frame_words, frame_words);
    unsigned rest = lane < W ? frame[lane] : 0, apart = lane < W ? frame[W + lane] : 0, left = apart;
    const int pivot = static_cast<int>(frame[2 * W]);
    pivot_node node{held_below + height, static_cast<int>(frame[2 * W + 1]), 0};
    if (pivot == frame_is_gone) return false;
    bool given = false;
    for (unsigned filled; (filled = __ballot_sync(full_mask, left != 0)) != 0;) {
      const int word = __ffs(static_cast<int>(filled)) - 1;
      const int bit = __ffs(static_cast<int>(__shfl_sync(full_mask, left, word))) - 1;
      if (lane == word) left &= left - 1;
      const unsigned set = lane < W ? rest & matrix[lane * stride + 32 * word + bit] : 0;
      node.size = static_cast<int>(__reduce_add_sync(full_mask, static_cast<unsigned>(__popc(set))));
      if (node.size < smallest || node.size > narrow_degree) continue;
      if (!give<W>(places, set, node)) break;
      given = true;
      if (lane == word) {  // in whatever order branches are taken, each leaves the candidates of those that follow
        rest &= ~(1u << bit);
        apart &= ~(1u << bit);
      }
    }
    if (smallest == 0 && !__any_sync(full_mask, apart != 0)) {
      unsigned set = rest;
      if (lane == pivot >> 5) set &= ~(1u << (pivot & 31));
      node.held = held_below + height - 1;
      ++node.pivots;
      node.size = static_cast<int>(__reduce_add_sync(full_mask, static_cast<unsigned>(__popc(set))));
      if (node.size <= narrow_degree && give<W>(places, set, node)) {
        given = true;
        if (lane == 0) frame[2 * W] = static_cast<unsigned>(frame_is_gone);
      }
    }
    if (lane < W) {
      frame[lane] = rest;
      frame[W + lane] = apart;
    }
    __syncwarp();
    return given;
  }

  // Puts a node into the queue, its candidates numbered as the root's neighbors are.
  template <int W>
  __device__ __forceinline__ bool give(const unsigned short* places, unsigned set, const pivot_node& node) {
    for (int w = lane_id(); w < root_words; w += 32) space.marks[w] = places == nullptr && w < W ? set : 0;
    __syncwarp();
    if (places != nullptr) {
#pragma unroll
      for (int w = 0; w < W; ++w) {
        if (__shfl_sync(full_mask, set, w) >> lane_id() & 1u) {
          const int place = places[32 * w + lane_id()];
          atomicOr(&space.marks[place >> 5], 1u << (place & 31));
        }
      }
      __syncwarp();
    }
    const bool taken = queue.give([&](int i) {
      if (i >= task_header_words) return i - task_header_words < root_words ? space.marks[i - task_header_words] : 0u;
      return i == 0 ? slot : static_cast<unsigned>(i == 1 ? node.held : node.pivots);
    });
    __syncwarp();
    return taken;
  }
};
