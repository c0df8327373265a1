// graph/packed_sort.cu - a batch of updates by key, equal keys in order of time.
//
// Batches of a few tiles: each tile is sorted by a block, then every update looks up how many of the other tiles come
// before it, which is its place. Two launches, where a radix sort takes seven of next to nothing each.
//
// Larger ones: a radix sort over the bits that keys really have: row above neighbor without the zeros between them,
// eight bits a pass, from the lowest. It is stable, so the delete bit rides along and the last update of a key stays
// last. Tiles of a pass follow each other in one sweep: each publishes how often it has every digit, and looks back at
// earlier tiles for how often those have. Tiles are numbered as their blocks begin, so nobody waits for one that has
// not begun. After Adinets and Merrill, "Onesweep: a faster least significant digit radix sort for GPUs" (2022).
#include "block.cuh"
#include "grid.cuh"
#include "packed_block_sort.cuh"
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

// The digit of a packed key that a pass sorts by.
__device__ __forceinline__ unsigned digit_of(word packed, unsigned pass) {
  return static_cast<unsigned>((packed & ~delete_bit) >> (pass * digit_bits)) & (num_digits - 1);
}

// Makes space and information zero.
extern "C" __global__ void packed_clear(const packed_batch* batch_at, unsigned words) {
  unsigned* const space = batch_at->space;
  if (grid_thread_id() == 0) *batch_at->info = packed_info{};
  for (long long i = grid_thread_id(); i < words; i += grid_threads()) space[i] = 0;
}

// How often the batch has each digit of each pass; also checks what is given as pairs. A thread per update.
extern "C" __global__ void __launch_bounds__(sort_threads)
    packed_digits(const packed_store* store_at, const packed_batch* batch_at, const void* tails, const void* heads,
                  const unsigned char* deletes, unsigned how, unsigned n, unsigned neighbor_bits, unsigned passes) {
  const packed_input input{tails, heads, deletes, nullptr, how};
  unsigned* const space = batch_at->space;
  packed_info* const info = batch_at->info;
  const word num_rows = store_at->num_rows;
  __shared__ unsigned counts[most_passes * num_digits];
  for (unsigned i = threadIdx.x; i < passes * num_digits; i += blockDim.x) counts[i] = 0;
  __syncthreads();
  for (long long i = grid_thread_id(); i < n; i += grid_threads()) {
    const word key = packed_form{neighbor_bits}.pack(read_update(input, num_rows, static_cast<unsigned>(i), info));
    for (unsigned pass = 0; pass < passes; ++pass) atomicAdd(counts + pass * num_digits + digit_of(key, pass), 1u);
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

// How often the tiles before this one have the thread's digit. Several are asked at a time: when all tiles begin
// together, none of them knows of those before it yet, and one after the other would take longer than all the rest.
__device__ __forceinline__ unsigned look_back(const unsigned* published, unsigned tile) {
  constexpr unsigned at_a_time = 4;
  unsigned sum = 0;
  while (tile > 0) {
    const unsigned asked = min(at_a_time, tile);
    unsigned values[at_a_time];
#pragma unroll
    for (unsigned i = 0; i < at_a_time; ++i) {
      const volatile unsigned* const there = published + static_cast<word>(tile - 1 - min(i, asked - 1)) * num_digits;
      values[i] = there[threadIdx.x];
    }
    unsigned heard = 0;  // of those asked, without a gap
    bool all = false;
#pragma unroll
    for (unsigned i = 0; i < at_a_time; ++i) {
      if (i != heard || i >= asked || all || values[i] < of_tile) continue;
      sum += values[i] & published_count;
      all = values[i] >= of_all_so_far;
      ++heard;
    }
    if (all) break;
    tile -= heard;
    if (heard == 0) pause_thread(20);
  }
  return sum;
}

// One pass of so many: a block per tile. The first reads the batch as it is given. If there are weights, updates take
// along which they are. The last pass writes where the result is wanted, the one before it elsewhere, and so on.
extern "C" __global__ void __launch_bounds__(sort_threads, 4)
    packed_sort_pass(const packed_store* store_at, const packed_batch* batch_at, const void* tails, const void* heads,
                     const unsigned char* deletes, unsigned how, unsigned n, unsigned neighbor_bits, unsigned pass,
                     unsigned passes) {
  __shared__ word staged[sort_tile];
  __shared__ unsigned counts[sort_warps][num_digits];
  __shared__ unsigned targets[num_digits];
  __shared__ unsigned sums[32], drawn;
  const packed_input input{tails, heads, deletes, nullptr, how};
  const packed_batch batch = *batch_at;
  const bool to_result = ((passes - pass) & 1u) != 0, with_places = input.has_weights();
  word* const keys_out = to_result ? batch.sorted : batch.effects;
  const word* const keys_in = to_result ? batch.effects : batch.sorted;
  unsigned* const places_out = to_result ? batch.places : batch.leaves;
  const unsigned* const places_in = to_result ? batch.leaves : batch.places;
  unsigned* const space = batch.space;
  const packed_form form{neighbor_bits};
  const unsigned digit = threadIdx.x, warp = static_cast<unsigned>(warp_id()), tiles = gridDim.x;
  if (threadIdx.x == 0) drawn = atomicAdd(space + tickets_at + pass, 1u);
  for (unsigned i = 0; i < sort_warps; ++i) counts[i][digit] = 0;
  __syncthreads();
  const unsigned tile = drawn, first = tile * sort_tile + warp * sort_items * 32 + static_cast<unsigned>(lane_id());

  // What is given is made into keys in a loop of its own, through shared memory: the code below is long enough to wait
  // for.
  const unsigned staged_at = warp * sort_items * 32 + static_cast<unsigned>(lane_id());
  if (pass == 0) {
#pragma unroll 4
    for (unsigned k = 0; k < sort_items; ++k) {
      const unsigned t = first + k * 32;
      staged[staged_at + k * 32] = t < n ? form.pack(read_update(input, store_at->num_rows, t, nullptr)) : no_key;
    }
  }
  word keys[sort_items];
  unsigned short ranks[sort_items];
#pragma unroll
  for (unsigned k = 0; k < sort_items; ++k) {
    const unsigned t = first + k * 32;
    if (pass == 0) {
      keys[k] = staged[staged_at + k * 32];
    } else {
      keys[k] = t < n ? keys_in[t] : no_key;  // has the highest digit in every pass
    }
  }
#pragma unroll
  for (unsigned k = 0; k < sort_items; ++k) {
    ranks[k] = static_cast<unsigned short>(rank_in_warp(digit_of(keys[k], pass), counts[warp]));
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
    const unsigned own_digit = digit_of(keys[k], pass), place = counts[warp][own_digit] + ranks[k], t = first + k * 32;
    staged[place] = keys[k];
    if (with_places && t < n) places_out[targets[own_digit] + place] = pass == 0 ? t : places_in[t];
  }
  __syncthreads();
  const unsigned valid = min(sort_tile, n - tile * sort_tile);
  for (unsigned i = threadIdx.x; i < valid; i += sort_threads) {
    const word key = staged[i];
    keys_out[targets[digit_of(key, pass)] + i] = key;
  }
}

// Tiles of block_tile updates, a block each, sorted where the result is not wanted. Makes the information zero.
extern "C" __global__ void __launch_bounds__(1024)
    packed_sort_tiles(const packed_store* store_at, const packed_batch* batch_at, const void* tails, const void* heads,
                      const unsigned char* deletes, unsigned how, unsigned n, unsigned neighbor_bits) {
  __shared__ word keys[block_tile];
  __shared__ unsigned short places[block_tile];
  const packed_input input{tails, heads, deletes, nullptr, how};
  const packed_batch batch = *batch_at;
  const unsigned first = blockIdx.x * block_tile, count = min(block_tile, n - first);
  if (grid_thread_id() == 0) *batch.info = packed_info{};
  unsigned size = 64;
  while (size < count) size <<= 1;
  for (unsigned i = threadIdx.x; i < size; i += blockDim.x) {
    keys[i] = i < count ? read_update(input, store_at->num_rows, first + i, nullptr) : no_key;
  }
  __syncthreads();
  const packed_form form{neighbor_bits};
  sort_block(keys, places, size, form, store_at->num_rows);
  for (unsigned i = threadIdx.x; i < count; i += blockDim.x) {
    batch.effects[first + i] = form.pack(keys[i]);
    if (input.has_weights()) batch.leaves[first + i] = first + places[i];
  }
}

// Sorted tiles become one: a thread per update. Also checks what is given as pairs.
extern "C" __global__ void packed_merge_tiles(const packed_store* store_at, const packed_batch* batch_at,
                                              const void* tails, const void* heads, const unsigned char* deletes,
                                              unsigned how, unsigned n) {
  const packed_input input{tails, heads, deletes, nullptr, how};
  const packed_batch batch = *batch_at;
  for (long long i = grid_thread_id(); i < n; i += grid_threads()) {
    const unsigned t = static_cast<unsigned>(i), tile = t / block_tile;
    read_update(input, store_at->num_rows, t, batch.info);
    const word key = batch.effects[t];
    unsigned rank = t % block_tile;
    for (unsigned first = 0; first < n; first += block_tile) {
      if (first / block_tile == tile) continue;
      // Of equal keys, those of earlier tiles come first; the delete bit does not count.
      const word bound = (key & ~delete_bit) + (first / block_tile < tile);
      unsigned low = first, high = min(n, first + block_tile);
      while (low < high) {
        const unsigned middle = low + (high - low) / 2;
        if ((batch.effects[middle] & ~delete_bit) < bound) {
          low = middle + 1;
        } else {
          high = middle;
        }
      }
      rank += low - first;
    }
    batch.sorted[rank] = key;
    if (input.has_weights()) batch.places[rank] = batch.leaves[t];
  }
}
