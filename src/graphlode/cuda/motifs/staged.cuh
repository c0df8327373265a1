// motifs/staged.cuh - pieces of many rows in shared memory, cut into chunks of 32 places for the warps of a block.
//
// Chunks begin at multiples of 32, as the tiles of local graphs do. Each warp takes the same number of consecutive
// chunks, so it mostly stays in one row.
#pragma once
#include "block.cuh"
#include "warp.cuh"

constexpr int most_staged = 256;

struct staged_rows {
  long long begins[most_staged];                // where the row begins in the graph
  int firsts[most_staged], lasts[most_staged];  // the first place of the piece, and the one after its last
  unsigned ends[most_staged];                   // number of chunks in this and all earlier rows
  unsigned sums[32], total;

  // The number of rows that can be staged at a time.
  __device__ __forceinline__ static int capacity() { return min(most_staged, static_cast<int>(blockDim.x)); }

  // Stages one piece for each of the first capacity() threads. Called by all threads of the block.
  __device__ __forceinline__ void stage(bool there, long long begin, int first, int last) {
    const int thread = static_cast<int>(threadIdx.x);
    const unsigned chunks = there && first < last ? static_cast<unsigned>(((last + 31) >> 5) - (first >> 5)) : 0u;
    unsigned all = 0;
    const unsigned end = block_scan(chunks, sums, all);
    if (thread < capacity()) {
      begins[thread] = begin;
      firsts[thread] = first;
      lasts[thread] = last;
      ends[thread] = end;
    }
    if (thread == 0) total = all;
    __syncthreads();
  }

  // Calls take(row, first_chunk, last_chunk) for the rows of the calling warp's share, in all its lanes. Chunk k has
  // the places from 32 k on.
  template <class Take>
  __device__ __forceinline__ void share(Take take) const {
    const unsigned each =
        (total + static_cast<unsigned>(warps_per_block()) - 1) / static_cast<unsigned>(warps_per_block());
    unsigned chunk = min(total, each * static_cast<unsigned>(warp_id()));
    const unsigned last = min(total, chunk + each);
    if (chunk >= last) return;
    int row = 0, length = capacity();
    while (length > 0) {
      const int half = length >> 1;
      if (ends[row + half] <= chunk) {
        row += half + 1;
        length -= half + 1;
      } else {
        length = half;
      }
    }
    while (chunk < last) {
      const unsigned begin = row == 0 ? 0 : ends[row - 1], end = min(ends[row], last);
      if (end > chunk) {
        const int shift = (firsts[row] >> 5) - static_cast<int>(begin);
        take(row, static_cast<int>(chunk) + shift, static_cast<int>(end) + shift);
        chunk = end;
      }
      ++row;
    }
  }
};
