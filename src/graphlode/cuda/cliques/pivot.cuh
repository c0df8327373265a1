// cliques/pivot.cuh - counting cliques by pivoting, by one warp, with branches given away to others.
//
// What a node is, and which nodes are leaves, is told in cliques/pivot_nodes.cuh. A node that is none has a pivot; each
// of its candidates that is not adjacent to the pivot is a branch, and the last branch is that of the pivot itself.
//
// Everything is the same in all lanes. When other warps wait for work, the branches of the lowest frame go into the
// queue; when the launch has run long enough, all do.
//
// What a search knows lies in the warp's shared memory, not in the local memory of its 32 threads: that would not fit
// any cache. Lane 0 writes it.
#pragma once
#include "cliques/pivot_nodes.cuh"
#include "cliques/pivot_queue.cuh"

// A task in the queue: the root's slot, held, pivots, the pivot's place; then candidates and branches, both as sets.
// One without branches is a node, to be evaluated; otherwise it is a frame, and only these branches of it are to be
// taken.
constexpr int task_header_words = 4;
constexpr int frame_header_words = 2;
constexpr unsigned no_pivot = 0xffff;  // instead of a pivot's place: its branch is not of this frame (any more)
constexpr unsigned nodes_per_look = 16, nodes_per_hungry_look = 4;  // at the queue: a look costs as much as a node
constexpr int branches_to_cut_out = 8;  // of a node with rows of two words, or one word is not worth its making
constexpr int fewest_needed = 3;        // vertices, in a branch that is worth giving away
constexpr int smallest_gift = 16;       // candidates of branches that are worth giving away together
constexpr int candidates_of_leaf = 2;  // what a branch counts for that needs no more than fewest_needed: it is one node

template <class Leaves>
struct pivot_search : pivot_counter<Leaves> {
  using counter = pivot_counter<Leaves>;
  using counter::all_sizes, counter::is_plain, counter::k, counter::nodes, counter::root_words, counter::space;

  task_queue queue;
  unsigned* overflow;  // frames that the stack has no room for, in global memory
  int cut_out_from;    // vertices still needed, below which a smaller matrix is not worth its making
  int give_when;       // warps that must be waiting before work is given away
  unsigned budget;     // nodes until everything is given away
  unsigned next_look;  // at the queue, when there are so many nodes
  unsigned slot;       // the root that is searched, from the first of the batch

  // A frame of `size` words that begins `offset` words above the bottom of the stack.
  __device__ __forceinline__ unsigned* frame_at(int offset, int size) const {
    return offset + size <= stack_words ? space().stack() + offset : overflow + offset;
  }
  __device__ __forceinline__ void begin(unsigned at_slot, int words, unsigned look_after = nodes_per_look) {
    __syncwarp();  // nobody looks at the root before any more
    if (lane_id() == 0) {
      slot = at_slot;
      root_words = words;
      next_look = min(next_look, nodes + look_after);
    }
    __syncwarp();
  }

  // ---- the tree below a node

  // Searches below candidates `first`, word w of it in lane w: numbers of rows of the matrix. `places` are these rows'
  // among the root's neighbors, null if they are the same. Frames begin `bottom` words above the stack's bottom. With
  // `branches` only they are searched, below a node that somebody else has evaluated; `pivot` is its pivot, or none.
  template <int W>
  __device__ __noinline__ void search(const unsigned* matrix, int stride, const unsigned short* places, unsigned first,
                                      pivot_node node, int bottom, unsigned branches = 0, unsigned pivot = no_pivot) {
    constexpr int frame_words = 2 * W + frame_header_words;
    assume_shared(this);
    assume_shared(matrix);
    const int lane = lane_id(), held_below = node.held;
    unsigned set[W];
    int level = 0;
    if (__any_sync(full_mask, branches != 0)) {
      push_frame<W>(bottom, first, branches, pivot, node.pivots);
      level = 1;
    } else {
#pragma unroll
      for (int w = 0; w < W; ++w) set[w] = __shfl_sync(full_mask, first, w);
    }
    for (bool evaluated = level > 0;; evaluated = false) {
      int best = 0, apart_of_best = 0;
      if (!evaluated && !is_plain(node) && this->template evaluate<W>(matrix, stride, set, node, best, apart_of_best)) {
        unsigned mine = 0;
#pragma unroll
        for (int w = 0; w < W; ++w) {
          if (lane == w) mine = set[w];
        }
        const bool worth_cutting =
            (all_sizes || k - node.held >= cut_out_from) && (W != 2 || apart_of_best >= branches_to_cut_out);
        if (W > 1 && worth_cutting && node.size <= (W > narrow_words ? narrow_degree : 32)) {
          if constexpr (W > 1) {
            search_within(matrix, stride, places, mine, W, node, bottom + level * frame_words);
          }
        } else {
          unsigned apart = 0;
          if (lane < W) {
            apart = mine & ~matrix[lane * stride + best];
            if (lane == best >> 5) apart &= ~(1u << (best & 31));
          }
          push_frame<W>(bottom + level * frame_words, mine, apart, static_cast<unsigned>(best), node.pivots);
          ++level;
        }
      }
      __syncwarp();  // lane 0 has counted the node
      if (level > 0 && nodes >= next_look) share<W>(matrix, stride, places, held_below, bottom, level);
      while (level > 0 && is_gone<W>(bottom, level)) --level;
      if (level == 0) return;
      const unsigned next = take_branch<W>(matrix, stride, held_below, bottom, level, node);
      node.size = static_cast<int>(__reduce_add_sync(full_mask, static_cast<unsigned>(__popc(next))));
#pragma unroll
      for (int w = 0; w < W; ++w) set[w] = __shfl_sync(full_mask, next, w);
    }
  }

  // A frame: candidates, of them those with branches of their own, the pivot, and the pivots passed.
  template <int W>
  __device__ __forceinline__ void push_frame(int offset, unsigned rest, unsigned apart, unsigned pivot, int pivots) {
    unsigned* frame = frame_at(offset, 2 * W + frame_header_words);
    if (lane_id() < W) {
      frame[lane_id()] = rest;
      frame[W + lane_id()] = apart;
    }
    if (lane_id() == 0) {
      frame[2 * W] = pivot;
      frame[2 * W + 1] = static_cast<unsigned>(pivots);
    }
    __syncwarp();
  }

  // Whether nothing is left of the highest frame: all is given away, or was never its own.
  template <int W>
  __device__ __forceinline__ bool is_gone(int bottom, int level) const {
    constexpr int frame_words = 2 * W + frame_header_words;
    const unsigned* frame = frame_at(bottom + (level - 1) * frame_words, frame_words);
    if (frame[2 * W] != no_pivot) return false;
    return !__any_sync(full_mask, lane_id() < W && frame[W + lane_id()] != 0);
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
  __device__ __forceinline__ void search_narrow(pivot_node node, int bottom, unsigned branches = 0,
                                                unsigned pivot = no_pivot) {
    const unsigned set = first_members(node.size);
    const warp_space own = space();
    if (node.size <= 64) {
      search<2>(own.narrow(), narrow_stride, own.narrow_places(), set, node, bottom, branches, pivot);
    } else {
      search<narrow_words>(own.narrow(), narrow_stride, own.narrow_places(), set, node, bottom, branches, pivot);
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

  // Gives branches of the lowest frame away if somebody waits for them, or all branches if the launch is to end. Giving
  // them away before anybody waits was tried: it costs more than the shorter end saves.
  template <int W>
  __device__ __noinline__ void share(const unsigned* matrix, int stride, const unsigned short* places, int held_below,
                                     int bottom, int level) {
    assume_shared(this);
    assume_shared(matrix);
    int hungry = 0;
    __syncwarp();  // all have seen that it is time
    if (lane_id() == 0) {
      const drawn_places drawn = queue.drawn();
      hungry = drawn.hungry();
      next_look = nodes + (hungry >= give_when ? nodes_per_hungry_look : nodes_per_look);
      if (drawn.givers > queue.capacity / 2) budget = 0;  // the rest of the list is for leaving
    }
    if (leaving()) {
      // The lowest first: should the queue be full, what is left to this warp is small.
      for (int height = 1; height <= level; ++height) {
        give_frame<W>(matrix, stride, places, held_below, bottom, height, 0, all_of_it);
      }
      return;
    }
    const int wanted = __shfl_sync(full_mask, hungry, 0) - give_when + 1;
    if (wanted <= 0) return;
    for (int height = 1; height <= level; ++height) {
      if (!all_sizes && k - (held_below + height) < fewest_needed) return;  // such branches are soon done
      if (give_frame<W>(matrix, stride, places, held_below, bottom, height, smallest_gift, wanted)) return;
    }
  }

  // Gives away branches of one frame, in up to `most` gifts: a branch that fits a warp, or several that have at least
  // `smallest` candidates together, from a frame that does. What the queue does not take stays in the frame, and so
  // does the branch of the pivot unless all of it is to be given.
  template <int W>
  __device__ __forceinline__ bool give_frame(const unsigned* matrix, int stride, const unsigned short* places,
                                             int held_below, int bottom, int height, int smallest, int most) {
    constexpr int frame_words = 2 * W + frame_header_words;
    const int lane = lane_id();
    unsigned* frame = frame_at(bottom + (height - 1) * frame_words, frame_words);
    unsigned rest = lane < W ? frame[lane] : 0, apart = lane < W ? frame[W + lane] : 0, left = apart;
    const unsigned pivot = frame[2 * W];
    pivot_node node{held_below + height - 1, static_cast<int>(frame[2 * W + 1]), 0};
    const bool whole_frames = W <= narrow_words || warp_sum(__popc(rest)) <= narrow_degree;
    if (whole_frames && most == all_of_it) {
      const bool given =
          (__any_sync(full_mask, left != 0) || pivot != no_pivot) && give<W>(places, rest, apart, pivot, node);
      if (given && lane < W) frame[W + lane] = 0;
      if (given && lane == 0) frame[2 * W] = no_pivot;
      __syncwarp();
      return given;
    }
    unsigned together = 0;  // branches of the next gift
    int gifts = 0, weight = 0, branches = 0;
    while (gifts < most) {
      const unsigned filled = __ballot_sync(full_mask, left != 0);
      if (filled == 0) break;
      const int word = __ffs(static_cast<int>(filled)) - 1;
      const int bit = __ffs(static_cast<int>(__shfl_sync(full_mask, left, word))) - 1;
      if (lane == word) left &= left - 1;
      const unsigned before = rest & ~together;  // in whatever order branches are taken, each leaves the candidates
      const unsigned set = lane < W ? before & matrix[lane * stride + 32 * word + bit] : 0;
      const int size = warp_sum(__popc(set));
      if (!whole_frames) {
        if (size < smallest || size > narrow_degree) continue;
        if (!give<W>(places, set, 0, no_pivot, {node.held + 1, node.pivots, 0})) break;
        ++gifts;
        if (lane == word) rest &= ~(1u << bit), apart &= ~(1u << bit);
        continue;
      }
      if (lane == word) together |= 1u << bit;
      ++branches;
      weight += !all_sizes && k - node.held - 1 <= fewest_needed ? candidates_of_leaf : size;
      if (weight < smallest) continue;
      if (!(branches == 1 ? give<W>(places, set, 0, no_pivot, {node.held + 1, node.pivots, 0})
                          : give<W>(places, rest, together, no_pivot, node))) {
        break;
      }
      ++gifts;
      rest &= ~together;
      apart &= ~together;
      together = 0;
      weight = branches = 0;
    }
    if (smallest == 0 && pivot != no_pivot && !__any_sync(full_mask, apart != 0)) {
      unsigned set = rest;
      if (lane == static_cast<int>(pivot >> 5)) set &= ~(1u << (pivot & 31));
      if (warp_sum(__popc(set)) <= narrow_degree &&
          give<W>(places, set, 0, no_pivot, {node.held, node.pivots + 1, 0})) {
        ++gifts;
        if (lane == 0) frame[2 * W] = no_pivot;
      }
    }
    if (lane < W) {
      frame[lane] = rest;
      frame[W + lane] = apart;
    }
    __syncwarp();
    return gifts > 0;
  }

  static constexpr int all_of_it = 0x7fffffff;

  // Puts a node, or some branches of it, into the queue, its candidates numbered as the root's neighbors are.
  template <int W>
  __device__ __forceinline__ bool give(const unsigned short* places, unsigned set, unsigned branches, unsigned pivot,
                                       const pivot_node& node) {
    unsigned* const marks = space().marks();
    mark<W>(places, set, marks);
    mark<W>(places, branches, marks + root_words);
    if (places != nullptr && pivot != no_pivot) pivot = places[pivot];
    __syncwarp();
    const bool taken = queue.give([&](int i) {
      if (i >= task_header_words) return i - task_header_words < 2 * root_words ? marks[i - task_header_words] : 0u;
      return i == 0 ? slot : i == 3 ? pivot : static_cast<unsigned>(i == 1 ? node.held : node.pivots);
    });
    __syncwarp();
    return taken;
  }

  template <int W>
  __device__ __forceinline__ void mark(const unsigned short* places, unsigned set, unsigned* marks) const {
    for (int w = lane_id(); w < root_words; w += 32) marks[w] = places == nullptr && w < W ? set : 0;
    if (places == nullptr) return;
    __syncwarp();
#pragma unroll
    for (int w = 0; w < W; ++w) {
      if (__shfl_sync(full_mask, set, w) >> lane_id() & 1u) {
        const int place = places[32 * w + lane_id()];
        atomicOr(&marks[place >> 5], 1u << (place & 31));
      }
    }
  }
};
