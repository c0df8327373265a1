// graph/packed_sort.cu - a batch of updates by key, equal keys in order of time.
//
// A radix sort over the bits that keys really have: row above neighbor without the zeros between them, eight bits a
// pass, from the lowest. It is stable, so the delete bit rides along and the last update of a key stays last. Tiles of
// a pass follow each other in one sweep: each publishes how often it has every digit, and looks back at earlier tiles
// for how often those have. Tiles are numbered as their blocks begin, so nobody waits for one that has not begun.
// After Adinets and Merrill, "Onesweep: a faster least significant digit radix sort for GPUs" (2022).
#include "block.cuh"
#include "grid.cuh"
#include "packed_input.cuh"

constexpr unsigned digit_bits = 8, num_digits = 1u << digit_bits, most_passes = 8;
constexpr unsigned sort_threads = 256, sort_warps = sort_threads / 32, sort_items = 16;
constexpr unsigned sort_tile = sort_threads * sort_items;
static_assert(sort_threads == num_digits, "a thread looks after a digit");

// The space of a sort, in words, all zero before: how often the batch has each digit of each pass, how many tiles of
// each pass have begun, then twice, by turns of the passes, what every tile has published of every digit.
constexpr unsigned tickets_at = most_passes * num_digits, published_at = tickets_at + 2 * most_passes;

// A tile publishes how often it has a digit, then how often it and all before it have.
constexpr unsigned of_tile = 1u << 30, of_all_so_far = 2u << 30, published_count = of_tile - 1;

struct digit_reader {
  unsigned neighbor_bits, shift;
  __device__ __forceinline__ digit_reader(unsigned neighbor_bits_, unsigned pass)
      : neighbor_bits(neighbor_bits_), shift(pass * digit_bits) {}
  __device__ __forceinline__ unsigned operator()(word key) const {
    const word low = key & ((1ull << neighbor_bits) - 1), row = (key & ~delete_bit) >> 32;
    return static_cast<unsigned>((row << neighbor_bits | low) >> shift) & (num_digits - 1);
  }
};

// Makes space and information zero.
extern "C" __global__ void packed_clear(unsigned* space, unsigned words, packed_info* info) {
  if (grid_thread_id() == 0) *info = packed_info{};
  for (long long i = grid_thread_id(); i < words; i += grid_threads()) space[i] = 0;
}

// How often the batch has each digit of each pass; also checks what is given as pairs. A thread per update.
extern "C" __global__ void __launch_bounds__(sort_threads)
    packed_digits(const packed_store* store_at, const void* tails, const void* heads, const unsigned char* deletes,
                  unsigned how, unsigned n, unsigned neighbor_bits, unsigned passes, unsigned* space,
                  packed_info* info) {
  const packed_input input{tails, heads, deletes, nullptr, how};
  const word num_rows = store_at->num_rows;
  __shared__ unsigned counts[most_passes * num_digits];
  for (unsigned i = threadIdx.x; i < passes * num_digits; i += blockDim.x) counts[i] = 0;
  __syncthreads();
  for (long long i = grid_thread_id(); i < n; i += grid_threads()) {
    const word key = read_update(input, num_rows, static_cast<unsigned>(i), info);
    for (unsigned pass = 0; pass < passes; ++pass) {
      atomicAdd(counts + pass * num_digits + digit_reader(neighbor_bits, pass)(key), 1u);
    }
  }
  __syncthreads();
  for (unsigned i = threadIdx.x; i < passes * num_digits; i += blockDim.x) {
    if (counts[i] != 0) atomicAdd(space + i, counts[i]);
  }
}

// The rank of each of a warp's keys among those of its digit that the warp has seen so far, which `counts` adds up.
__device__ __forceinline__ unsigned rank_in_warp(unsigned digit, unsigned* counts) {
  unsigned peers = full_mask;  // the lanes with the same digit
  for (unsigned bit = 0; bit < digit_bits; ++bit) {
    const bool set = (digit >> bit & 1u) != 0;
    const unsigned votes = __ballot_sync(full_mask, set);
    peers &= set ? votes : ~votes;
  }
  const int leader = __ffs(static_cast<int>(peers)) - 1;
  unsigned before = 0;
  if (lane_id() == leader) {
    before = counts[digit];
    counts[digit] = before + static_cast<unsigned>(__popc(peers));
  }
  __syncwarp();
  return __shfl_sync(full_mask, before, leader) + static_cast<unsigned>(votes_below(peers));
}

// How often the tiles before this one have the thread's digit.
__device__ __forceinline__ unsigned look_back(const unsigned* published, unsigned tile) {
  unsigned sum = 0;
  while (tile > 0) {
    const volatile unsigned* const there = published + static_cast<word>(--tile) * num_digits + threadIdx.x;
    unsigned value = *there;
    while (value < of_tile) {
      pause_thread(20);
      value = *there;
    }
    sum += value & published_count;
    if (value >= of_all_so_far) break;
  }
  return sum;
}

// One pass: a block per tile. The first reads the batch as it is given. With `with_places`, updates take along which
// they are.
extern "C" __global__ void __launch_bounds__(sort_threads)
    packed_sort_pass(const packed_store* store_at, const void* tails, const void* heads, const unsigned char* deletes,
                     unsigned how, unsigned n, unsigned neighbor_bits, unsigned pass, unsigned* space,
                     const word* keys_in, const unsigned* places_in, word* keys_out, unsigned* places_out,
                     int with_places) {
  __shared__ word staged[sort_tile];
  __shared__ unsigned counts[sort_warps][num_digits];
  __shared__ unsigned targets[num_digits];
  __shared__ unsigned sums[32], drawn;
  const packed_input input{tails, heads, deletes, nullptr, how};
  const digit_reader digit_of(neighbor_bits, pass);
  const unsigned digit = threadIdx.x, warp = static_cast<unsigned>(warp_id()), tiles = gridDim.x;
  if (threadIdx.x == 0) drawn = atomicAdd(space + tickets_at + pass, 1u);
  for (unsigned i = 0; i < sort_warps; ++i) counts[i][digit] = 0;
  __syncthreads();
  const unsigned tile = drawn, first = tile * sort_tile + warp * sort_items * 32 + static_cast<unsigned>(lane_id());

  word keys[sort_items];
  unsigned short ranks[sort_items];
#pragma unroll
  for (unsigned k = 0; k < sort_items; ++k) {
    const unsigned t = first + k * 32;
    keys[k] = no_key;  // has the highest digit in every pass
    if (t < n) keys[k] = pass == 0 ? read_update(input, store_at->num_rows, t, nullptr) : keys_in[t];
  }
#pragma unroll
  for (unsigned k = 0; k < sort_items; ++k) {
    ranks[k] = static_cast<unsigned short>(rank_in_warp(digit_of(keys[k]), counts[warp]));
  }
  __syncthreads();

  unsigned total = 0;
  for (unsigned i = 0; i < sort_warps; ++i) {
    const unsigned own = counts[i][digit];
    counts[i][digit] = total;
    total += own;
  }
  unsigned* const published = space + published_at + static_cast<word>(pass & 1u) * tiles * num_digits;
  unsigned* const others = space + published_at + static_cast<word>((pass & 1u) ^ 1u) * tiles * num_digits;
  const word own = static_cast<word>(tile) * num_digits + digit;
  volatile unsigned* const here = published + own;
  *here = (tile == 0 ? of_all_so_far : of_tile) | total;
  others[own] = 0;  // for the next pass; the last one has read it
  unsigned all;
  const unsigned start = block_scan(total, sums, all) - total;
  const unsigned in_batch = space[pass * num_digits + digit];
  const unsigned digit_start = block_scan(in_batch, sums, all) - in_batch;
  const unsigned before = look_back(published, tile);
  if (tile > 0) *here = of_all_so_far | (before + total);
  for (unsigned i = 0; i < sort_warps; ++i) counts[i][digit] += start;
  targets[digit] = digit_start + before - start;
  __syncthreads();

#pragma unroll
  for (unsigned k = 0; k < sort_items; ++k) {
    const unsigned own_digit = digit_of(keys[k]), place = counts[warp][own_digit] + ranks[k], t = first + k * 32;
    staged[place] = keys[k];
    if (with_places && t < n) places_out[targets[own_digit] + place] = pass == 0 ? t : places_in[t];
  }
  __syncthreads();
  const unsigned valid = min(sort_tile, n - tile * sort_tile);
  for (unsigned i = threadIdx.x; i < valid; i += sort_threads) {
    const word key = staged[i];
    keys_out[targets[digit_of(key)] + i] = key;
  }
}
