// cliques/pivot.cuh - counts cliques by pivoting with one warp, which can give branches to other warps.
//
// cliques/pivot_nodes.cuh describes a node and when it is a leaf. Any other node has a pivot. Each candidate that is
// not adjacent to the pivot is a branch, and the last branch is that of the pivot itself.
//
// All lanes hold the same state. When other warps wait for work, branches of the lowest frame go into the queue. When
// the launch has run long enough, all branches do.
//
// The state of a search lies in the warp's shared memory, not in the local memory of its 32 threads, which would not
// fit any cache. Lane 0 writes it.
#pragma once
#include "cliques/pivot_nodes.cuh"
#include "cliques/pivot_queue.cuh"

// A task in the queue: the root's slot, held, pivots, the pivot's place; then candidates and branches, both as sets. A
// task without branches is a node to be evaluated. A task with branches is a frame of which only these branches are to
// be searched.
constexpr int task_header_words = 4;
constexpr int frame_header_words = 2;
constexpr unsigned no_pivot = 0xffff;  // in place of a pivot: its branch is not, or no longer, part of this frame
constexpr unsigned nodes_per_look = 16,
                   nodes_per_hungry_look = 4;  // between reads of the queue, which cost as much as a node
constexpr int branches_to_cut_out = 8;  // of a node with rows of two words: with fewer, a one-word matrix does not pay
constexpr int fewest_needed = 3;        // vertices needed in a branch that is worth giving away
constexpr int smallest_gift = 16;       // candidates of branches that are worth giving away together
constexpr int candidates_of_leaf = 2;   // weight of a branch that needs at most fewest_needed: it is a single node

template <class Leaves>
struct pivot_search : pivot_counter<Leaves> {
  using counter = pivot_counter<Leaves>;
  using counter::all_sizes, counter::is_plain, counter::k, counter::nodes, counter::root_words, counter::space;

  task_queue queue;
  unsigned* overflow;  // frames that do not fit the stack, in global memory
  int cut_out_from;    // with fewer vertices still needed, a smaller matrix does not pay
  int give_when;       // number of waiting warps from which on work is given away
  unsigned budget;     // number of nodes after which everything is given away
  unsigned next_look;  // number of nodes at which to read the queue again
  unsigned slot;       // the root that is searched, counted from the first of the batch

  // A frame of `size` words that begins `offset` words above the bottom of the stack.
  __device__ __forceinline__ unsigned* frame_at(int offset, int size) const {
    return offset + size <= stack_words ? space().stack() + offset : overflow + offset;
  }
  __device__ __forceinline__ void begin(unsigned at_slot, int words, unsigned look_after = nodes_per_look) {
    __syncwarp();  // all lanes are done with the previous root
    if (lane_id() == 0) {
      slot = at_slot;
      root_words = words;
      next_look = min(next_look, nodes + look_after);
    }
    __syncwarp();
  }

  // ---- the tree below a node

  // Searches below the candidates `first` (word w in lane w), which are row numbers of the matrix. `places` maps rows
  // to places among the root's neighbors; null if they are equal. Frames begin `bottom` words above the bottom of the
  // stack. If `branches` is given, the node has been evaluated by another warp and only these branches are searched;
  // `pivot` is its pivot, or no_pivot.
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
      __syncwarp();  // wait until lane 0 has counted the node
      if (level > 0 && nodes >= next_look) share<W>(matrix, stride, places, held_below, bottom, level);
      while (level > 0 && is_gone<W>(bottom, level)) --level;
      if (level == 0) return;
      const unsigned next = take_branch<W>(matrix, stride, held_below, bottom, level, node);
      node.size = static_cast<int>(__reduce_add_sync(full_mask, static_cast<unsigned>(__popc(next))));
#pragma unroll
      for (int w = 0; w < W; ++w) set[w] = __shfl_sync(full_mask, next, w);
    }
  }

  // Pushes a frame: candidates, those of them with a branch of their own, the pivot, and the number of pivots passed.
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

  // Whether nothing is left of the highest frame: all of it was given away or never belonged to it.
  template <int W>
  __device__ __forceinline__ bool is_gone(int bottom, int level) const {
    constexpr int frame_words = 2 * W + frame_header_words;
    const unsigned* frame = frame_at(bottom + (level - 1) * frame_words, frame_words);
    if (frame[2 * W] != no_pivot) return false;
    return !__any_sync(full_mask, lane_id() < W && frame[W + lane_id()] != 0);
  }

  // Takes the next branch of the highest frame; word w of its candidates is in lane w. The branch of the pivot comes
  // last and pops the frame.
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

  // Continues with the matrix of at most narrow_degree candidates.
  __device__ __forceinline__ void search_within(const unsigned* matrix, int stride, const unsigned short* places,
                                                unsigned set, int words, pivot_node node, int bottom) {
    if (node.size <= 32) {
      search_single(matrix, stride, places, set, words, node, bottom);
      return;
    }
    if (words <= narrow_words) return;  // cannot happen: this is the narrow matrix already
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

  // Searches the rows in the warp's narrow matrix.
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
    __syncwarp();  // wait until lane 0 has counted
    return nodes >= budget;
  }

  // Gives away branches of the lowest frame if warps wait for them, or all branches if the launch must end. Giving
  // branches away before any warp waits was measured: it costs more than it saves at the end.
  template <int W>
  __device__ __noinline__ void share(const unsigned* matrix, int stride, const unsigned short* places, int held_below,
                                     int bottom, int level) {
    assume_shared(this);
    assume_shared(matrix);
    int hungry = 0;
    __syncwarp();  // all lanes have compared `nodes` with next_look
    if (lane_id() == 0) {
      const drawn_places drawn = queue.drawn();
      hungry = drawn.hungry();
      next_look = nodes + (hungry >= give_when ? nodes_per_hungry_look : nodes_per_look);
      if (drawn.givers > queue.capacity / 2) budget = 0;  // the rest of the list is kept for leaving
    }
    if (leaving()) {
      // The lowest frames first: if the queue fills up, this warp keeps the small ones.
      for (int height = 1; height <= level; ++height) {
        give_frame<W>(matrix, stride, places, held_below, bottom, height, 0, all_of_it);
      }
      return;
    }
    const int wanted = __shfl_sync(full_mask, hungry, 0) - give_when + 1;
    if (wanted <= 0) return;
    for (int height = 1; height <= level; ++height) {
      if (!all_sizes && k - (held_below + height) < fewest_needed) return;  // such branches end soon
      if (give_frame<W>(matrix, stride, places, held_below, bottom, height, smallest_gift, wanted)) return;
    }
  }

  // Gives away branches of one frame, in up to `most` gifts. A gift is one branch, or several branches with at least
  // `smallest` candidates together if the frame fits a warp's matrix. Branches that the queue refuses stay in the
  // frame. The branch of the pivot stays too, unless the whole frame is to be given away.
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
      const unsigned before = rest & ~together;  // branches taken earlier are no longer candidates; any order is valid
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

  // Puts a node, or some of its branches, into the queue. Candidates are numbered by their places among the root's
  // neighbors.
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
