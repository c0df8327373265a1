// cliques/pivot_space.cuh - the memory of a warp that searches, and how a set of candidates becomes a smaller matrix.
//
// Matrices that are searched lie transposed: word w of row v at matrix[w * stride + v], so that lanes with different
// rows read different banks. Whenever the candidates have become few, the matrix among them is cut out, and the search
// below goes on with rows of 4, 2 or 1 words instead of those of the whole neighborhood.
#pragma once
#include "cliques/rows.cuh"
#include "warp.cuh"
#if !defined(MAX_WORDS)
#error "MAX_WORDS is set by the host"
#endif
#if !defined(STACK_WORDS)  // tests have it smaller
#define STACK_WORDS 160
#endif

constexpr int narrow_degree = 128;  // what a warp holds for itself
constexpr int narrow_words = narrow_degree / 32;
constexpr int narrow_stride = narrow_degree + 1;
constexpr int single_stride = 32;
constexpr int stack_words = STACK_WORDS;
constexpr int state_words = 32;  // for pivot_search

// Shared memory of one warp, which begins at `memory`: where everything lies is known when the kernel is compiled, so
// that nothing has to be looked up. `places` are numbers among the root's neighbors. cliques/pivot.py knows it, too.
struct warp_space {
  unsigned* memory;

  __device__ __forceinline__ unsigned* narrow() const { return memory; }  // up to narrow_degree rows of up to 4 words
  __device__ __forceinline__ unsigned* single() const { return memory + at_single; }  // up to 32 rows of one word
  __device__ __forceinline__ unsigned* stack() const { return memory + at_stack; }    // the first frames
  __device__ __forceinline__ unsigned short* list() const {  // the candidates of the node at hand
    return reinterpret_cast<unsigned short*>(memory + at_list);
  }
  __device__ __forceinline__ unsigned short* narrow_places() const {  // of the rows of `narrow`
    return reinterpret_cast<unsigned short*>(memory + at_narrow_places);
  }
  __device__ __forceinline__ unsigned short* single_places() const {
    return reinterpret_cast<unsigned short*>(memory + at_single_places);
  }
  __device__ __forceinline__ unsigned* marks() const { return memory + at_marks; }  // two sets of the root's neighbors

  static constexpr int list_words = 16 * (MAX_WORDS > narrow_words ? MAX_WORDS : narrow_words);
  static constexpr int at_single = narrow_words * narrow_stride;
  static constexpr int at_stack = at_single + single_stride;
  static constexpr int at_list = at_stack + stack_words;
  static constexpr int at_narrow_places = at_list + list_words;
  static constexpr int at_single_places = at_narrow_places + narrow_degree / 2;
  static constexpr int at_state = at_single_places + single_stride / 2;
  static constexpr int at_marks = at_state + state_words;  // the last: of long roots they have any length
};
static_assert(warp_space::at_state % 4 == 0, "the state has 64-bit words");

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
