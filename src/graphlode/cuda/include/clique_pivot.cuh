// clique_pivot.cuh - counting cliques by pivoting, by one warp, with branches given away to others.
//
// What a node is, and which nodes are leaves, is told in clique_pivot_nodes.cuh. A node that is none has a pivot; each
// of its candidates that is not adjacent to the pivot is a branch, and the last branch is that of the pivot itself.
//
// Everything is the same in all lanes. When other warps wait for work, the branches of the lowest frame go into the
// queue; when the launch has run long enough, all do.
//
// What a search knows lies in the warp's shared memory, not in the local memory of its 32 threads: that would not fit
// any cache. Lane 0 writes it.
#pragma once
#include "clique_pivot_nodes.cuh"
#include "clique_pivot_queue.cuh"

constexpr int task_header_words = 3;  // of a task in the queue: slot, held, pivots; then the candidates as a set
constexpr int frame_header_words = 2;
constexpr unsigned nodes_per_look = 16;  // at the queue: a look costs as much as a node
constexpr int frame_is_gone = 0xffff;    // in the place of its pivot: nothing is left of it
constexpr int fewest_needed = 3;         // vertices, in a branch that is worth giving away
constexpr int smallest_gift = 8;         // candidates of a branch that is worth giving away

template <class Leaves>
struct pivot_search : pivot_counter<Leaves> {
  using counter = pivot_counter<Leaves>;
  using counter::all_sizes, counter::is_plain, counter::k, counter::nodes, counter::root_words, counter::space;

  task_queue queue;
  unsigned* overflow;  // frames that the stack has no room for, in global memory
  int cut_out_from;    // vertices still needed, below which a smaller matrix is not worth its making
  int give_when;       // warps that must be waiting before work is given away
  unsigned budget;     // nodes until everything is given away
  unsigned looked;     // how many there were when it last looked at the queue
  unsigned slot;       // the root that is searched, from the first of the batch

  // A frame of `size` words that begins `offset` words above the bottom of the stack.
  __device__ __forceinline__ unsigned* frame_at(int offset, int size) const {
    return offset + size <= stack_words ? space().stack() + offset : overflow + offset;
  }
  __device__ __forceinline__ void begin(unsigned at_slot, int words) {
    __syncwarp();  // nobody looks at the root before any more
    if (lane_id() == 0) {
      slot = at_slot;
      root_words = words;
    }
    __syncwarp();
  }

  // ---- the tree below a node

  // Searches below candidates `first`, word w of it in lane w: numbers of rows of the matrix. `places` are these rows'
  // among the root's neighbors, null if they are the same. Frames begin `bottom` words above the stack's bottom.
  template <int W>
  __device__ __noinline__ void search(const unsigned* matrix, int stride, const unsigned short* places, unsigned first,
                                      pivot_node node, int bottom) {
    constexpr int frame_words = 2 * W + frame_header_words;
    assume_shared(this);
    assume_shared(matrix);
    const int lane = lane_id(), held_below = node.held;
    unsigned set[W];
#pragma unroll
    for (int w = 0; w < W; ++w) set[w] = __shfl_sync(full_mask, first, w);
    int level = 0;
    for (;;) {
      int pivot = 0;
      if (!is_plain(node) && this->template evaluate<W>(matrix, stride, set, node, pivot)) {
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
          unsigned* frame = frame_at(bottom + level * frame_words, frame_words);
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
      __syncwarp();  // lane 0 has counted the node
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
    return frame_at(bottom + (level - 1) * frame_words, frame_words)[2 * W] == frame_is_gone;
  }

  // The next branch of the highest frame, word w of its candidates in lane w. The branch of the pivot is the last; it
  // takes the frame off the stack.
  template <int W>
  __device__ __forceinline__ unsigned take_branch(const unsigned* matrix, int stride, int held_below, int bottom,
                                                  int& level, pivot_node& node) {
    const int lane = lane_id();
    constexpr int frame_words = 2 * W + frame_header_words;
    unsigned* frame = frame_at(bottom + (level - 1) * frame_words, frame_words);
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
    if (words <= narrow_words) return;  // never: such a matrix is the narrow one already
    const warp_space own = space();
    list_members(set, words, own.narrow_places());
    cut_out(
        own.narrow_places(), node.size, [&](int v, int w) { return matrix[w * stride + v]; }, own.narrow(),
        narrow_stride);
    name_places(own.narrow_places(), node.size, places);
    search_narrow(node, bottom);
  }

  __device__ __noinline__ void search_single(const unsigned* matrix, int stride, const unsigned short* places,
                                             unsigned set, int words, pivot_node node, int bottom) {
    assume_shared(this);
    assume_shared(matrix);
    const warp_space own = space();
    list_members(set, words, own.single_places());
    cut_out(
        own.single_places(), node.size, [&](int v, int w) { return matrix[w * stride + v]; }, own.single(),
        single_stride);
    name_places(own.single_places(), node.size, places);
    search<1>(own.single(), single_stride, own.single_places(), first_members(node.size), node, bottom);
  }

  // Searches the rows that lie in the warp's narrow matrix.
  __device__ __forceinline__ void search_narrow(pivot_node node, int bottom) {
    const unsigned set = first_members(node.size);
    const warp_space own = space();
    if (node.size <= 64) {
      search<2>(own.narrow(), narrow_stride, own.narrow_places(), set, node, bottom);
    } else {
      search<narrow_words>(own.narrow(), narrow_stride, own.narrow_places(), set, node, bottom);
    }
  }

  __device__ __forceinline__ void name_places(unsigned short* list, int size, const unsigned short* places) {
    if (places != nullptr) {
      for (int i = lane_id(); i < size; i += 32) list[i] = places[list[i]];
    }
    __syncwarp();
  }

  // ---- sharing

  __device__ __forceinline__ bool leaving() const {
    __syncwarp();  // lane 0 has counted
    return nodes >= budget;
  }

  // Gives branches of the lowest frame away if somebody waits for them, or all branches if the launch is to end.
  template <int W>
  __device__ __noinline__ void share(const unsigned* matrix, int stride, const unsigned short* places, int held_below,
                                     int bottom, int& level) {
    assume_shared(this);
    assume_shared(matrix);
    int wanted = 0;
    __syncwarp();  // all have seen that it is time
    if (lane_id() == 0) {
      looked = nodes;
      wanted = queue.hungry() >= give_when ? 1 : 0;
      if (load_fresh(&queue.state->givers) > queue.capacity / 2) budget = 0;  // the rest of the list is for leaving
    }
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
    unsigned* frame = frame_at(bottom + (height - 1) * frame_words, frame_words);
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
    unsigned* const marks = space().marks();
    for (int w = lane_id(); w < root_words; w += 32) marks[w] = places == nullptr && w < W ? set : 0;
    __syncwarp();
    if (places != nullptr) {
#pragma unroll
      for (int w = 0; w < W; ++w) {
        if (__shfl_sync(full_mask, set, w) >> lane_id() & 1u) {
          const int place = places[32 * w + lane_id()];
          atomicOr(&marks[place >> 5], 1u << (place & 31));
        }
      }
      __syncwarp();
    }
    const bool taken = queue.give([&](int i) {
      if (i >= task_header_words) return i - task_header_words < root_words ? marks[i - task_header_words] : 0u;
      return i == 0 ? slot : static_cast<unsigned>(i == 1 ? node.held : node.pivots);
    });
    __syncwarp();
    return taken;
  }
};
