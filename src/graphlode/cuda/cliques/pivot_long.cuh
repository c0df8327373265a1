// cliques/pivot_long.cuh - searches on rows in global memory: below branches from the queue, until the matrix of their
// candidates is copied, and below roots whose rows are too long for shared memory.
#pragma once
#include "cliques/pivot.cuh"

// Searches below a set of at most narrow_degree neighbors of a root, which lies in memory, on the matrix of its
// members. `branches` and `pivot` are as in pivot_search::search, numbered by members.
template <class Leaves>
__device__ __forceinline__ void search_members(pivot_search<Leaves>& search, const clique_root& root,
                                               const unsigned* set, const pivot_node& node, int bottom,
                                               unsigned branches = 0, unsigned pivot = no_pivot) {
  const bool single = node.size <= 32;
  const warp_space own = search.space();
  unsigned short* places = single ? own.single_places() : own.narrow_places();
  int listed = 0;
  for (int w = 0; w < root.words; ++w) {
    const unsigned word = set[w];
    if (word >> lane_id() & 1u) places[listed + votes_below(word)] = static_cast<unsigned short>(32 * w + lane_id());
    listed += __popc(word);
  }
  __syncwarp();
  cut_out(
      places, node.size, [&](int v, int w) { return root.rows[static_cast<long long>(v) * root.words + w]; },
      single ? own.single() : own.narrow(), single ? single_stride : narrow_stride);
  if (single) {
    search.template search<1>(own.single(), single_stride, places, first_members(node.size), node, bottom, branches,
                              pivot);
  } else {
    search.search_narrow(node, bottom, branches, pivot);
  }
}

// Searches some branches of a node that another warp has evaluated. Candidates and branches are sets in memory.
template <class Leaves>
__device__ __forceinline__ void search_branches(pivot_search<Leaves>& search, const clique_root& root,
                                                const unsigned* set, const unsigned* branches, unsigned pivot,
                                                const pivot_node& node) {
  const warp_space own = search.space();
  const int lane = lane_id();
  if (root.words == 1 || (root.words <= narrow_words && node.size > 32)) {  // most of the root: copy all of it
    const unsigned mine = lane < root.words ? set[lane] : 0, apart = lane < root.words ? branches[lane] : 0;
    __syncwarp();
    copy_root(root, root.words == 1 ? own.single() : own.narrow(), root.words == 1 ? single_stride : narrow_stride);
    if (root.words == 1) {
      search.template search<1>(own.single(), single_stride, nullptr, mine, node, 0, apart, pivot);
    } else if (root.words == 2) {
      search.template search<2>(own.narrow(), narrow_stride, nullptr, mine, node, 0, apart, pivot);
    } else {
      search.template search<narrow_words>(own.narrow(), narrow_stride, nullptr, mine, node, 0, apart, pivot);
    }
    return;
  }
  unsigned* const apart = reinterpret_cast<unsigned*>(own.list());  // the list is not in use yet
  if (lane < narrow_words) apart[lane] = 0;
  __syncwarp();
  int listed = 0, pivot_at = 0;
  for (int w = 0; w < root.words; ++w) {
    const unsigned word = set[w];
    const int at = listed + votes_below(word);
    if (word & branches[w] & 1u << lane) atomicOr(&apart[at >> 5], 1u << (at & 31));
    if (w == static_cast<int>(pivot >> 5)) pivot_at = __shfl_sync(full_mask, at, static_cast<int>(pivot & 31));
    listed += __popc(word);
  }
  __syncwarp();
  const unsigned mine = lane < narrow_words ? apart[lane] : 0;
  search_members(search, root, set, node, 0, mine, pivot == no_pivot ? pivot : static_cast<unsigned>(pivot_at));
}

// A root with more neighbors than shared memory can represent. Its own rows are searched in place until a branch has at
// most narrow_degree candidates. `memory` is global: the candidates, a list of them, then frames.
template <class Leaves>
struct long_search {
  pivot_search<Leaves>& search;
  const clique_root& root;
  unsigned* memory;

  __device__ __forceinline__ unsigned* set() const { return memory; }
  __device__ __forceinline__ unsigned short* list() const {
    return reinterpret_cast<unsigned short*>(memory + root.words);
  }
  __device__ __forceinline__ int frame_words() const { return 2 * root.words + frame_header_words; }
  __device__ __forceinline__ int bottom(int level) const { return 17 * root.words + level * frame_words(); }
  __device__ __forceinline__ const unsigned* row(int place) const {
    return root.rows + static_cast<long long>(place) * root.words;
  }

  // Searches everything below the root (place -1), or below the edge to one neighbor.
  __device__ __noinline__ void run(int place) {
    const int words = root.words, lane = lane_id(), held_below = place < 0 ? 1 : 2;
    for (int w = lane; w < words; w += 32) {
      const int left = root.degree - 32 * w;
      set()[w] = place >= 0 ? row(place)[w] & bits_above(place, w) : left >= 32 ? ~0u : (1u << left) - 1u;
    }
    __syncwarp();
    pivot_node node{held_below, 0, 0};
    for (int level = 0;;) {
      int size = 0, pivot = 0;
      for (int w = lane; w < words; w += 32) size += __popc(set()[w]);
      node.size = warp_sum(size);
      if (!search.is_plain(node)) {
        if (node.size <= narrow_degree) {
          search_members(search, root, set(), node, bottom(level));
        } else if (evaluate(node, pivot)) {
          unsigned* frame = memory + bottom(level++);
          for (int w = lane; w < words; w += 32) {
            const unsigned own = w == pivot >> 5 ? 1u << (pivot & 31) : 0u;
            frame[frame_header_words + w] = set()[w];
            frame[frame_header_words + words + w] = set()[w] & ~row(pivot)[w] & ~own;
          }
          if (lane == 0) {
            frame[0] = static_cast<unsigned>(pivot);
            frame[1] = static_cast<unsigned>(node.pivots);
          }
          __syncwarp();
        }
      }
      if (level == 0) return;
      take_branch(level, node);
      node.held = held_below + level;
    }
  }

  // Like pivot_search::evaluate, for more candidates than its packed sums can hold.
  __device__ __forceinline__ bool evaluate(pivot_node& node, int& pivot) {
    const int lane = lane_id(), size = node.size, words = root.words;
    if (lane == 0) ++search.nodes;
    unsigned* const marks = search.space().marks();
    int listed = 0;
    for (int w = 0; w < words; ++w) {
      const unsigned word = set()[w];
      if (word >> lane & 1u) list()[listed + votes_below(word)] = static_cast<unsigned short>(32 * w + lane);
      listed += __popc(word);
    }
    for (int w = lane; w < words; w += 32) marks[w] = 0;
    __syncwarp();
    unsigned long long ends = 0;
    unsigned best = 0;
    int passed = 0;
    for (int i = lane; i < size; i += 32) {
      const int v = list()[i];
      int degree = 0;
      for (int w = 0; w < words; ++w) degree += __popc(set()[w] & row(v)[w]);
      ends += static_cast<unsigned>(degree);
      if (degree == size - 1) {
        ++passed;
        atomicOr(&marks[v >> 5], 1u << (v & 31));
      } else {
        best = max(best, static_cast<unsigned>(degree) << 16 | static_cast<unsigned>(v));
      }
    }
    __syncwarp();
    ends = warp_sum(ends);
    passed = warp_sum(passed);
    best = __reduce_max_sync(full_mask, best);
    const int others = size - passed;
    if (others == 0) {
      search.leaf(node.held, node.pivots + size, 1);
      return false;
    }
    if (!Leaves::all_sizes && search.k - node.held == 2) {
      search.leaf(node.held, node.pivots, 1);
      search.leaf(node.held + 1, node.pivots, static_cast<unsigned>(size));
      search.leaf(node.held + 2, 0, ends / 2);
      return false;
    }
    node.pivots += passed;
    node.size = others;
    if (static_cast<int>(best >> 16) == passed) {  // the others are pairwise nonadjacent
      search.leaf(node.held, node.pivots, 1);
      search.leaf(node.held + 1, node.pivots, static_cast<unsigned>(others));
      return false;
    }
    pivot = static_cast<int>(best & 0xffffu);
    for (int w = lane; w < words; w += 32) set()[w] &= ~marks[w];
    __syncwarp();
    return true;
  }

  // Takes the next branch of the highest frame into set(). The branch of the pivot comes last and pops the frame.
  __device__ __forceinline__ void take_branch(int& level, pivot_node& node) {
    const int words = root.words, lane = lane_id();
    unsigned* frame = memory + bottom(level - 1);
    unsigned *rest = frame + frame_header_words, *apart = rest + words;
    node.pivots = static_cast<int>(frame[1]);
    const auto [place, is_pivot] = take_place(rest, apart, words, static_cast<int>(frame[0]));
    for (int w = lane; w < words; w += 32) set()[w] = is_pivot ? rest[w] : rest[w] & row(place)[w];
    __syncwarp();
    if (is_pivot) {
      ++node.pivots;
      --level;
    }
  }
};
