// cliques/pivot_by.cu - the number of k-cliques that contain each vertex or each edge, by pivoting.
//
// The search is that of cliques/pivot.cuh, with one warp per root. Sets and rows lie in global memory, so roots may
// have any length. Leaves credit nothing directly. Instead the warp keeps running sums over all leaves so far, one for
// each role that a vertex (or the two ends of an edge) can have in a leaf. A vertex notes the sums when it joins the
// path. When it leaves, it is credited with their growth. A leaf with r vertices still needed and p pivots has C(p, r)
// cliques; C(p - 1, r - 1) of them contain a given pivot and C(p - 2, r - 2) two given pivots. Held vertices are in all
// of them. A number is `limbs` 64-bit words, the lowest first. Sums may wrap around; their differences remain correct.
#include "cliques/rows.cuh"
#include "platform.cuh"
#include "status.cuh"
#include "warp.cuh"
#define BY_VERTEX 1
#define BY_EDGE 2
#if !defined(VERTEX_T) || !defined(BY)
#error "VERTEX_T and BY are set by the host"
#endif

constexpr int num_warps = 8;
constexpr int max_roles = 3;
constexpr int frame_header_words = 4;  // pivot, pivots passed, length of the path below this level, unused
using limb_t = unsigned long long;

// Only 64-bit words. cliques/pivot_by.py relies on their order.
struct credit_work {
  status_word status;
  limb_t drawn, nodes;
};

// Where the k-cliques are credited.
struct credit_target {
  limb_t* counts;
  int limbs;

  __device__ void add(long long index, const limb_t* now, const limb_t* then) const {
    limb_t borrow = 0, carry = 0;
    for (int i = 0; i < limbs; ++i) {
      const limb_t grown = now[i] - then[i] - borrow;
      borrow = now[i] < then[i] || (now[i] == then[i] && borrow) ? 1 : 0;
      const limb_t value = grown + carry;
      carry = value < carry ? 1 : 0;
      if (value == 0) continue;
      const limb_t before = atomicAdd(&counts[index * limbs + i], value);
      carry += before + value < before ? 1 : 0;
    }
  }
};

// Memory of a warp. The path is the root, then the held vertices and pivots in the order in which they joined.
struct credit_space {
  limb_t* sums;    // max_roles numbers, by role
  limb_t* notes;   // by member of the path: the sums of its roles when it joined
  unsigned* path;  // 2 * place, + 1 for a pivot
  unsigned* set;   // the candidates of the current node
  unsigned* list;
  unsigned* marks;
  unsigned* frames;
};

struct credit_search {
  clique_rows<VERTEX_T> rows;
  clique_root root;
  credit_space space;
  credit_target target;
  const limb_t* __restrict__ binomials;  // C(n, r) at [(n * (k + 1) + r) * limbs]
  int k, limbs, members;                 // members: length of the path
  limb_t nodes;

  static constexpr int notes_per_member = BY == BY_EDGE ? 2 : 1;

  // ---- numbers

  // Adds C(n, r) to a sum; nothing if it is zero.
  __device__ __forceinline__ void grow(int role, int n, int r) {
    if (n < 0 || r < 0 || r > n) return;
    const limb_t* value = binomials + (static_cast<long long>(n) * (k + 1) + r) * limbs;
    limb_t carry = 0;
    for (int i = 0; i < limbs; ++i) {
      limb_t& sum = space.sums[role * limbs + i];
      const limb_t added = value[i] + carry;
      carry = added < carry ? 1 : 0;
      sum += added;
      carry += sum < added ? 1 : 0;
    }
  }

  // Adds a leaf. In role i, i of the vertices in question are pivots.
  __device__ __forceinline__ void leaf(int needed, int pivots) {
    if (lane_id() == 0) {
      for (int role = 0; role <= notes_per_member; ++role) grow(role, pivots - role, needed - role);
    }
    __syncwarp();
  }

  // ---- the path

  // Puts a vertex on the path. Called by one lane.
  __device__ __forceinline__ void join(unsigned place, bool pivot, int at) {
    space.path[at] = 2 * place + (pivot ? 1u : 0u);
    for (int note = 0; note < notes_per_member; ++note) {
      const limb_t* sum = space.sums + ((pivot ? 1 : 0) + note) * limbs;
      for (int i = 0; i < limbs; ++i)
        space.notes[(static_cast<long long>(at) * notes_per_member + note) * limbs + i] = sum[i];
    }
  }
  __device__ __forceinline__ void join_one(unsigned place, bool pivot) {
    if (lane_id() == 0) join(place, pivot, members);
    ++members;
    __syncwarp();
  }
  __device__ __forceinline__ void join_set(const unsigned* set) {
    for (int w = 0; w < root.words; ++w) {
      const unsigned word = set[w];
      if (word >> lane_id() & 1u) join(static_cast<unsigned>(32 * w + lane_id()), true, members + votes_below(word));
      members += __popc(word);
    }
    __syncwarp();
  }

  // Removes all members from `first` on and credits them.
  __device__ void leave(int first) {
    const int lane = lane_id();
    if (BY == BY_VERTEX) {
      for (int at = first + lane; at < members; at += 32) {
        const unsigned who = space.path[at];
        target.add(vertex_of(who >> 1), space.sums + (who & 1u) * limbs,
                   space.notes + static_cast<long long>(at) * limbs);
      }
    } else {
      for (int at = max(first, 1); at < members; ++at) {
        const unsigned who = space.path[at];
        for (int other = lane; other < at; other += 32) {
          const unsigned with = space.path[other];
          const int role = static_cast<int>((who & 1u) + (with & 1u));
          const limb_t* then = space.notes + (static_cast<long long>(at) * 2 + (with & 1u)) * limbs;
          if (grew(space.sums + role * limbs, then))
            target.add(entry_of(who >> 1, with >> 1), space.sums + role * limbs, then);
        }
      }
    }
    __syncwarp();
    members = first;
  }
  __device__ __forceinline__ bool grew(const limb_t* now, const limb_t* then) const {
    for (int i = 0; i < limbs; ++i) {
      if (now[i] != then[i]) return true;
    }
    return false;
  }

  // The root has place -1 (unsigned, after the shift: the largest number).
  static constexpr unsigned root_place = 0x7fffffffu;
  __device__ __forceinline__ long long vertex_of(unsigned place) const {
    return place == root_place ? root.vertex : static_cast<long long>(rows.neighbors[root.begin + place]);
  }
  __device__ __forceinline__ long long entry_of(unsigned a, unsigned b) const {
    if (a == root_place || b == root_place) return root.begin + (a == root_place ? b : a);
    const VERTEX_T low = rows.neighbors[root.begin + min(a, b)], high = rows.neighbors[root.begin + max(a, b)];
    long long first = rows.offsets[low], last = rows.offsets[low + 1];
    while (first < last) {
      const long long middle = (first + last) >> 1;
      if (rows.neighbors[middle] < high) {
        first = middle + 1;
      } else {
        last = middle;
      }
    }
    return first;
  }

  // ---- the search

  __device__ __forceinline__ const unsigned* row(int place) const {
    return root.rows + static_cast<long long>(place) * root.words;
  }

  __device__ __forceinline__ int size_of_set() const {
    int size = 0;
    for (int w = lane_id(); w < root.words; w += 32) size += __popc(space.set[w]);
    return warp_sum(size);
  }

  // With one vertex needed, each candidate forms a clique with all held vertices, and so does each pivot.
  __device__ void count_singles(int size, int pivots) {
    leaf(1, pivots);
    const limb_t *one = binomials, *zero = binomials + limbs;  // C(0, 0) and C(0, 1)
    for (int w = 0; w < root.words; ++w) {
      if (!(space.set[w] >> lane_id() & 1u)) continue;
      const unsigned place = static_cast<unsigned>(32 * w + lane_id());
      if (BY == BY_VERTEX) {
        target.add(vertex_of(place), one, zero);
      } else {
        for (int at = 0; at < members; ++at) {
          if ((space.path[at] & 1u) == 0) target.add(entry_of(place, space.path[at] >> 1), one, zero);
        }
      }
    }
    if (lane_id() == 0) grow(0, size, 1);
    __syncwarp();
  }

  // If all candidates are adjacent to each other, counts the node and returns false. Otherwise passes the candidates
  // that are adjacent to all others, chooses a pivot among the rest, and returns true: the node branches.
  __device__ bool evaluate(int size, int needed, int& pivots, int& pivot) {
    ++nodes;
    const int lane = lane_id();
    int listed = 0;
    for (int w = 0; w < root.words; ++w) {
      const unsigned word = space.set[w];
      if (word >> lane & 1u) space.list[listed + votes_below(word)] = static_cast<unsigned>(32 * w + lane);
      listed += __popc(word);
    }
    for (int w = lane; w < root.words; w += 32) space.marks[w] = 0;
    __syncwarp();
    int universal = 0;
    unsigned best = 0;
    for (int i = lane; i < size; i += 32) {
      const int v = static_cast<int>(space.list[i]);
      int degree = 0;
      for (int w = 0; w < root.words; ++w) degree += __popc(space.set[w] & row(v)[w]);
      if (degree == size - 1) {
        ++universal;
        atomicOr(&space.marks[v >> 5], 1u << (v & 31));
      } else {
        best = max(best, static_cast<unsigned>(degree) << 16 | static_cast<unsigned>(v));
      }
    }
    __syncwarp();
    universal = warp_sum(universal);
    pivot = static_cast<int>(__reduce_max_sync(full_mask, best) & 0xffffu);
    join_set(space.marks);
    pivots += universal;
    if (universal == size) {
      leaf(needed, pivots);
      return false;
    }
    for (int w = lane; w < root.words; w += 32) space.set[w] &= ~space.marks[w];
    __syncwarp();
    return true;
  }

  // Searches below the candidates in space.set. Vertices that join the path here have left it at the end, except those
  // that the caller will remove.
  __device__ void search(int held, int pivots) {
    const int lane = lane_id(), held_below = held, words = root.words, frame_words = 2 * words + frame_header_words;
    int level = 0;
    for (;;) {
      const int size = size_of_set(), needed = k - held;
      int pivot = 0;
      if (pivots + size >= needed) {
        if (needed == 1) {
          count_singles(size, pivots);
        } else if (size == 0) {
          leaf(needed, pivots);
        } else if (evaluate(size, needed, pivots, pivot)) {
          unsigned* frame = space.frames + static_cast<long long>(level) * frame_words;
          if (lane == 0) {
            frame[0] = static_cast<unsigned>(pivot);
            frame[1] = static_cast<unsigned>(pivots);
            frame[2] = static_cast<unsigned>(members);
          }
          for (int w = lane; w < words; w += 32) {
            const unsigned own = w == pivot >> 5 ? 1u << (pivot & 31) : 0u;
            frame[frame_header_words + w] = space.set[w];
            frame[frame_header_words + words + w] = space.set[w] & ~row(pivot)[w] & ~own;
          }
          __syncwarp();
          ++level;
        }
      }
      if (level == 0) return;
      take_branch(held_below, level, held, pivots);
    }
  }

  // Takes the next branch of the highest frame: its candidates go to space.set, its vertex onto the path.
  __device__ void take_branch(int held_below, int& level, int& held, int& pivots) {
    const int lane = lane_id(), words = root.words, frame_words = 2 * words + frame_header_words;
    unsigned* frame = space.frames + static_cast<long long>(level - 1) * frame_words;
    unsigned* rest = frame + frame_header_words;
    unsigned* apart = rest + words;
    leave(static_cast<int>(frame[2]));  // vertices of the previous branch
    pivots = static_cast<int>(frame[1]);
    const auto [place, is_pivot] = take_place(rest, apart, words, static_cast<int>(frame[0]));
    for (int w = lane; w < words; w += 32) space.set[w] = is_pivot ? rest[w] : rest[w] & row(place)[w];
    if (is_pivot) {
      --level;
      ++pivots;
    }
    held = held_below + level;
    join_one(static_cast<unsigned>(place), is_pivot);
  }

  // Searches everything below a root, or below those of its edges that belong to the task.
  __device__ void search_root(long long begin, long long end) {
    const long long first = begin > root.begin ? begin - root.begin : 0;
    const long long last = end - root.begin < root.degree ? end - root.begin : root.degree;
    members = 0;
    for (int i = lane_id(); i < max_roles * limbs; i += 32) space.sums[i] = 0;
    __syncwarp();
    join_one(root_place, false);
    if (last - first == root.degree) {
      for (int w = lane_id(); w < root.words; w += 32) {
        const int left = root.degree - 32 * w;
        space.set[w] = left >= 32 ? ~0u : (1u << left) - 1u;
      }
      __syncwarp();
      search(1, 0);
    } else {
      for (int place = static_cast<int>(first); place < last; ++place) {
        for (int w = lane_id(); w < root.words; w += 32) space.set[w] = row(place)[w] & bits_above(place, w);
        join_one(static_cast<unsigned>(place), false);
        search(2, 0);
        leave(1);
      }
    }
    leave(0);
  }
};

// Counts the cliques below roots [first, last). Blocks of num_warps warps; a warp owns one root at a time. `numbers`
// and `sets` have number_words and set_words per warp. `counts` has `limbs` words per row or per entry of the graph.
extern "C" __global__ void __launch_bounds__(32 * num_warps)
    clique_pivot_by(const long long* __restrict__ offsets, const VERTEX_T* __restrict__ neighbors,
                    const VERTEX_T* __restrict__ roots, const long long* __restrict__ slab_shifts, unsigned* slab,
                    long long first, long long last, long long begin, long long end, int k, int degree, int limbs,
                    const limb_t* __restrict__ binomials, limb_t* numbers, long long number_words, unsigned* sets,
                    long long set_words, limb_t* counts, credit_work* work) {
  const int words = words_for(degree);
  credit_space space;
  space.sums = numbers + grid_warp_id() * number_words;
  space.notes = space.sums + max_roles * limbs;
  space.path = sets + grid_warp_id() * set_words;
  space.list = space.path + degree + 2;
  space.set = space.list + degree;
  space.marks = space.set + words;
  space.frames = space.marks + words;
  credit_search search{
      {offsets, neighbors, roots, slab_shifts, slab}, {}, space, {counts, limbs}, binomials, k, limbs, 0, 0};
  for (;;) {
    const long long slot = first + warp_draw(&work->drawn, 1);
    if (slot >= last) break;
    search.root = search.rows.at(slot);
    search.search_root(begin, end);
  }
  if (lane_id() == 0) atomicAdd(&work->nodes, search.nodes);
}
