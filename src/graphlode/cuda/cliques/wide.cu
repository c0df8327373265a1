// cliques/wide.cu - k-cliques below edges with more candidates than a warp's shared memory holds. One block per edge.
//
// Tasks and searches are those of cliques/enumerate.cu; only the top of each search differs, see cliques/wide.cuh.
#include "cliques/enumerate.cuh"
#include "cliques/rows.cuh"
#include "cliques/tasks.cuh"
#include "cliques/wide.cuh"
#include "platform.cuh"
#include "warp.cuh"
#if !defined(WALK)
#error "WALK is set by the host"
#endif

// Counts tasks [first, last) of the class of the largest. One block per task: it builds the matrix in global memory,
// and its warps take branches of it. `scratch` has scratch_words per block. Dynamic shared memory: space_words and a
// matrix per warp.
extern "C" __global__ void __launch_bounds__(128)
    clique_wide(const unsigned* __restrict__ slab, const clique_task* __restrict__ tasks,
                const long long* __restrict__ class_begins, const int* __restrict__ parts_by_size, long long first,
                long long last, int k, int at_once, int in_registers, int schedule_from,
                const float* __restrict__ thresholds, int size_class, int space_words, int stride, int frame_words,
                int most_members, long long scratch_words, unsigned* scratch, search_work* work) {
  DYN_SHARED(unsigned, memory);
  __shared__ long long drawn;
  __shared__ int next_branch;
  const enumerate_rules rules{k, at_once, in_registers, schedule_from, thresholds};
  const int matrix_words = width_for<8>(stride - 1) * stride;
  unsigned* const own_matrix = memory + warp_id() * (space_words + matrix_words);
  const enumerate_space<8> space(own_matrix + matrix_words, stride, frame_words);
  const wide_space wide(scratch + blockIdx.x * scratch_words, most_members, k);
  lane_meter<measured> meter;
  unsigned long long found = 0;
  last = min(last, static_cast<long long>(work->queued[size_class]));
  for (;;) {
    __syncthreads();
    if (threadIdx.x == 0) {
      drawn = first + static_cast<long long>(atomicAdd(&work->drawn[size_class], 1ull));
      next_branch = 0;
    }
    __syncthreads();
    if (drawn >= last) break;
    const clique_task task = tasks[class_begins[size_class] + drawn];
    const unsigned* const rows = slab + task.rows;
    const bool whole_root = k == 4;
    bit_matrix matrix{rows, words_for(task.degree), 1};
    int size = task.degree;
    if (!whole_root) {
      size = wide.build(rows, task.degree, task.place);
      matrix = bit_matrix{wide.matrix, words_for(size), 1};
    }
    const branch_range range{(whole_root ? task.place : 0) + task.part, whole_root ? task.end : size,
                             parts_by_size[size]};
    for (;;) {
      int branch = 0;
      if (lane_id() == 0) branch = range.first + range.step * atomicAdd(&next_branch, 1);
      branch = __shfl_sync(full_mask, branch, 0);
      if (branch >= range.last) break;
      found += search_wide(wide, space, rules, matrix, size, branch, whole_root ? 2 : k - 3, own_matrix, meter);
    }
  }
  add_total(work, found);
}
