// clique_pivot_space.cuh - the memory of a warp that searches, and how a set of candidates becomes a smaller matrix.
//
// Matrices that are searched lie transposed: word w of row v at matrix[w * stride + v], so that lanes with different
// rows read different banks. Whenever the candidates have become few, the matrix among them is cut out, and the search
// below goes on with rows of 4, 2 or 1 words instead of those of the whole neighbourhood.
#pragma once
#include "clique_rows.cuh"
#include "warp.cuh"

constexpr int narrow_degree = 128;  // what a warp holds for itself
constexpr int narrow_words = narrow_degree / 32;
constexpr int narrow_stride = narrow_degree + 1;
constexpr int single_stride = 32;

// Shared memory of one warp. `places` are numbers among the root's neighbors.
struct warp_space {
  unsigned* narrow;               // up to narrow_degree rows of up to 4 words
  unsigned* single;               // up to 32 rows of one word
  unsigned* marks;                // a set of the root's neighbors
  unsigned* stack;                // the first frames; the others are in `overflow`
  unsigned* overflow;             // global memory
  unsigned short* list;           // the candidates of the node at hand
  unsigned short* narrow_places;  // of the rows of `narrow`
  unsigned short* single_places;
  int stack_words;

  // Words of it when roots have up to `degree` neighbors; clique_pivot.py knows them, too.
  __device__ static constexpr int words(int degree, int stack_words) {
    return narrow_words * narrow_stride + single_stride + words_of_set(degree) + stack_words + list_words(degree) +
           narrow_degree / 2 + single_stride / 2;
  }
  __device__ static constexpr int words_of_set(int degree) { return (degree + 31) / 32; }
  __device__ static constexpr int list_words(int degree) { return 16 * words_of_set(degree); }

  __device__ warp_space(unsigned* memory, int degree, int stack_words_, unsigned* overflow_)
      : overflow(overflow_), stack_words(stack_words_) {
    narrow = memory;
    single = narrow + narrow_words * narrow_stride;
    marks = single + single_stride;
    stack = marks + words_of_set(degree);
    list = reinterpret_cast<unsigned short*>(stack + stack_words);
    narrow_places = list + 2 * list_words(degree);
    single_places = narrow_places + narrow_degree;
  }

  // A frame of `size` words that begins `offset` words above the bottom of the stack.
  __device__ __forceinline__ unsigned* frame(int offset, int size) const {
    return offset + size <= stack_words ? stack + offset : overflow + offset;
  }
};

// A set of candidates, word w of it in lane w, as numbers in ascending order. Returns how many there are.
__device__ __forceinline__ int list_members(unsigned set, int words, unsigned short* list) {
  int size = 0;
  for (int w = 0; w < words; ++w) {
    const unsigned word = __shfl_sync(full_mask, set, w);
    if (word >> lane_id() & 1u) list[size + votes_below(word)] = static_cast<unsigned short>(32 * w + lane_id());
    size += __popc(word);
  }
  __syncwarp();
  return size;
}

// The matrix among `size` listed rows of a larger one, of which row(v, w) is word w of row v.
template <class Row>
__device__ __forceinline__ void cut_out(const unsigned short* list, int size, Row row, unsigned* matrix, int stride) {
  constexpr int ahead = 8;  // rows at a time: the loads do not wait for each other
  const int lane = lane_id();
  for (int first_column = 0; first_column < size; first_column += 32) {
    const bool there = first_column + lane < size;
    const int column = there ? list[first_column + lane] : 0;
    const int word = column >> 5, bit = column & 31;
    for (int first_row = 0; first_row < size; first_row += 32) {
      const int rows = min(32, size - first_row);
      unsigned mine = 0;
      for (int i = 0; i < rows; i += ahead) {
        unsigned found[ahead];
#pragma unroll
        for (int j = 0; j < ahead; ++j) found[j] = i + j < rows ? row(list[first_row + i + j], word) : 0;
#pragma unroll
        for (int j = 0; j < ahead; ++j) {
          const unsigned bits = __ballot_sync(full_mask, there && (found[j] >> bit & 1u));
          if (lane == i + j) mine = bits;
        }
      }
      if (lane < rows) matrix[(first_column >> 5) * stride + first_row + lane] = mine;
    }
  }
  __syncwarp();
}

// The whole matrix of a root. It is read as it lies, many words at a time, so that the warp waits for few loads only.
__device__ __forceinline__ void copy_root(const clique_root& root, unsigned* matrix, int stride) {
  constexpr int ahead = 8;
  const unsigned words = static_cast<unsigned>(root.words), end = static_cast<unsigned>(root.degree) * words;
  for (unsigned first = static_cast<unsigned>(lane_id()); first < end; first += 32 * ahead) {
    unsigned found[ahead];
#pragma unroll
    for (int j = 0; j < ahead; ++j) found[j] = first + 32 * j < end ? root.rows[first + 32 * j] : 0;
#pragma unroll
    for (int j = 0; j < ahead; ++j) {
      const unsigned i = first + 32 * j, v = words == 1 ? i : i / words;
      if (i < end) matrix[(i - v * words) * static_cast<unsigned>(stride) + v] = found[j];
    }
  }
  __syncwarp();
}

// The first `count` numbers as a set, word w of it in lane w.
__device__ __forceinline__ unsigned first_members(int count) {
  const int left = count - 32 * lane_id();
  return left >= 32 ? ~0u : left <= 0 ? 0u : (1u << left) - 1u;
}
