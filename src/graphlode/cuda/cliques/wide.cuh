// cliques/wide.cuh - searches in sets too large for a warp's shared memory, with matrix and sets in global memory.
//
// Sets shrink quickly on the way down. As soon as one fits, it is built in shared memory and searched there.
#pragma once
#include "cliques/enumerate.cuh"

// Global memory of one block: the members of its task, their matrix row by row, and a stack of sets per warp.
struct wide_space {
  unsigned short* members;
  unsigned* matrix;
  unsigned* frames;  // of this warp; a frame is a set and one more word, the next member

  // cliques/enumerate.py computes the same size.
  __device__ wide_space(unsigned* memory, int most_members, int k) {
    const long long words = words_for(most_members);
    members = reinterpret_cast<unsigned short*>(memory);
    matrix = memory + (most_members + 1) / 2;
    frames = matrix + most_members * words + warp_id() * k * (words + 1);
  }

  // Builds the matrix of the candidates of the edge at `place` of a root. Returns their number. Called by the whole
  // block.
  __device__ int build(const unsigned* rows, int degree, int place) const {
    __shared__ int listed;
    const int root_words = words_for(degree);
    if (warp_id() == 0) {
      const unsigned* const row = rows + static_cast<long long>(place) * root_words;
      const int found = list_members(root_words, [&](int w) { return row[w] & bits_above(place, w); }, members);
      if (lane_id() == 0) listed = found;
    }
    __syncthreads();
    const int size = listed, words = words_for(size);
    for (int i = warp_id(); i < size; i += warps_per_block()) {
      const unsigned* const row = rows + static_cast<long long>(members[i]) * root_words;
      for (int word = 0; word < words; ++word) {
        const int column = 32 * word + lane_id();
        const int member = column < size ? members[column] : 0;
        const unsigned bits =
            __ballot_sync(full_mask, column < size && column > i && (row[member >> 5] >> (member & 31) & 1u) != 0);
        if (lane_id() == 0) matrix[static_cast<long long>(i) * words + word] = bits;
      }
    }
    __syncthreads();
    return size;
  }
};

// Writes the part of `set` that is in the row of a member, above the member. Returns its size. Called by all lanes of a
// warp.
__device__ __forceinline__ int narrow_wide(const bit_matrix& matrix, int words, const unsigned* set, int member,
                                           unsigned* child) {
  int size = 0;
  for (int word = lane_id(); word < words; word += 32) {
    const unsigned bits = matrix.at(member, word) & bits_above(member, word);
    child[word] = set == nullptr ? bits : set[word] & bits;
    size += __popc(child[word]);
  }
  __syncwarp();
  return warp_sum(size);
}

// Counts the edges inside a set, one lane per member.
__device__ __forceinline__ unsigned long long edges_wide(const bit_matrix& matrix, int words, const unsigned* set) {
  unsigned long long found = 0;
  for (int base = 0; base < words; ++base) {
    if ((set[base] >> lane_id() & 1u) == 0) continue;
    const int member = 32 * base + lane_id();
    for (int word = base; word < words; ++word) {
      found += static_cast<unsigned>(__popc(set[word] & matrix.at(member, word) & bits_above(member, word)));
    }
  }
  __syncwarp();
  return found;
}

// Counts cliques of `needed` (at least two) more vertices below one member of a matrix of any width. Called by one
// warp. `own_matrix` is shared memory for a matrix, in addition to that of the space.
template <int Words, class Meter>
__device__ unsigned long long search_wide(const wide_space& wide, const enumerate_space<Words>& space,
                                          const enumerate_rules& rules, const bit_matrix& matrix, int members,
                                          int branch, int needed, unsigned* own_matrix, Meter& meter) {
  const int words = words_for(members);
  unsigned long long found = 0;
  // Counts below the set of a frame and returns true. Returns false if the set is so large that it must be split.
  const auto finished = [&](const unsigned* set, int size, int left) {
    if (size < left) return true;
    if (left == 2) {
      found += edges_wide(matrix, words, set);
      return true;
    }
    if (size > 32 * Words) return false;
    // Build a separate matrix first: the search below may build again, in the warp's own space.
    list_members(words, [&](int w) { return set[w]; }, space.members);
    build_matrix(matrix, space.members, size, width_for<Words>(size), own_matrix, space.stride);
    found += search_set(space, rules, bit_matrix{own_matrix, 1, space.stride}, words_for(size),
                        full_word(size, lane_id()), size, left, 0, 1, meter);
    __syncwarp();
    return true;
  };
  unsigned* const frames = wide.frames;
  const int size = narrow_wide(matrix, words, nullptr, branch, frames);
  if (finished(frames, size, needed)) return found;
  if (lane_id() == 0) frames[words] = 0;
  __syncwarp();
  for (int depth = 1; depth > 0;) {
    unsigned* const frame = frames + (depth - 1) * (words + 1);
    int member = static_cast<int>(frame[words]);
    while (member < members && (frame[member >> 5] >> (member & 31) & 1u) == 0) ++member;
    __syncwarp();
    if (lane_id() == 0) frame[words] = static_cast<unsigned>(member + 1);
    __syncwarp();
    if (member >= members) {
      --depth;
      continue;
    }
    unsigned* const child = frame + words + 1;
    const int child_size = narrow_wide(matrix, words, frame, member, child);
    if (finished(child, child_size, needed - depth)) continue;
    if (lane_id() == 0) child[words] = 0;
    __syncwarp();
    ++depth;
  }
  return found;
}
