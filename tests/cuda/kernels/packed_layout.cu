// packed_layout.cu - the sizes of a page of a store, in words, and into how many parts blocks may divide one.
#include "store/spread.cuh"

extern "C" __global__ void packed_layout_words(long long* found) {
  if (threadIdx.x != 0 || blockIdx.x != 0) return;
  found[0] = stored_page::words;
  found[1] = stored_page::weighted_words;
  found[2] = stored_page::separators_at;
  found[3] = stored_page::counts_at;
  found[4] = stored_page::next_counts_at;
  found[5] = most_parts;
}
