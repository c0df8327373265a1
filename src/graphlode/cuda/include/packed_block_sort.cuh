// packed_block_sort.cuh - a few updates by key, equal keys in order of time, by one block.
//
// Bitonic, with the updates in registers: most of its steps compare lanes of the same warp, which take each other's
// updates without shared memory and without waiting for other warps. Where key, place and delete bit fit into one word,
// as they do unless a graph is very large, that word is all there is to compare and to move.
#pragma once
#include "packed_input.cuh"
#include "warp.cuh"

constexpr unsigned block_tile = 2048;  // updates at most; graph/packed_input.py knows it, too
constexpr unsigned place_bits = 11;
static_assert(block_tile == 1u << place_bits, "a place fits");

// An update and its place in order of time.
struct placed_key {
  word key;
  unsigned place;
  __device__ __forceinline__ bool operator>(const placed_key& other) const {
    const word a = key << 1, b = other.key << 1;  // the delete bit does not count
    return a > b || (a == b && place > other.place);
  }
};

__device__ __forceinline__ placed_key from_lane(const placed_key& own, int lanes) {
  return {__shfl_xor_sync(full_mask, own.key, lanes), __shfl_xor_sync(full_mask, own.place, lanes)};
}
__device__ __forceinline__ word from_lane(word own, int lanes) { return __shfl_xor_sync(full_mask, own, lanes); }

__device__ __forceinline__ void show(const placed_key& own, word* keys, unsigned short* places) {
  keys[threadIdx.x] = own.key;
  places[threadIdx.x] = static_cast<unsigned short>(own.place);
}
__device__ __forceinline__ void show(word own, word* keys, unsigned short*) { keys[threadIdx.x] = own; }
__device__ __forceinline__ void see(placed_key& other, unsigned thread, const word* keys,
                                    const unsigned short* places) {
  other = {keys[thread], places[thread]};
}
__device__ __forceinline__ void see(word& other, unsigned thread, const word* keys, const unsigned short*) {
  other = keys[thread];
}

// What the thread at a power of two of threads away has: lanes ask each other, warps meet in `keys` and `places`.
template <class Item>
__device__ __forceinline__ Item exchange(const Item& own, unsigned distance, word* keys, unsigned short* places) {
  if (distance < 32) return from_lane(own, static_cast<int>(distance));
  show(own, keys, places);
  __syncthreads();
  Item found;
  see(found, threadIdx.x ^ distance, keys, places);
  __syncthreads();
  return found;
}

// Sorts `size` items, a power of two, ascending: a thread has the one of its number and, if there are twice as many
// items as threads, that of the second half.
template <class Item>
__device__ __forceinline__ void sort_registers(Item& low, Item& high, unsigned size, word* keys,
                                               unsigned short* places) {
  const unsigned thread = threadIdx.x;
  const bool twice = size > blockDim.x;
#pragma unroll 1
  for (unsigned length = 2; length <= size; length <<= 1) {
#pragma unroll 1
    for (unsigned distance = length >> 1; distance > 0; distance >>= 1) {
      if (distance == blockDim.x) {  // the two of a thread
        if (low > high) {
          const Item least = high;
          high = low;
          low = least;
        }
        continue;
      }
      const bool lower = (thread & distance) == 0;
      const Item other = exchange(low, distance, keys, places);
      if ((low > other) == (lower == ((thread & length) == 0))) low = other;
      if (twice) {
        const Item above = exchange(high, distance, keys, places);
        if ((high > above) == (lower == (((thread + blockDim.x) & length) == 0))) high = above;
      }
    }
  }
}

// Sorts the `size` keys, a power of two, ascending, and sets their places. All threads take part, in whole warps, half
// as many as there are keys or more.
__device__ __forceinline__ void sort_block(word* keys, unsigned short* places, unsigned size, packed_form form,
                                           word num_rows) {
  const unsigned thread = threadIdx.x, second = thread + blockDim.x;
  const bool twice = size > blockDim.x;
  const word own = thread < size ? keys[thread] : no_key, other = twice ? keys[second] : no_key;
  placed_key low{own, thread}, high{other, second};
  __syncthreads();
  if (form.bits(num_rows) + place_bits + 1 <= 64) {
    const auto squeeze = [&](const placed_key& from) {
      if (from.key == no_key) return no_key;
      return (form.pack(from.key & ~delete_bit) << place_bits | from.place) << 1 | from.key >> 63;
    };
    const auto widen = [&](word from) {
      const word key = form.unpack(from >> (place_bits + 1));
      return placed_key{key | from << 63, static_cast<unsigned>(from >> 1) & (block_tile - 1)};
    };
    word small = squeeze(low), large = squeeze(high);
    sort_registers(small, large, size, keys, places);
    low = widen(small);
    high = widen(large);
  } else {
    sort_registers(low, high, size, keys, places);
  }
  if (thread < size) show(low, keys, places);
  if (twice) show(high, keys + blockDim.x, places + blockDim.x);
  __syncthreads();
}
