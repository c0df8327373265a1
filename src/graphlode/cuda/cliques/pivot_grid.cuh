// cliques/pivot_grid.cuh - a grid of warps that counts below all roots of a batch, from the heaviest to the lightest.
//
// A root of up to narrow_degree neighbors belongs to one warp. A larger root needs more shared memory than a warp has,
// so its matrix lies in the block's `region`, and free warps of the block take its first branches. No warp waits for
// another of its block: the warp that finds the region empty fills it, and the last one to leave releases it. A warp
// that finds no root looks for branches in the queue and waits there for a while. It may leave at any time, because a
// warp that gives work away always looks for work again later.
#pragma once
#include "cliques/pivot.cuh"
#include "cliques/pivot_job.cuh"
#include "cliques/pivot_long.cuh"
#include "cliques/tiny.cuh"

template <class Vertex, class Leaves>
struct pivot_warp {
  pivot_search<Leaves>& search;
  const clique_rows<Vertex>& rows;
  const pivot_job& job;
  pivot_work* work;

  // ---- small roots and branches from the queue

  __device__ __forceinline__ void begin_root(long long slot, const clique_root& root) {
    search.begin(static_cast<unsigned>(slot - job.first), root.words);
  }

  // Searches up to 32 roots. Lane i looks up where the i-th root lies, so the warp waits once for all of them. For a
  // root with up to 32 neighbors, each lane has one row in a register, loaded while the previous root is searched. If
  // the root is a clique, as small roots often are, no search is needed: lane i adds the leaf of the i-th root at the
  // end.
  __device__ __forceinline__ void take_small_roots(long long begin, int count) {
    clique_root mine{0, 0, 0, 0, nullptr};
    if (lane_id() < count) mine = rows.at(begin + lane_id());
    clique_root next = root_of_lane(mine, 0);
    unsigned next_row = single_row(next);
    int clique = 0;
    unsigned cliques = 0;
    for (int i = 0; i < count; ++i) {
      const clique_root root = next;
      const unsigned row = next_row;
      if (i + 1 < count) {
        next = root_of_lane(mine, i + 1);
        next_row = single_row(next);
      }
      const bool whole = root.begin >= job.begin && root.begin + root.degree <= job.end;
      if (root.degree > 32 || !whole) {
        take_small_root(begin + i, root);
      } else if (is_clique(row, root.degree)) {
        if (lane_id() == i) clique = root.degree;
        ++cliques;
      } else {
        begin_root(begin + i, root);
        search.space().single()[lane_id()] = row;
        __syncwarp();
        search_small(search.space().single(), root, first_members(root.degree), pivot_node{1, 0, root.degree});
      }
    }
    __syncwarp();
    if (clique != 0) search.leaves.add_together(1, search.k - 1, clique, 1);
    if (lane_id() == 0) search.nodes += cliques;
    __syncwarp();
  }

  __device__ __forceinline__ clique_root root_of_lane(const clique_root& mine, int lane) const {
    clique_root root;
    root.begin = __shfl_sync(full_mask, mine.begin, lane);
    root.degree = __shfl_sync(full_mask, mine.degree, lane);
    root.words = words_for(root.degree);
    root.rows = rows.slab + __shfl_sync(full_mask, static_cast<long long>(mine.rows - rows.slab), lane);
    return root;
  }
  __device__ __forceinline__ static unsigned single_row(const clique_root& root) {
    return root.degree <= 32 && lane_id() < root.degree ? root.rows[lane_id()] : 0;
  }
  __device__ __forceinline__ static bool is_clique(unsigned row, int degree) {
    const unsigned ends = __reduce_add_sync(full_mask, static_cast<unsigned>(__popc(row)));
    return ends == static_cast<unsigned>(degree * (degree - 1));
  }

  // Counts up to 32 roots of up to tiny_degree neighbors, 4 at once, without a search; see cliques/tiny.cuh.
  __device__ __forceinline__ void take_tiny_roots(long long begin, int count) {
    clique_root mine{0, 0, 0, 0, nullptr};
    if (lane_id() < count) mine = rows.at(begin + lane_id());
    const bool whole = mine.begin >= job.begin && mine.begin + mine.degree <= job.end;
    const unsigned there = __ballot_sync(full_mask, lane_id() < count);
    const unsigned wholes = __ballot_sync(full_mask, whole) & there;
    for (unsigned cut = there & ~wholes; cut != 0; cut &= cut - 1) {
      const int i = __ffs(static_cast<int>(cut)) - 1;
      take_small_root(begin + i, root_of_lane(mine, i));
    }
    unsigned found[tiny_sizes] = {};  // of this lane, by the number of its lower neighbors
    for (int i = 0; i < count; i += tiny_at_once) {
      const int source = (i + lane_id() / tiny_degree) & 31;
      const clique_root root = root_of_lane(mine, source);
      const bool counts = wholes >> source & 1u;
      const int place = lane_id() % tiny_degree;
      const unsigned row = counts && place < root.degree ? root.rows[place] : 0;
      const unsigned cliques = tiny_cliques(row, counts ? root.degree : -1);
#pragma unroll
      for (int size = 0; size < tiny_sizes; ++size) {
        const int all = 1 + size + __popc(static_cast<unsigned>(place));
        if (Leaves::all_sizes ? all <= search.k : all == search.k) found[size] += tiny_of_size(cliques, size);
      }
    }
    __syncwarp();
#pragma unroll
    for (int size = 0; size < tiny_sizes; ++size) {
      const int all = 1 + size + __popc(static_cast<unsigned>(lane_id() % tiny_degree));
      if (found[size] != 0) search.leaves.add_together(all, search.k - all, 0, found[size]);
    }
    if (lane_id() == 0) search.nodes += static_cast<unsigned>(count);
    __syncwarp();
  }

  __device__ __forceinline__ void take_small_root(long long slot, const clique_root& root) {
    begin_root(slot, root);
    const place_range places = places_in_task(root, job);
    unsigned* matrix = root.degree <= 32 ? search.space().single() : search.space().narrow();
    const int stride = root.degree <= 32 ? single_stride : narrow_stride;
    __syncwarp();
    copy_root(root, matrix, stride);
    if (places.last - places.first == root.degree) {
      search_small(matrix, root, first_members(root.degree), pivot_node{1, 0, root.degree});
      return;
    }
    for (int place = places.first; place < places.last; ++place) {
      const int lane = lane_id();
      const unsigned set = lane < root.words ? matrix[lane * stride + place] & bits_above(place, lane) : 0;
      search_small(matrix, root, set, pivot_node{2, 0, warp_sum(__popc(set))});
    }
  }

  __device__ __forceinline__ void search_small(const unsigned* matrix, const clique_root& root, unsigned set,
                                               pivot_node node) {
    if (root.degree <= 32) {
      search.template search<1>(matrix, single_stride, nullptr, set, node, 0);
    } else if (root.degree <= 64) {
      search.template search<2>(matrix, narrow_stride, nullptr, set, node, 0);
    } else {
      search.template search<narrow_words>(matrix, narrow_stride, nullptr, set, node, 0);
    }
  }

  // Searches branches that another warp gave away. Returns false if none came; true also if `interrupt` reported other
  // work.
  template <class Interrupt>
  __device__ __forceinline__ bool take_from_queue(unsigned patience, Interrupt interrupt) {
    unsigned header = 0;
    unsigned* const marks = search.space().marks();
    __syncwarp();
    const task_outcome there = search.queue.take(patience, interrupt, [&](int i, unsigned word) {
      if (i < task_header_words) header = word;
      if (i >= task_header_words) marks[i - task_header_words] = word;
    });
    if (there != task_taken) return there == task_interrupted;
    __syncwarp();
    const long long slot = job.first + __shfl_sync(full_mask, header, 0);
    pivot_node node{static_cast<int>(__shfl_sync(full_mask, header, 1)),
                    static_cast<int>(__shfl_sync(full_mask, header, 2)), 0};
    const unsigned pivot = __shfl_sync(full_mask, header, 3);
    const clique_root root = rows.at(slot);
    search.begin(static_cast<unsigned>(slot - job.first), root.words, nodes_per_hungry_look);
    const unsigned* const branches = marks + root.words;
    int size = 0, with_branches = 0;
    for (int w = lane_id(); w < root.words; w += 32) {
      size += __popc(marks[w]);
      with_branches |= branches[w] != 0 ? 1 : 0;
    }
    node.size = warp_sum(size);
    if (__any_sync(full_mask, with_branches)) {
      search_branches(search, root, marks, branches, pivot, node);
    } else if (!search.is_plain(node)) {
      search_members(search, root, marks, node, 0);
    }
    return true;
  }

  // ---- large roots

  // Fills a free region with the next large root. Returns false if the region is in use or no large root is left.
  template <int MaxWords>
  __device__ __forceinline__ bool fill_region(pivot_region<MaxWords>& region) {
    int mine = 0;
    long long slot = 0;
    if (lane_id() == 0) {
      mine = atomicCAS(&region.state, 0u, 1u << 16) == 0u;
      if (mine) {
        slot = job.first + static_cast<long long>(atomicAdd(&work->large_drawn, 1ull));
        if (slot >= job.middle) {
          mine = 0;
          atomicExch(&region.state, no_more_roots);
        }
      }
    }
    if (!__shfl_sync(full_mask, mine, 0)) return false;
    slot = __shfl_sync(full_mask, slot, 0);
    const clique_root root = rows.at(slot);
    begin_root(slot, root);
    copy_root(root, region.matrix, region.stride);
    const place_range places = places_in_task(root, job);
    int branches = places.last - places.first;
    const bool whole = branches == root.degree;
    if (lane_id() == 0) {
      region.slot = search.slot;
      region.root_words = root.words;
      region.degree = root.degree;
      region.first_place = !whole             ? places.first
                           : only_triangles() ? region.corners_of_triangles
                                              : region.listed_branches;
    }
    if (whole) branches = only_triangles() ? root.words : split_root(region, root);
    __threadfence_block();  // all of it must be visible before the first branch can be taken
    __syncwarp();
    if (lane_id() == 0 && branches > 0) atomicAdd(&region.state, static_cast<unsigned>(branches));
    while (take_branch(region)) {
    }
    leave(region);
    return true;
  }

  // Whether only the triangles among a root's neighbors have to be counted. Its warps then share their lowest corners.
  __device__ __forceinline__ bool only_triangles() const { return !Leaves::all_sizes && search.k == 4; }

  // Evaluates the root's node and those in which its pivots are passed, and lists their branches. Returns their number.
  template <int MaxWords>
  __device__ __forceinline__ int split_root(pivot_region<MaxWords>& region, const clique_root& root) {
    const int lane = lane_id();
    unsigned set[MaxWords];
    unsigned mine = first_members(root.degree);
    pivot_node node{1, 0, root.degree};
    int branches = 0;
    for (int level = 0;; ++level) {
#pragma unroll
      for (int w = 0; w < MaxWords; ++w) set[w] = __shfl_sync(full_mask, mine, w);
      if (search.is_plain(node)) break;
      if (level == region.max_levels) {
        if (lane < MaxWords) region.last_set[lane] = mine;
        if (lane == 0) {
          region.last = node;
          region.branches = branches;
        }
        return branches + 1;
      }
      int pivot = 0, branches_of_pivot = 0;
      if (!search.template evaluate<MaxWords>(region.matrix, region.stride, set, node, pivot, branches_of_pivot)) break;
      mine = 0;
#pragma unroll
      for (int w = 0; w < MaxWords; ++w) {
        if (lane == w) mine = set[w];
      }
      unsigned apart = 0;
      if (lane < MaxWords) {
        apart = mine & ~region.matrix[lane * region.stride + pivot];
        if (lane == pivot >> 5) apart &= ~(1u << (pivot & 31));
        region.rest[level][lane] = mine;
        region.apart[level][lane] = apart;
      }
      if (lane == 0) region.pivots[level] = node.pivots;
      const int listed = list_members(apart, MaxWords, region.list + branches);
      for (int i = lane; i < listed; i += 32) {
        region.list[branches + i] |= static_cast<unsigned short>(level << region.place_bits);
      }
      branches += listed;
      mine &= ~apart;
      if (lane == pivot >> 5) mine &= ~(1u << (pivot & 31));
      ++node.pivots;
      node.size -= listed + 1;
    }
    if (lane == 0) region.branches = branches;
    return branches;
  }

  // Takes one branch of the root in the region and searches it. Returns false if there is none.
  template <int MaxWords>
  __device__ __forceinline__ bool take_branch(pivot_region<MaxWords>& region) {
    const int lane = lane_id();
    int taken = -1;
    if (lane == 0) {
      for (unsigned seen = load_fresh(&region.state); (seen & 0xffffu) != 0;) {
        const unsigned now = atomicCAS(&region.state, seen, seen + (1u << 16) - 1);
        if (now == seen) {
          taken = static_cast<int>(seen & 0xffffu) - 1;
          break;
        }
        seen = now;
      }
    }
    taken = __shfl_sync(full_mask, taken, 0);
    if (taken < 0) return false;
    __threadfence_block();
    search.begin(region.slot, region.root_words);
    if (region.first_place == region.corners_of_triangles) {
      search.template count_corners<MaxWords>(region.matrix, region.stride, 32 * taken + lane, region.degree);
      leave(region);
      return true;
    }
    unsigned set = 0;
    pivot_node node{2, 0, 0};
    if (region.first_place >= 0) {
      const int place = region.first_place + taken;
      if (lane < region.root_words) set = region.matrix[lane * region.stride + place] & bits_above(place, lane);
    } else if (taken == region.branches) {
      node = region.last;
      if (lane < MaxWords) set = region.last_set[lane];
    } else {
      const int level = region.list[taken] >> region.place_bits;
      const int place = region.list[taken] & ((1 << region.place_bits) - 1);
      if (lane < MaxWords) {  // without the candidates of earlier branches
        const unsigned gone = region.apart[level][lane] & ~bits_above(place, lane);
        set = region.rest[level][lane] & ~gone & region.matrix[lane * region.stride + place];
      }
      node.pivots = region.pivots[level];
    }
    node.size = warp_sum(__popc(set));
    if (!search.is_plain(node)) {
      search.template search<MaxWords>(region.matrix, region.stride, nullptr, set, node, 0);
    }
    leave(region);
    return true;
  }

  template <int MaxWords>
  __device__ __forceinline__ void leave(pivot_region<MaxWords>& region) {
    __threadfence_block();
    __syncwarp();
    if (lane_id() == 0) atomicSub(&region.state, 1u << 16);
  }

  template <int MaxWords>
  __device__ __forceinline__ static bool has_work(const pivot_region<MaxWords>& region) {
    const unsigned state = load_fresh(&region.state);
    return state == 0 || (state & 0xffffu) != 0;
  }

  // Waits a short time for branches of the next large root, which usually come soon.
  template <int MaxWords>
  __device__ __forceinline__ bool wait_for_region(const pivot_region<MaxWords>& region) const {
    int found = 0;
    if (lane_id() == 0) {
      for (unsigned look = 0; look < min(job.patience, looks_at_region); ++look) {
        found = has_work(region) ? 1 : 0;
        if (found || load_fresh(&region.state) == no_more_roots) break;
        pause_thread(100);
      }
    }
    return __shfl_sync(full_mask, found, 0) != 0;
  }

  // ---- the life of a warp

  // Draws heavy roots one by one and lighter ones several at a time. Returns false if none is left.
  __device__ __forceinline__ bool draw_small_roots() {
    long long ticket = warp_draw(&work->small_drawn, 1);
    if (ticket < job.drawn_alone) {
      take_small_roots(job.middle + ticket, 1);
      return true;
    }
    ticket -= job.drawn_alone;
    if (ticket < job.draws_of_several) {
      const long long first = job.middle + job.drawn_alone + ticket * job.per_draw;
      take_small_roots(first, static_cast<int>(min(static_cast<long long>(job.per_draw), job.tiny - first)));
      return true;
    }
    const long long first = job.tiny + (ticket - job.draws_of_several) * job.tiny_per_draw;
    if (first >= job.last) return false;
    take_tiny_roots(first, static_cast<int>(min(static_cast<long long>(job.tiny_per_draw), job.last - first)));
    return true;
  }

  // Searches a root of any length, with sets in global memory.
  __device__ __forceinline__ void take_long_root(long long slot) {
    const clique_root root = rows.at(slot);
    begin_root(slot, root);
    const place_range places = places_in_task(root, job);
    long_search<Leaves> below{search, root, search.overflow};
    if (places.last - places.first == root.degree) {
      below.run(-1);
      return;
    }
    for (int place = places.first; place < places.last; ++place) below.run(place);
  }

  __device__ __forceinline__ void run_long() {
    while (!search.leaving()) {
      const long long slot = job.first + warp_draw(&work->large_drawn, 1);
      if (slot < job.last) {
        take_long_root(slot);
      } else if (!take_from_queue(job.patience, [] { return false; })) {
        return;
      }
    }
    search.queue.stop_work();
  }

  template <int MaxWords>
  __device__ __forceinline__ void run(pivot_region<MaxWords>* region) {
    for (;;) {
      if (search.leaving()) break;
      if constexpr (MaxWords > narrow_words) {
        if (fill_region(*region) || take_branch(*region)) continue;
      }
      if (draw_small_roots()) continue;
      if constexpr (MaxWords > narrow_words) {
        if (wait_for_region(*region)) continue;
        if (!take_from_queue(job.patience, [&] { return has_work(*region); })) return;
      } else {
        if (!take_from_queue(job.patience, [] { return false; })) return;
      }
    }
    search.queue.stop_work();
  }

  static constexpr unsigned no_more_roots = 0xffff0000u;
  static constexpr unsigned looks_at_region = 256;
};

// 32-bit words of the region, rounded up to 16 bytes. cliques/pivot.py computes the same.
template <int MaxWords>
__device__ constexpr int region_words() {
  if constexpr (MaxWords > narrow_words) {
    return static_cast<int>((sizeof(pivot_region<MaxWords>) + 15) / 16 * 4);
  } else {
    return 0;
  }
}

// The program of every thread of the grid. Dynamic shared memory: the region if there are large roots, then one space
// per warp.
template <int MaxWords, class Vertex, class Leaves>
__device__ __forceinline__ void count_by_pivoting(unsigned* shared, int space_words,
                                                  const pivot_search<Leaves>& beginning,
                                                  const clique_rows<Vertex>& rows, const pivot_job& job,
                                                  pivot_work* work) {
  using search_t = pivot_search<Leaves>;
  static_assert(sizeof(search_t) <= 4 * state_words, "the state must fit its place");
  unsigned* memory = shared + region_words<MaxWords>() + warp_id() * space_words;
  auto& search = *reinterpret_cast<search_t*>(memory + warp_space::at_state);
  if (lane_id() == 0) search = beginning;
  if (threadIdx.x == 0) atomicAdd(&work->queue.busy, static_cast<unsigned>(pivot_warps));
  pivot_warp<Vertex, Leaves> warp{search, rows, job, work};
  if constexpr (MaxWords == 0) {
    __syncthreads();
    warp.run_long();
  } else {
    auto* region = reinterpret_cast<pivot_region<MaxWords>*>(shared);
    if constexpr (MaxWords > narrow_words) {
      if (threadIdx.x == 0) region->state = 0;
    }
    __syncthreads();
    warp.template run<MaxWords>(region);
  }
  if (lane_id() == 0) atomicAdd(&work->nodes, static_cast<unsigned long long>(search.nodes));
  search.leaves.flush(work->total);
}
