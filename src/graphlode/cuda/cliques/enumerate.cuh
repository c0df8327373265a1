// cliques/enumerate.cuh - the search of one warp below one set: at which level to build the next matrix, and by which
// walk.
//
// Building is adaptive. A set with few or densely connected members is built as a matrix and searched. A sparse set is
// split instead, into one set per member (walk_sets), and each of these is decided on again: as a matrix it is smaller
// and denser.
#pragma once
#include "cliques/schedule.cuh"
#include "cliques/walks.cuh"

// How a matrix is searched. The measured variants also count active lanes and record what each task took.
#define WALK_ROWS 0       // a warp searches the rows of the root: the matrix of level 1, nothing is built
#define WALK_WARP 1       // a warp searches a built matrix, each lane has one word of the set
#define WALK_THREAD 2     // each lane searches alone below its own bits
#define WALK_QUEUED 3     // each lane searches alone below pairs from a queue
#define WALK_SCHEDULED 4  // as before, and lanes share their work at every level
#define WALK_THREAD_MEASURED 10
#define WALK_SCHEDULED_MEASURED 12

constexpr int walk = WALK & 7;
constexpr bool measured = (WALK & 8) != 0;

constexpr int deepest_lane_search = 6;  // most vertices still needed
constexpr int widest_lane_search = 4;   // words; wider sets do not fit a lane's registers
constexpr int widest_of_four = 8;       // the same with 4 vertices needed: one level less to hold

// Parameters of the host, the same for all tasks of a launch.
struct enumerate_rules {
  int k;
  int at_once;              // matrices of up to this many members are built at any density
  int in_registers;         // whether triangles are counted from registers if they fit
  int schedule_from;        // with this many vertices needed or more, lanes share their work
  const float* thresholds;  // by level: the density above which a matrix is built
};

// The row width for `size` members: the next one that a search is compiled for.
template <int Words>
__device__ __forceinline__ int width_for(int size) {
  const int words = words_for(size);
  const int width = words <= 2 ? words : words <= 4 ? 4 : words <= 8 ? 8 : words <= 12 ? 12 : 16;
  return min(max(1, width), Words);
}

// Shared memory of one warp.
template <int Words>
struct enumerate_space {
  unsigned *matrix, *slots, *frames, *levels;
  unsigned short* members;
  int stride;

  // A matrix of up to stride - 1 members. cliques/enumerate.py computes the same size.
  __device__ enumerate_space(unsigned* memory, int stride_, int frame_words) : stride(stride_) {
    matrix = memory;
    slots = matrix + width_for<Words>(stride - 1) * stride;
    frames = slots + 64;
    members = reinterpret_cast<unsigned short*>(frames + frame_words);
    levels = frames + frame_words + 16 * Words;
  }
};

// Counts cliques of Needed vertices. Each lane has its own sets.
template <int Words, int Needed, class Meter>
__device__ __forceinline__ unsigned long long lane_walk(const enumerate_space<Words>& space,
                                                        const enumerate_rules& rules, int size, branch_range range,
                                                        Meter& meter) {
  const auto search = [&](auto width) {
    constexpr int words = decltype(width)::value < Words ? decltype(width)::value : Words;
    if constexpr (walk == WALK_THREAD) {
      return thread_walk<words, Needed>(space.matrix, space.stride, range, meter);
    } else if constexpr (walk == WALK_SCHEDULED) {
      if (Needed >= rules.schedule_from) {
        return scheduled_walk<words, Needed>(space.matrix, space.stride, range, space.slots, space.levels, meter);
      }
    }
    return queued_walk<words, Needed>(space.matrix, space.stride, range, space.slots, meter);
  };
  const int width = width_for<Words>(size);
  if (Words == 1 || width == 1) return search(constant<1>{});
  if (width == 2) return search(constant<2>{});
  if constexpr (Needed == 4) {
    if (width > widest_lane_search) return search(constant<widest_of_four>{});
  }
  return search(constant<widest_lane_search>{});
}

template <int Words>
__device__ __forceinline__ unsigned long long walk_registers(const enumerate_space<Words>& space, int size,
                                                             branch_range range) {
  const auto search = [&](auto width) {
    constexpr int words = decltype(width)::value < Words ? decltype(width)::value : Words;
    return register_walk<words>(space.matrix, space.stride, size, range);
  };
  const int width = width_for<Words>(size);
  if (width <= 2) return width == 1 ? search(constant<1>{}) : search(constant<2>{});
  if (width <= 4) return size <= 96 ? search(constant<3>{}) : search(constant<4>{});
  if (width <= 8) return size <= 192 ? search(constant<6>{}) : search(constant<8>{});
  return width == 12 ? search(constant<12>{}) : search(constant<16>{});
}

// Counts cliques of `needed` vertices in the matrix of a space, by the walk that this source is compiled for.
template <int Words, class Meter>
__device__ __forceinline__ unsigned long long search_matrix(const enumerate_space<Words>& space,
                                                            const enumerate_rules& rules, int size, int needed,
                                                            branch_range range, Meter& meter) {
  if constexpr (walk <= WALK_WARP) {
    const int words = words_for(size);
    unsigned long long found = 0;
    walk_sets(bit_matrix{space.matrix, 1, space.stride}, words, full_word(size, lane_id()), range, needed, space.frames,
              [&](int, unsigned child, int, int left) {
                if (lane_id() < words) meter.step();
                if (left == 1) found += static_cast<unsigned>(__popc(child));
                return left > 1;
              });
    return found;
  } else {
    if (needed == 3 && ((rules.in_registers != 0 && size > 32) || size > 32 * widest_lane_search)) {
      return walk_registers(space, size, range);
    }
    if (needed == 4) return lane_walk<Words, 4>(space, rules, size, range, meter);
    if (needed == 5) return lane_walk<Words, 5>(space, rules, size, range, meter);
    if (needed == 6) return lane_walk<Words, 6>(space, rules, size, range, meter);
    return lane_walk<Words, 3>(space, rules, size, range, meter);
  }
}

// Whether a set of `size` members is built as a matrix at this level. edges() counts the edges in it and is called only
// if needed.
template <class Edges>
__device__ __forceinline__ bool builds(const enumerate_rules& rules, int size, int needed, Edges edges) {
  if (needed == 3 || walk <= WALK_WARP) return true;
  const int widest = needed == 4 ? widest_of_four : widest_lane_search;
  if (needed > deepest_lane_search || size > 32 * widest) return false;
  if (size <= rules.at_once) return true;
  const float threshold = rules.thresholds[rules.k - needed];
  if (threshold <= 0.0f || threshold >= 1.0f) return threshold <= 0.0f;
  return static_cast<float>(edges()) > threshold * (0.5f * static_cast<float>(size) * static_cast<float>(size - 1));
}

// Counts the edges inside a set of listed members. This lane holds one word of the set.
__device__ __forceinline__ int edges_inside(const bit_matrix& from, int words, unsigned own,
                                            const unsigned short* members, int size) {
  int edges = 0;
  for (int word = 0; word < words; ++word) {
    const unsigned set = __shfl_sync(full_mask, own, word);
    for (int i = lane_id(); i < size; i += 32) {
      edges += __popc(set & from.at(members[i], word) & bits_above(members[i], word));
    }
  }
  return warp_sum(edges);
}

// Counts cliques of `needed` vertices in a set of up to 32 words of the rows `from`. This lane holds one word of the
// set. Only the branches of one part are searched: every parts-th.
template <int Words, class Meter>
__device__ __forceinline__ unsigned long long search_set(const enumerate_space<Words>& space,
                                                         const enumerate_rules& rules, const bit_matrix& from,
                                                         int words, unsigned start, int start_size, int needed,
                                                         int part, int parts, Meter& meter) {
  unsigned long long found = 0;
  // Searches a set if it is to be built here. Returns whether it was.
  const auto search = [&](unsigned set, int size, int left, int first, int step) {
    int listed = 0;
    const auto list = [&] {
      if (listed == 0) listed = list_members(words, [&](int) { return set; }, space.members);
    };
    const bool here = builds(rules, size, left, [&] {
      list();
      return edges_inside(from, words, set, space.members, size);
    });
    if (!here) return false;
    list();
    build_matrix(from, space.members, size, width_for<Words>(size), space.matrix, space.stride);
    found += search_matrix(space, rules, size, left, branch_range{first, size, step}, meter);
    __syncwarp();
    return true;
  };
  if (search(start, start_size, needed, part, parts)) return found;
  walk_sets(from, words, start, branch_range{part, 32 * words, parts}, needed, space.frames,
            [&](int, unsigned set, int size, int left) { return !search(set, size, left, 0, 1); });
  return found;
}
