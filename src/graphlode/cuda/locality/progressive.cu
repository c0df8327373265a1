// locality/progressive.cu - passes over a list of edges: along every edge something is sent, and the list is reordered.
//
// A pass cuts the list into blocks; a step takes the t-th edge of each of `lanes` neighboring blocks, sorts them and
// puts the j-th smallest where the edge of block j was (native/include/graphlode/locality/block_schedule.hpp tells the
// cuts). Steps are independent of each other. A block of threads takes 32 of them side by side, as columns of a matrix
// in shared memory: a lane of a warp owns a column, so that the t-th edges of neighboring steps, which are neighbors
// in the list, are read and written in whole lines, and a warp compares whole rows of the matrix without a conflict.
// Which rows are compared does not depend on the data: merge exchange (Knuth 5.2.2, algorithm M), the network of the
// CPU.
//
// What is sent is in units of 2^-62, as in analytics/pagerank_tiles.cu: atomic additions may come in any order.
//
// Work per edge about log2(lanes)^2 / 4 comparisons in shared memory, beside one reading of what its source sends and
// one atomic addition.
#include "platform.cuh"
#include "warp.cuh"

using edge_word = unsigned long long;  // the end that the list is ordered by in the upper half
using fixed = unsigned long long;

constexpr edge_word behind_all = ~0ull;
constexpr int columns = 32;

struct sending {
  int by_destination;  // whether the upper half is where an edge leads to
  const fixed* sent;
  fixed* sums;

  // Sends along the edge of each lane that has one. Called by all lanes of a warp. Neighbors that lead to the same
  // vertex are added up first: in a list that is sorted by destination they would all wait for one place.
  __device__ __forceinline__ void along(bool there, edge_word edge) const {
    const unsigned high = static_cast<unsigned>(edge >> 32), low = static_cast<unsigned>(edge);
    const unsigned to = there ? (by_destination ? high : low) : 0xffffffffu;
    fixed value = there ? sent[by_destination ? low : high] : 0;
    const unsigned before = __shfl_up_sync(full_mask, to, 1);
    const bool begins = lane_id() == 0 || before != to;
    const unsigned starts = __ballot_sync(full_mask, begins);
    if (starts != full_mask) {
      for (int distance = 1; distance < 32; distance <<= 1) {
        const fixed next = __shfl_down_sync(full_mask, value, static_cast<unsigned>(distance));
        const unsigned started = (starts >> lane_id() >> 1) & ((1u << distance) - 1u);  // from here on to there
        if (lane_id() + distance < 32 && started == 0) value += next;
      }
    }
    if (there && begins && value != 0) atomicAdd(sums + to, value);
  }
};

// In the order of the list.
extern "C" __global__ void progressive_send(const edge_word* edges, long long num_edges, int by_destination,
                                            const fixed* sent, fixed* sums) {
  const sending along{by_destination, sent, sums};
  for (long long first = grid_warp_id() * 32; first < num_edges; first += grid_warps() * 32) {
    const long long place = first + lane_id();
    const bool there = place < num_edges;
    along.along(there, there ? edges[place] : 0);
  }
}

// How a pass cuts the list: block k begins at floor(k * num_edges / num_blocks), so that `longer` of the blocks have
// one edge more than `full_steps`. Where blocks have one edge or none, a group of `lanes` blocks has one step, of all
// its edges.
struct schedule {
  int lanes;
  long long num_blocks, full_steps, longer;

  struct split {
    long long quotient, rest;
  };

  // value / num_blocks, of values that may have more than 64 bits: only the low ones are looked at, which is enough to
  // put an estimate right that is off by one.
  __device__ __forceinline__ split divide(unsigned long long value, double estimate) const {
    split found;
    found.quotient = static_cast<long long>(estimate / static_cast<double>(num_blocks));
    found.rest = static_cast<long long>(value - static_cast<unsigned long long>(found.quotient) *
                                                    static_cast<unsigned long long>(num_blocks));
    if (found.rest < 0) {
      found.quotient -= 1;
      found.rest += num_blocks;
    }
    if (found.rest >= num_blocks) {
      found.quotient += 1;
      found.rest -= num_blocks;
    }
    return found;
  }

  // Of the blocks before a given one, how many are longer, and what is left over.
  __device__ __forceinline__ split longer_before(long long block) const {
    return divide(static_cast<unsigned long long>(block) * static_cast<unsigned long long>(longer),
                  static_cast<double>(block) * static_cast<double>(longer));
  }
};

// The step that a column is of.
struct step_of_column {
  const schedule& cuts;
  long long first_block, step, start;  // start: where the group begins
  schedule::split before;              // longer blocks before the group
  long long size;                      // edges that take part

  __device__ step_of_column(const schedule& given, long long column) : cuts(given) {
    const long long steps = cuts.full_steps + (cuts.longer != 0);
    const long long group = column / steps;
    step = column - group * steps;
    first_block = group * cuts.lanes;
    before = cuts.longer_before(first_block);
    start = first_block * cuts.full_steps + before.quotient;
    size = step < cuts.full_steps ? cuts.lanes : longer_within(cuts.lanes);
  }

  // How many of the group's first `count` blocks are longer.
  __device__ __forceinline__ long long longer_within(long long count) const {
    const long long value = before.rest + count * cuts.longer;
    return cuts.divide(static_cast<unsigned long long>(value), static_cast<double>(value)).quotient;
  }

  // Calls take(row, place) if block `lane` takes part: its edge is at `place`, and so many edges come before it.
  template <class Take>
  __device__ __forceinline__ void of_lane(int lane, Take take) const {
    if (cuts.full_steps == 0) {  // the edges of the group, which lie one behind the other
      if (lane < size) take(lane, start + lane);
      return;
    }
    const long long longer = longer_within(lane), place = start + lane * cuts.full_steps + longer + step;
    if (step < cuts.full_steps) {
      take(lane, place);
    } else if (longer_within(lane + 1) > longer) {
      take(static_cast<int>(longer), place);
    }
  }
};

// Sorts every column of `rows` rows. Called by all threads.
__device__ void sort_columns(edge_word* cells, int rows) {
  for (int run = 1; run < rows; run *= 2) {          // sorted runs of this length are merged in pairs,
    for (int apart = run; apart >= 1; apart /= 2) {  // comparing rows at halving distances,
      __syncthreads();
      const int first = apart % run;
      for (int low = warp_id(); low + apart < rows; low += warps_per_block()) {
        if (low < first || (low - first) / apart % 2 != 0) continue;
        if (low / (2 * run) != (low + apart) / (2 * run)) continue;  // but not across two merges
        edge_word* const a = cells + low * columns + lane_id();
        edge_word* const b = a + apart * columns;
        const edge_word smaller = min(*a, *b), larger = max(*a, *b);
        *a = smaller;
        *b = larger;
      }
    }
  }
  __syncthreads();
}

// A pass that reorders; `sends` tells whether something is sent along the edges as they come. The matrix has `rows`
// rows, which is how many edges a step has at most.
extern "C" __global__ void progressive_pass(edge_word* edges, int lanes, long long num_blocks, long long full_steps,
                                            long long longer, int rows, long long num_steps, int sends,
                                            int by_destination, const fixed* sent, fixed* sums) {
  DYN_SHARED(edge_word, cells);
  const schedule cuts{lanes, num_blocks, full_steps, longer};
  const sending along{by_destination, sent, sums};
  for (long long first = static_cast<long long>(blockIdx.x) * columns; first < num_steps;
       first += static_cast<long long>(gridDim.x) * columns) {
    const long long column = first + lane_id();
    const bool used = column < num_steps;
    const step_of_column own(cuts, used ? column : num_steps - 1);
    for (int row = warp_id(); row < rows; row += warps_per_block()) {
      if (row >= own.size || !used) cells[row * columns + lane_id()] = behind_all;
    }
    for (int lane = warp_id(); lane < rows; lane += warps_per_block()) {
      edge_word edge = 0;
      bool there = false;
      if (used) {
        own.of_lane(lane, [&](int row, long long place) {
          edge = edges[place];
          there = true;
          cells[row * columns + lane_id()] = edge;
        });
      }
      if (sends) along.along(there, edge);
    }
    sort_columns(cells, rows);
    for (int lane = warp_id(); lane < rows; lane += warps_per_block()) {
      if (!used) continue;
      own.of_lane(lane, [&](int row, long long place) { edges[place] = cells[row * columns + lane_id()]; });
    }
    __syncthreads();
  }
}
