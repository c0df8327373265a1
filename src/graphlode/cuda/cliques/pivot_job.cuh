// cliques/pivot_job.cuh - what the warps of a pivoting grid share: the counters that they draw from, the job, and the
// matrix of a large root in each block.
#pragma once
#include "cliques/pivot_nodes.cuh"
#include "cliques/pivot_queue.cuh"
#include "status.cuh"

constexpr int pivot_warps = 8;

// 64-bit words first. cliques/pivot.py relies on their order.
struct pivot_work {
  status_word status;
  unsigned long long total[2];
  unsigned long long nodes;
  unsigned long long large_drawn, small_drawn;
  queue_state queue;
};

// What a launch counts, and its parameters.
struct pivot_job {
  long long first, middle, last;            // slots: large roots, then small ones
  long long begin, end;                     // the entries of the task; of a row that is partly in it, only these edges
  long long tiny;                           // the first slot with up to tiny_degree neighbors
  long long drawn_alone, draws_of_several;  // small roots that are drawn alone; then draws of per_draw roots each
  int per_draw, tiny_per_draw;
  unsigned patience;  // reads of an empty queue before a warp leaves
};

// The matrix of a large root and its first branches. These are the branches of the root's own node, of the node in
// which its pivot is passed, and so on, until a node has no branches or there are max_levels such nodes.
template <int MaxWords>
struct pivot_region {
  static constexpr int stride = 32 * MaxWords + 1;
  static constexpr int max_levels = 32;
  static constexpr int place_bits = 10;
  static constexpr int listed_branches = -1, corners_of_triangles = -2;

  unsigned state;  // warps at work << 16 | branches not taken; 0: the region is free
  unsigned slot;
  int root_words, degree;
  int first_place;  // >= 0: branches are the edges to the neighbors from here on; < 0: listed_branches or
                    // corners_of_triangles
  int branches;     // number in the list; one more branch is the node `last`, if there is one
  pivot_node last;
  unsigned last_set[MaxWords];
  int pivots[max_levels];
  unsigned rest[max_levels][MaxWords], apart[max_levels][MaxWords];
  unsigned short list[32 * MaxWords];  // level << place_bits | place: no place is listed twice
  unsigned matrix[MaxWords * stride];
};

// The places of a root that belong to the task.
struct place_range {
  int first, last;
};
__device__ __forceinline__ place_range places_in_task(const clique_root& root, const pivot_job& job) {
  const long long first = job.begin - root.begin, last = job.end - root.begin;
  return {first < 0 ? 0 : static_cast<int>(first), last > root.degree ? root.degree : static_cast<int>(last)};
}
