// cliques/matrix.cuh - sets of candidates and the adjacency among them, as bits, used by one warp.
//
// A search starts from the rows of a root (cliques/rows.cuh) and soon uses only a small part of them. That part is then
// built as a matrix of its own in shared memory. Members are renumbered 0 .. n - 1, and row i keeps only the members
// above i, so that every clique is found once, in ascending order. Matrices are stored word by word, not row by row:
// lanes that read the same word of different rows then use different banks.
#pragma once
#include "cliques/rows.cuh"
#include "warp.cuh"

// Bit rows in any layout: those of a root in the slab, or a built matrix.
struct bit_matrix {
  const unsigned* words;
  int row_stride, word_stride;

  __device__ __forceinline__ unsigned at(int row, int word) const {
    return words[static_cast<long long>(row) * row_stride + static_cast<long long>(word) * word_stride];
  }
};

// The members that may be the first of a clique: first, first + step, ... below last. The parts of a task use a step,
// so that each part has long and short rows.
struct branch_range {
  int first, last, step;
};

// Bits 32 word .. 32 word + 31 of the set [0, size).
__device__ __forceinline__ unsigned full_word(int size, int word) {
  const int bits = size - 32 * word;
  return bits >= 32 ? ~0u : bits <= 0 ? 0u : (1u << bits) - 1u;
}

// Writes the members of a set of `words` words in ascending order and returns their number. word(w) is the w-th word;
// it is called by lane w modulo 32.
template <class Word>
__device__ __forceinline__ int list_members(int words, Word word, unsigned short* members) {
  int size = 0;
  for (int base = 0; base < words; base += 32) {
    unsigned bits = base + lane_id() < words ? word(base + lane_id()) : 0u;
    const int end = size + warp_inclusive_scan(__popc(bits));
    size = __shfl_sync(full_mask, end, 31);
    for (int place = end - __popc(bits); bits != 0; bits &= bits - 1) {
      members[place++] = static_cast<unsigned short>(32 * (base + lane_id()) + __ffs(static_cast<int>(bits)) - 1);
    }
  }
  __syncwarp();
  return size;
}

// Builds the matrix of `size` listed members of `from`. All words up to `width` are written, because a search compiled
// for that width reads them. The lanes test 32 columns at once, and a ballot gives one word of each row.
__device__ __forceinline__ void build_matrix(const bit_matrix& from, const unsigned short* members, int size, int width,
                                             unsigned* matrix, int stride) {
  const int lane = lane_id();
  for (int word = 0; word < width; ++word) {
    const int column = 32 * word + lane;
    const bool there = column < size;
    const int member = there ? members[column] : 0;
    const int from_word = member >> 5, shift = member & 31;
    for (int first = 0; first < size; first += 32) {
      const int count = min(32, size - first);
      unsigned mine = 0;
      if (first < 32 * word + 32 && 32 * word < size) {  // rows below the last column of this word
#pragma unroll 4
        for (int i = 0; i < count; ++i) {
          const unsigned bits = from.at(members[first + i], from_word) >> shift;
          const unsigned row = __ballot_sync(full_mask, there && column > first + i && (bits & 1u) != 0);
          if (lane == i) mine = row;
        }
      }
      if (lane < count) matrix[word * stride + first + lane] = mine;
    }
  }
  __syncwarp();
}

// Copies all rows of a root. The matrix keeps the numbering of the root.
__device__ __forceinline__ void copy_matrix(const unsigned* rows, int degree, int width, unsigned* matrix, int stride) {
  const int words = words_for(degree);
  for (int word = 0; word < width; ++word) {
    for (int row = lane_id(); row < degree; row += 32) {
      matrix[word * stride + row] = word < words ? rows[row * words + word] & bits_above(row, word) : 0u;
    }
  }
  __syncwarp();
}

// Visits the tree of sets below a matrix of up to 32 words. All lanes of a warp are on one path; each lane has one word
// of the set. visit(member, child, size, needed) receives the last member of the path, this lane's word of the set
// below it, its size, and the number of vertices that a clique still needs. It returns true to descend. Sets smaller
// than needed are skipped. `frames` has 2 * words words per level: a set, and its members still to be visited. In the
// first set only the members of `range` are visited.
template <class Visit>
__device__ __forceinline__ void walk_sets(const bit_matrix& matrix, int words, unsigned start, branch_range range,
                                          int needed, unsigned* frames, Visit visit) {
  const int lane = lane_id();
  const bool own = lane < words;
  unsigned chosen = 0;
  const int skipped = (max(0, 32 * lane - range.first) + range.step - 1) / range.step;
  for (int i = range.first + skipped * range.step; i < min(range.last, 32 * lane + 32); i += range.step) {
    chosen |= 1u << (i & 31);
  }
  if (own) {
    frames[lane] = start;
    frames[words + lane] = start & chosen;
  }
  __syncwarp();
  for (int depth = 1; depth > 0;) {
    unsigned* const frame = frames + 2 * words * (depth - 1);
    const unsigned set = own ? frame[lane] : 0u, rest = own ? frame[words + lane] : 0u;
    const unsigned nonzero = __ballot_sync(full_mask, rest != 0);
    if (nonzero == 0) {
      --depth;
      continue;
    }
    const int word = __ffs(static_cast<int>(nonzero)) - 1;
    const unsigned bits = __shfl_sync(full_mask, rest, word);
    const int member = 32 * word + __ffs(static_cast<int>(bits)) - 1;
    if (lane == word) frame[words + word] = bits & (bits - 1);
    const unsigned child = own ? set & matrix.at(member, lane) & bits_above(member, lane) : 0u;
    const int size = static_cast<int>(__reduce_add_sync(full_mask, static_cast<unsigned>(__popc(child))));
    if (size < needed - depth || !visit(member, child, size, needed - depth)) continue;
    if (own) frame[2 * words + lane] = frame[3 * words + lane] = child;
    __syncwarp();
    ++depth;
  }
}
