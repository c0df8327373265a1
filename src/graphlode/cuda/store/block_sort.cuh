// store/block_sort.cuh - sorts a small batch of updates by key, and equal keys by time, with one block.
//
// Every update first finds its rank among its 32 by counting the updates before it: all lanes read the same words, and
// no step waits for the previous one. Sorted runs are then merged in pairs: each update searches how many updates of
// the other run come before it, which with its place in its own run gives its new place. This takes a few instructions
// per step and one barrier per level; a sorting network has many more steps, with a barrier or shuffle each. The code
// is kept short because it runs once per batch and must be fetched each time. If key, place and delete bit fit one
// word, which holds unless a graph is very large, only that word is compared and moved.
#pragma once
#include "store/input.cuh"
#include "warp.cuh"

constexpr unsigned block_tile = 2048;  // maximum number of updates; store/input.py has the same number
constexpr unsigned place_bits = 11;
static_assert(block_tile == 1u << place_bits, "a place fits");

// Length of the runs that are sorted by counting: one update per lane. Up to counted_at_once updates form a single run,
// because counting them is faster than two levels of merging.
constexpr unsigned counted_run = 32, counted_at_once = 128;

// An update and its place in time.
struct placed_key {
  word key;
  unsigned place;
  __device__ __forceinline__ bool operator<(const placed_key& other) const {
    const word a = key << 1, b = other.key << 1;          // the delete bit does not count
    return (a < b) | ((a == b) & (place < other.place));  // without a branch
  }
};

struct alignas(16) two_words {
  word first, second;
};

// Updates in shared memory, one word each.
struct joined_updates {
  word* words;
  __device__ __forceinline__ word at(unsigned i) const { return words[i]; }
  __device__ __forceinline__ word at_byte(unsigned i) const {
    return *reinterpret_cast<const word*>(reinterpret_cast<const char*>(words) + i);
  }
  __device__ __forceinline__ void put(unsigned i, word update) const { words[i] = update; }
  // Several sums, so that no addition waits for another. They are floats because comparing already occupies the integer
  // units.
  __device__ __forceinline__ unsigned count_before(unsigned first, unsigned length, word update) const {
    constexpr unsigned at_a_time = 4;
    static_assert(counted_run % (2 * at_a_time) == 0, "no rest");
    const two_words* const pairs = reinterpret_cast<const two_words*>(words + first);
    float before[at_a_time] = {};
#pragma unroll 1
    for (unsigned i = 0; i < length / 2; i += at_a_time) {
#pragma unroll
      for (unsigned k = 0; k < at_a_time; ++k) {
        const two_words both = pairs[i + k];
        if (both.first < update) before[k] += 1.0f;
        if (both.second < update) before[k] += 1.0f;
      }
    }
    return static_cast<unsigned>(before[0] + before[1] + before[2] + before[3]);
  }
};

// The same for updates whose places are stored separately.
struct split_updates {
  word* keys;
  unsigned short* places;
  __device__ __forceinline__ placed_key at(unsigned i) const { return {keys[i], places[i]}; }
  __device__ __forceinline__ placed_key at_byte(unsigned i) const { return at(i / sizeof(word)); }
  __device__ __forceinline__ void put(unsigned i, const placed_key& update) const {
    keys[i] = update.key;
    places[i] = static_cast<unsigned short>(update.place);
  }
  __device__ __forceinline__ unsigned count_before(unsigned first, unsigned length, const placed_key& update) const {
    unsigned before = 0;
#pragma unroll 4
    for (unsigned i = first; i < first + length; ++i) before += at(i) < update;
    return before;
  }
};

// The first place of a sorted run whose update does not come before `update`. The run begins at `first` and has
// `length` updates, a power of two and at least counted_run. Uses indices, because pointers would lose the information
// that they are to shared memory.
template <class Updates, class Update>
__device__ __forceinline__ unsigned place_in_run(const Updates& updates, unsigned first, unsigned length,
                                                 const Update& update) {
  constexpr unsigned bytes = sizeof(word);  // places are counted in bytes here, to save multiplications
  unsigned place = bytes * first;
  const auto skip = [&](unsigned half) {
    if (updates.at_byte(place + bytes * (half - 1)) < update) place += bytes * half;
  };
#pragma unroll
  for (unsigned half = block_tile / 4; half >= counted_run; half /= 2) {
    if (half < length) skip(half);
  }
#pragma unroll
  for (unsigned half = counted_run / 2; half != 0; half /= 2) skip(half);
  skip(1);
  return place / bytes;
}

// Sorts the `size` updates of `from`, a power of two. `to` has the same size. Returns the one of both that holds the
// result. Called by all threads of the block.
template <class Updates>
__device__ __forceinline__ Updates sort_runs(Updates from, Updates to, unsigned size) {
  unsigned run = size <= counted_at_once ? size : counted_run;
  __syncthreads();
#pragma unroll 1
  for (unsigned i = threadIdx.x; i < size; i += blockDim.x) {
    const unsigned first = i & ~(run - 1);
    const auto update = from.at(i);
    to.put(first + from.count_before(first, run, update), update);
  }
  __syncthreads();
#pragma unroll 1
  for (; run < size; run <<= 1) {
    const Updates sorted = to;
    to = from;
    from = sorted;
#pragma unroll 1
    for (unsigned i = threadIdx.x; i < size; i += blockDim.x) {
      const auto update = from.at(i);
      const unsigned other = (i ^ run) & ~(run - 1);  // where the other run of the pair begins
      const unsigned before = place_in_run(from, other, run, update) - other;
      to.put((i & ~run) + before, update);
    }
    __syncthreads();
  }
  return to;
}

// Shared memory for sorting up to Most keys, in addition to the keys.
template <unsigned Most>
struct sort_room {
  two_words words[Most / 2];
  unsigned short places[Most];
};

// Sorts the `size` keys, a power of two up to Most, in ascending order and sets their places. Called by all threads of
// the block.
template <unsigned Most>
__device__ __forceinline__ void sort_block(word* keys, unsigned short* places, unsigned size, packed_form form,
                                           word num_rows, sort_room<Most>& room) {
  word* const more_keys = &room.words->first;
  unsigned short* const more_places = room.places;
  if (form.bits(num_rows) + place_bits + 1 <= 64) {
    for (unsigned i = threadIdx.x; i < size; i += blockDim.x) {
      const word key = keys[i], packed = key == no_key ? no_key : form.pack(key & ~delete_bit);
      more_keys[i] = (packed << place_bits | i) << 1 | key >> 63;
    }
    const joined_updates sorted = sort_runs(joined_updates{more_keys}, joined_updates{keys}, size);
    for (unsigned i = threadIdx.x; i < size; i += blockDim.x) {
      const word update = sorted.at(i);
      keys[i] = form.unpack(update >> (place_bits + 1)) | update << 63;
      places[i] = static_cast<unsigned short>((update >> 1) & (block_tile - 1));
    }
  } else {
    for (unsigned i = threadIdx.x; i < size; i += blockDim.x) {
      more_keys[i] = keys[i];
      more_places[i] = static_cast<unsigned short>(i);
    }
    const split_updates wanted{keys, places}, sorted = sort_runs(split_updates{more_keys, more_places}, wanted, size);
    for (unsigned i = threadIdx.x; i < size; i += blockDim.x) wanted.put(i, sorted.at(i));
  }
  __syncthreads();
}
