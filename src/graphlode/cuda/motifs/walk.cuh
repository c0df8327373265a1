// motifs/walk.cuh - visits 32 pieces of rows, one per lane, back to back, so that short pieces leave no lane idle.
#pragma once
#include "warp.cuh"

struct row_batch {
  unsigned ends[32];     // end of each piece, in the common numbering of the entries of all 32
  long long shifts[32];  // difference from that numbering to the entries of the graph
};

// Calls visit(piece, entry) once for each entry, in one lane. Called by all lanes of a warp, each with `length` entries
// from `begin` on; the 32 together must be fewer than 2^32.
template <class Visit>
__device__ __forceinline__ void walk_rows(row_batch& batch, long long begin, unsigned length, Visit visit) {
  const unsigned lane = static_cast<unsigned>(lane_id());
  const unsigned end = warp_inclusive_scan(length);
  const unsigned total = __shfl_sync(full_mask, end, 31);
  __syncwarp();  // the previous batch may still be in use
  batch.ends[lane] = end;
  batch.shifts[lane] = begin - (end - length);
  __syncwarp();
  if (lane < total) {
    int piece = 0;  // one binary search, then it only moves forward
    for (int step = 16; step > 0; step >>= 1) {
      if (batch.ends[piece + step - 1] <= lane) piece += step;
    }
    for (unsigned item = lane; item < total; item += 32) {
      while (batch.ends[piece] <= item) ++piece;
      visit(piece, batch.shifts[piece] + item);
    }
  }
  __syncwarp();
}
