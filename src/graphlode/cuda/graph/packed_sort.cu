// graph/packed_sort.cu - a batch of updates by key, equal keys in order of time.
//
// Batches of some hundred tiles: each tile is sorted by a block, then runs are merged, many at a time: every update
// looks up how many of the other runs of its group come before it, which is its place. Two or three launches, where a
// radix sort takes seven of next to nothing each.
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

// How often the batch has each digit of each pass; also checks what is given as pairs. A thread per update; few and
// large blocks, since each adds all of its counts to those of the batch.
extern "C" __global__ void __launch_bounds__(1024, 2)
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
    // All ones where the bit is set. Not asked for as a condition, which would be found out twice.
    const int set = static_cast<int>(digit << (31 - bit)) >> 31;
    peers &= ~(__ballot_sync(full_mask, set) ^ static_cast<unsigned>(set));
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

// How often the tiles before this one have the thread's digit. Several are asked at a time, and more of them the longer
// it takes: when all tiles begin together, none of them knows of those before it yet, and every look takes as long as
// reading a whole tile.
__device__ __forceinline__ unsigned look_back(const unsigned* published, unsigned tile) {
  constexpr unsigned most_at_a_time = 16;
  unsigned sum = 0, at_a_time = 4;
  while (tile > 0) {
    const unsigned asked = min(at_a_time, tile);
    unsigned values[most_at_a_time];
#pragma unroll
    for (unsigned i = 0; i < most_at_a_time; ++i) {
      const volatile unsigned* const there = published + static_cast<word>(tile - 1 - min(i, asked - 1)) * num_digits;
      values[i] = i < asked ? there[threadIdx.x] : 0;
    }
    unsigned heard = 0;  // of those asked, without a gap
    bool all = false;
#pragma unroll
    for (unsigned i = 0; i < most_at_a_time; ++i) {
      if (i != heard || all || values[i] < of_tile) continue;
      sum += values[i] & published_count;
      all = values[i] >= of_all_so_far;
      ++heard;
    }
    if (all) break;
    tile -= heard;
    at_a_time = min(most_at_a_time, 2 * at_a_time);
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
  __shared__ word sums[32];
  __shared__ unsigned drawn;
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
  targets[digit] = space[pass * num_digits + digit];  // how often the batch has it: read in time, kept out of the way
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
  unsigned ranks[sort_items / 2] = {};  // two in a word: there are not enough registers for one in each
  const auto rank_of = [&](unsigned k) { return ranks[k / 2] >> (k % 2 * 16) & 0xffffu; };
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
    ranks[k / 2] += rank_in_warp(digit_of(keys[k], pass), counts[warp]) << (k % 2 * 16);
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
  const word both = static_cast<word>(targets[digit]) << 32 | total;
  word all;
  const word starts = block_scan(both, sums, all) - both;
  const unsigned digit_start = static_cast<unsigned>(starts >> 32), start = static_cast<unsigned>(starts);
  for (unsigned i = 0; i < sort_warps; ++i) counts[i][digit] += start;
  __syncthreads();

  // In order within the tile, before it is known where the tile goes: nobody else's counts are needed for that.
#pragma unroll
  for (unsigned k = 0; k < sort_items; ++k) {
    ranks[k / 2] += counts[warp][digit_of(keys[k], pass)] << (k % 2 * 16);
    staged[rank_of(k)] = keys[k];
  }
  const unsigned before = look_back(published, tile);
  if (tile > 0) *here = of_all_so_far | (before + total);
  targets[digit] = digit_start + before - start;
  __syncthreads();

  const unsigned valid = min(sort_tile, n - tile * sort_tile);
  unsigned went_to[sort_items];
#pragma unroll
  for (unsigned k = 0; k < sort_items; ++k) {
    const unsigned i = threadIdx.x + k * sort_threads;
    if (i >= valid) break;
    const word key = staged[i];
    went_to[k] = targets[digit_of(key, pass)] + i;
    keys_out[went_to[k]] = key;
  }
  if (!with_places) return;
  __syncthreads();
  unsigned* const staged_places = reinterpret_cast<unsigned*>(staged);
#pragma unroll
  for (unsigned k = 0; k < sort_items; ++k) {
    const unsigned t = first + k * 32;
    if (t < n) staged_places[rank_of(k)] = pass == 0 ? t : places_in[t];
  }
  __syncthreads();
#pragma unroll
  for (unsigned k = 0; k < sort_items; ++k) {
    const unsigned i = threadIdx.x + k * sort_threads;
    if (i >= valid) break;
    places_out[went_to[k]] = staged_places[i];
  }
}

constexpr unsigned merge_tile = 1024;

// Where sorted runs go if so many merges follow: by turns, so that the last one writes where the result is wanted.
struct run_buffers {
  word* keys;
  unsigned* places;
  __device__ __forceinline__ run_buffers(const packed_batch& batch, unsigned merges)
      : keys(merges & 1u ? batch.effects : batch.sorted), places(merges & 1u ? batch.leaves : batch.places) {}
};

// Tiles of merge_tile updates, a block each, sorted; so many merges follow. Makes the information zero, and checks what
// is given: what a tile hears goes to its two words of the space, for the first merge to add up, since nobody can add
// to what somebody else makes zero at the same time.
extern "C" __global__ void __launch_bounds__(merge_tile)
    packed_sort_tiles(const packed_store* store_at, const packed_batch* batch_at, const void* tails, const void* heads,
                      const unsigned char* deletes, unsigned how, unsigned n, unsigned neighbor_bits, unsigned merges) {
  __shared__ word keys[merge_tile];
  __shared__ unsigned short places[merge_tile];
  __shared__ packed_info heard;
  const packed_input input{tails, heads, deletes, nullptr, how};
  const packed_batch batch = *batch_at;
  const word num_rows = store_at->num_rows;
  const unsigned first = blockIdx.x * merge_tile, count = min(merge_tile, n - first);
  if (threadIdx.x == 0) heard = packed_info{};
  unsigned size = 64;
  while (size < count) size <<= 1;
  __syncthreads();
  for (unsigned i = threadIdx.x; i < size; i += blockDim.x) {
    keys[i] = i < count ? read_update(input, num_rows, first + i, &heard) : no_key;
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    const bool alone = gridDim.x == 1;  // there is no merge then
    batch.space[2 * blockIdx.x] = heard.bad_row;
    batch.space[2 * blockIdx.x + 1] = heard.self_loops;
    if (blockIdx.x == 0) {
      packed_info info{};
      info.bad_row = alone ? heard.bad_row : 0;
      info.self_loops = alone ? heard.self_loops : 0;
      *batch.info = info;
    }
  }
  const packed_form form{neighbor_bits};
  sort_block<merge_tile>(keys, places, size, form, num_rows);
  const run_buffers to(batch, merges);
  for (unsigned i = threadIdx.x; i < count; i += blockDim.x) {
    to.keys[first + i] = form.pack(keys[i]);
    if (input.has_weights()) to.places[first + i] = first + places[i];
  }
}

// How many keys of the runs [first, last) are below the bound. Several runs are searched at a time, step by step, so
// that the memory is waited for once per step and not once per step and run.
__device__ __forceinline__ unsigned count_below(const word* keys, word bound, unsigned first, unsigned last,
                                                unsigned run, unsigned n) {
  constexpr unsigned at_a_time = 8;
  unsigned below = 0;
#pragma unroll 1
  for (; first < last; first += at_a_time) {
    unsigned place[at_a_time], end[at_a_time];
#pragma unroll
    for (unsigned i = 0; i < at_a_time; ++i) {
      place[i] = (first + i) * run;
      end[i] = first + i < last ? min(n, place[i] + run) : 0;
      below -= place[i];
    }
#pragma unroll 1
    for (unsigned step = 1u << (31 - __clz(static_cast<int>(run))); step != 0; step >>= 1) {
      word found[at_a_time];  // read whether or not they are of the run: a condition would keep reads apart
#pragma unroll
      for (unsigned i = 0; i < at_a_time; ++i) found[i] = keys[min(place[i] + step, n) - 1];
#pragma unroll
      for (unsigned i = 0; i < at_a_time; ++i) {
        if (place[i] + step <= end[i] && (found[i] & ~delete_bit) < bound) place[i] += step;
      }
    }
#pragma unroll
    for (unsigned i = 0; i < at_a_time; ++i) below += place[i];
  }
  return below;
}

// Runs of `run` sorted updates, a multiple of merge_tile, become runs of `fan` times as many; `merges` follow. A thread
// per update. The first merge adds up what was heard of the tiles. Registers for three blocks: with fewer, the compiler
// reads one after another.
extern "C" __global__ void __launch_bounds__(sort_threads, 3)
    packed_merge_runs(const packed_batch* batch_at, unsigned how, unsigned n, unsigned run, unsigned fan,
                      unsigned merges) {
  const packed_batch batch = *batch_at;
  const run_buffers from(batch, merges + 1), to(batch, merges);
  const unsigned runs = (n + run - 1) / run;
  for (long long i = grid_thread_id(); i < n; i += grid_threads()) {
    const unsigned t = static_cast<unsigned>(i), own = t / run, first = own / fan * fan, last = min(runs, first + fan);
    if (run == merge_tile && t < runs) {
      if (batch.space[2 * t] != 0) atomicExch(&batch.info->bad_row, 1u);
      if (batch.space[2 * t + 1] != 0) atomicAdd(&batch.info->self_loops, batch.space[2 * t + 1]);
    }
    const word update = from.keys[t], key = update & ~delete_bit;
    // Of equal keys, those of earlier runs come first; the delete bit does not count.
    const unsigned before =
        count_below(from.keys, key + 1, first, own, run, n) + count_below(from.keys, key, own + 1, last, run, n);
    const unsigned place = first * run + (t - own * run) + before;
    to.keys[place] = update;
    if (how & input_weights) to.places[place] = from.places[t];
  }
}
