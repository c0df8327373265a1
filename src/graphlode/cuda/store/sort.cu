// store/sort.cu - a batch of updates by key, equal keys in order of time.
//
// Batches of some hundred tiles: each tile is sorted by a block, then runs are merged, many at a time: every update
// looks up how many of the other runs of its group come before it, which is its place. That takes fewer steps one after
// another than a radix sort, whose passes of next to nothing wait for each other.
//
// Larger ones: a radix sort over the bits that keys really have: row above neighbor without the zeros between them,
// eight bits a pass, from the lowest. It is stable, so the delete bit rides along and the last update of a key stays
// last. Tiles of a pass follow each other in one sweep: each publishes how often it has every digit, and looks back at
// earlier tiles for how often those have. Tiles of all passes are numbered as their blocks begin, so nobody waits for
// one that has not begun, neither within a pass nor for the pass before. After Adinets and Merrill, "Onesweep: a faster
// least significant digit radix sort for GPUs" (2022).
#include "block.cuh"
#include "grid.cuh"
#include "store/block_sort.cuh"
#include "store/given.cuh"
#include "warp_digits.cuh"

constexpr unsigned digit_bits = 8, num_digits = 1u << digit_bits, most_passes = 8;
constexpr unsigned sort_threads = 256, sort_warps = sort_threads / 32, sort_items = 16;
constexpr unsigned sort_tile = sort_threads * sort_items;
static_assert(sort_threads == num_digits, "a thread looks after a digit");
static_assert(digit_bits == warp_digit_bits, "warps compare whole digits");

// The space of a sort, in words: how many tiles have begun, how many of each pass are done, then twice, by turns of the
// passes, what every tile has published of every digit. Before that are as many words as a tile looks back at in one
// go, and no more is known of them.
constexpr unsigned asked_at_once = 16;
constexpr unsigned begun_at = 0, done_at = 1, published_at = asked_at_once * num_digits;
static_assert(published_at >= done_at + most_passes, "what is counted comes before");

// What is counted of a batch before anything is zero for it, so who reads a count makes it zero for the next batch: how
// often the batch has each digit of each pass, and what was heard of its updates.
constexpr unsigned bad_row_at = most_passes * num_digits, self_loops_at = bad_row_at + 1;

// A tile publishes how often it has a digit, then where those of the next tile go: after all with a lower digit and
// after those of it and of all tiles before it.
constexpr unsigned of_tile = 1u << 30, of_all_so_far = 2u << 30, published_count = of_tile - 1;

// The digit of packed keys that a pass sorts by. The delete bit, which is above the highest digit, does not count.
struct key_digit {
  unsigned shift, mask;
  __device__ __forceinline__ explicit key_digit(unsigned pass)
      : shift(pass * digit_bits), mask(pass == most_passes - 1 ? num_digits / 2 - 1 : num_digits - 1) {}
  __device__ __forceinline__ unsigned of(word packed) const { return static_cast<unsigned>(packed >> shift) & mask; }
};

// Counts the digits of a key, of some passes more than there are: those are zero, and it is quicker than to ask.
__device__ __forceinline__ void count_digits(unsigned* counts, word key, unsigned passes) {
  constexpr unsigned at_least = 5;
#pragma unroll
  for (unsigned pass = 0; pass < most_passes; ++pass) {
    if (pass >= at_least && pass >= passes) break;
    atomicAdd(counts + pass * num_digits + key_digit(pass).of(key), 1u);
  }
}

// Counts the digits of this thread's updates of the grid, some at a time.
template <bool Pairs>
__device__ __forceinline__ given_news count_given(const packed_input& input, packed_form form, unsigned num_rows,
                                                  unsigned n, unsigned passes, unsigned* counts) {
  constexpr unsigned at_a_time = 2;
  const unsigned threads = gridDim.x * blockDim.x;
  given_news news{};
#pragma unroll 1
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += at_a_time * threads) {
    word keys[at_a_time];
    const given_news more = read_packed<Pairs>(input, form, num_rows, i, threads, n, keys);
    news.bad_row |= more.bad_row;
    news.self_loops += more.self_loops;
#pragma unroll
    for (unsigned k = 0; k < at_a_time; ++k) {
      if (i + k * threads < n) count_digits(counts, keys[k], passes);
    }
  }
  return news;
}

// How often the batch has each digit of each pass; also checks what is given as pairs, and makes zero what the first
// pass needs so. Few and large blocks, since each adds all of its counts to those of the batch.
extern "C" __global__ void __launch_bounds__(1024, 2)
    packed_digits(const packed_store* store_at, const packed_batch* batch_at, const void* tails, const void* heads,
                  const unsigned char* deletes, unsigned how, unsigned n, unsigned neighbor_bits, unsigned passes) {
  const packed_input input{tails, heads, deletes, nullptr, how};
  unsigned *const space = batch_at->space, *const counted = batch_at->counted;
  const unsigned num_rows = static_cast<unsigned>(store_at->num_rows);
  __shared__ unsigned counts[most_passes * num_digits];
  for (unsigned i = threadIdx.x; i < passes * num_digits; i += blockDim.x) counts[i] = 0;
  const unsigned tiles = (n + sort_tile - 1) / sort_tile;
  for (long long i = grid_thread_id(); i < static_cast<long long>(tiles) * num_digits; i += grid_threads()) {
    space[published_at + i] = 0;
  }
  if (grid_thread_id() < done_at + most_passes) space[grid_thread_id()] = 0;
  __syncthreads();
  const packed_form form{neighbor_bits};
  const given_news news = how & input_pairs ? count_given<true>(input, form, num_rows, n, passes, counts)
                                            : count_given<false>(input, form, num_rows, n, passes, counts);
  news.tell(counted[bad_row_at], counted[self_loops_at]);
  __syncthreads();
  for (unsigned i = threadIdx.x; i < passes * num_digits; i += blockDim.x) {
    if (counts[i] != 0) atomicAdd(counted + i, counts[i]);
  }
}

// How often the warp has seen the digit of a key up to and with that key, which `counts` adds up. Every lane reads what
// was seen before; of those with the same digit, the last one notes what was seen now.
__device__ __forceinline__ unsigned seen_in_warp(unsigned digit, unsigned* counts) {
  const unsigned peers = lanes_with_same_digit(digit), up_to_lane = full_mask >> (31 - lane_id());
  const unsigned seen = counts[digit] + static_cast<unsigned>(__popc(peers & up_to_lane));
  __syncwarp();
  if (peers <= up_to_lane) counts[digit] = seen;
  __syncwarp();
  return seen;
}

// The sum of what the threads before this one bring; `sums` are in shared memory, and used once.
__device__ __forceinline__ unsigned sum_before(unsigned value, unsigned* sums) {
  const unsigned scanned = warp_inclusive_scan(value), warp = static_cast<unsigned>(warp_id());
  if (lane_id() == 31) sums[warp] = scanned;
  __syncthreads();
  unsigned before = scanned - value;
#pragma unroll
  for (unsigned i = 0; i < sort_warps - 1; ++i) before += i < warp ? sums[i] : 0;
  return before;
}

// The counts of a digit and of the next one, which are read and published together.
struct two_counts {
  unsigned lower, higher;
  __device__ __forceinline__ word joined() const { return static_cast<word>(higher) << 32 | lower; }
};

// Where a tile's first two digits of their kind go, as the tiles before it have published there. Many are asked at a
// time: when all tiles begin together, none of them knows of those before it yet. What lies before the first tile is
// read, too, and is of no use: the first tile knows of all so far.
__device__ __forceinline__ two_counts look_back(const volatile word* published, unsigned tile) {
  const volatile word* there = published + static_cast<word>(tile) * (num_digits / 2);
  two_counts sum{};
  unsigned last = 0;  // heard of
  while (last < of_all_so_far) {
    word values[asked_at_once];
#pragma unroll
    for (unsigned i = 0; i < asked_at_once; ++i) values[i] = *(there - (i + 1) * (num_digits / 2));
    bool open = true;  // nothing that was asked for is missing so far, and more is needed
    unsigned heard = 0;
#pragma unroll
    for (unsigned i = 0; i < asked_at_once; ++i) {
      const two_counts found{static_cast<unsigned>(values[i]), static_cast<unsigned>(values[i] >> 32)};
      const unsigned kind = found.lower & found.higher;  // none if the two are not of the same kind
      open = open && kind >= of_tile;
      if (open) {
        sum.lower += found.lower;
        sum.higher += found.higher;
        last = kind;
        ++heard;
      }
      open = open && kind < of_all_so_far;
    }
    there -= heard * (num_digits / 2);
    if (heard == 0) pause_thread(20);
  }
  sum.lower &= published_count;
  sum.higher &= published_count;
  return sum;
}

// The keys of a thread's updates, in shared memory: what is given is made into keys in a loop of its own, and so is the
// last tile filled up, since the code that keeps keys in registers is long enough to wait for. A key that is not there
// has the highest digit in every pass.
template <bool Pairs>
__device__ __forceinline__ void stage_given(const packed_input& input, packed_form form, unsigned num_rows,
                                            unsigned first, unsigned n, word* staged) {
  constexpr unsigned at_a_time = 4;
#pragma unroll 1
  for (unsigned k = 0; k < sort_items; k += at_a_time) {
    word keys[at_a_time];
    read_packed<Pairs>(input, form, num_rows, first + k * 32, 32, n, keys);
#pragma unroll
    for (unsigned i = 0; i < at_a_time; ++i) {
      staged[(k + i) * 32] = first + (k + i) * 32 < n ? keys[i] : no_key;
    }
  }
}
__device__ __forceinline__ void stage_last_tile(const word* from, unsigned first, unsigned n, word* staged) {
#pragma unroll 4
  for (unsigned k = 0; k < sort_items; ++k) staged[k * 32] = first + k * 32 < n ? from[k * 32] : no_key;
}

// Where the keys of a thread go within the tile: two in a word, since there are not enough registers for one in each.
struct tile_ranks {
  unsigned two[sort_items / 2];
  __device__ __forceinline__ void add(unsigned k, unsigned value) { two[k / 2] += value << (k % 2 * 16); }
  __device__ __forceinline__ unsigned of(unsigned k) const { return two[k / 2] >> (k % 2 * 16) & 0xffffu; }
};

// Places follow the keys that lie in `staged`, through the same memory: what is kept of the keys are their digits.
__device__ __forceinline__ void move_places(const unsigned* from, unsigned* to, word* staged, const unsigned* targets,
                                            const tile_ranks& ranks, key_digit in_pass, unsigned first, unsigned n,
                                            unsigned valid) {
  constexpr unsigned in_a_word = 32 / digit_bits;
  unsigned digits[sort_items / in_a_word] = {};
#pragma unroll
  for (unsigned k = 0; k < sort_items; ++k) {
    digits[k / in_a_word] |= in_pass.of(staged[threadIdx.x + k * sort_threads]) << (k % in_a_word * digit_bits);
  }
  __syncthreads();
  unsigned* const places = reinterpret_cast<unsigned*>(staged);
#pragma unroll
  for (unsigned k = 0; k < sort_items; ++k) {
    const unsigned t = first + k * 32;
    if (t < n) places[ranks.of(k)] = from ? from[t] : t;
  }
  __syncthreads();
#pragma unroll
  for (unsigned k = 0; k < sort_items; ++k) {
    const unsigned i = threadIdx.x + k * sort_threads;
    if (i >= valid) break;
    to[targets[digits[k / in_a_word] >> (k % in_a_word * digit_bits) & (num_digits - 1)] + i] = places[i];
  }
}

// Waits until all tiles of a pass are done, and all that they wrote is in sight: the whole block.
__device__ __forceinline__ void wait_for_pass(const unsigned* done, unsigned pass, unsigned tiles) {
  if (threadIdx.x == 0) {
    while (*static_cast<const volatile unsigned*>(done + pass) != tiles) pause_thread(20);
    __threadfence();
  }
  __syncthreads();
}
// One tile more is done.
__device__ __forceinline__ void end_tile(unsigned* done, unsigned pass) {
  __syncthreads();
  if (threadIdx.x != 0) return;
  __threadfence();
  atomicAdd(done + pass, 1u);
}

// All passes, one after another: a block per tile and pass. The first reads the batch as it is given. If there are
// weights, updates take along which they are. The last pass writes where the result is wanted, the one before it
// elsewhere, and so on.
extern "C" __global__ void __launch_bounds__(sort_threads, 4)
    packed_sort_passes(const packed_store* store_at, const packed_batch* batch_at, const void* tails, const void* heads,
                       const unsigned char* deletes, unsigned how, unsigned n, unsigned neighbor_bits,
                       unsigned passes) {
  __shared__ word staged[sort_tile];
  __shared__ unsigned counts[sort_warps][num_digits];
  __shared__ unsigned totals[num_digits], targets[num_digits];
  __shared__ unsigned sums[2][sort_warps];
  __shared__ unsigned drawn, same_pass;
  const packed_input input{tails, heads, deletes, nullptr, how};
  unsigned* const space = batch_at->space;
  const unsigned digit = threadIdx.x, warp = static_cast<unsigned>(warp_id()), tiles = (n + sort_tile - 1) / sort_tile;
  if (threadIdx.x == 0) {
    const unsigned ticket = atomicAdd(space + begun_at, 1u);
    drawn = ticket;
    same_pass = ticket / tiles;
  }
  for (unsigned i = 0; i < sort_warps; ++i) counts[i][digit] = 0;
  __syncthreads();
  const unsigned pass = drawn / tiles, tile = drawn % tiles, valid = min(sort_tile, n - tile * sort_tile);
  const bool to_result = ((passes - pass) & 1u) != 0;
  const word* const keys_in = to_result ? batch_at->effects : batch_at->sorted;
  const key_digit in_pass(pass);
  if (pass != 0) wait_for_pass(space + done_at, pass - 1, tiles);
  if (tile == 0) {
    unsigned* const counted = batch_at->counted;
    targets[digit] = counted[pass * num_digits + digit];  // read in time, kept out of the way
    counted[pass * num_digits + digit] = 0;
    if (pass == 0 && threadIdx.x == 0) {
      packed_info info{};
      info.bad_row = counted[bad_row_at];
      info.self_loops = counted[self_loops_at];
      *batch_at->info = info;
      counted[bad_row_at] = counted[self_loops_at] = 0;
    }
  }
  const unsigned staged_at = warp * sort_items * 32 + static_cast<unsigned>(lane_id());
  const unsigned first = tile * sort_tile + staged_at;

  const word* const from = keys_in + first;
  const bool read_whole = pass != 0 && valid == sort_tile;
  if (pass == 0) {
    const unsigned num_rows = static_cast<unsigned>(store_at->num_rows);
    const packed_form form{neighbor_bits};
    if (how & input_pairs) {
      stage_given<true>(input, form, num_rows, first, n, staged + staged_at);
    } else {
      stage_given<false>(input, form, num_rows, first, n, staged + staged_at);
    }
  } else if (!read_whole) {
    stage_last_tile(from, first, n, staged + staged_at);
  }
  word keys[sort_items];
#pragma unroll
  for (unsigned k = 0; k < sort_items; ++k) keys[k] = read_whole ? from[k * 32] : staged[staged_at + k * 32];
  tile_ranks ranks{};
#pragma unroll
  for (unsigned k = 0; k < sort_items; ++k) ranks.add(k, seen_in_warp(in_pass.of(keys[k]), counts[warp]));
  __syncthreads();

  unsigned total = 0;
#pragma unroll
  for (unsigned i = 0; i < sort_warps; ++i) total += counts[i][digit];
  unsigned* const published = space + published_at + static_cast<word>(pass & 1u) * tiles * num_digits;
  unsigned* const others = space + published_at + static_cast<word>((pass & 1u) ^ 1u) * tiles * num_digits;
  const word own = static_cast<word>(tile) * num_digits + digit;
  volatile unsigned* const here = published + own;
  if (tile > 0) *here = of_tile | total;
  others[own] = 0;  // for the next pass; the last one has read it
  const unsigned start = sum_before(total, sums[0]);
  unsigned digit_start = 0;
  if (tile == 0) {  // where digits begin is known to the first tile, and to others by what it publishes
    digit_start = sum_before(targets[digit], sums[1]);
    *here = of_all_so_far | (digit_start + total);
  }
  unsigned next = start - 1;  // a key that was seen once goes to the start
#pragma unroll
  for (unsigned i = 0; i < sort_warps; ++i) {
    const unsigned of_warp = counts[i][digit];
    counts[i][digit] = next;
    next += of_warp;
  }
  targets[digit] = digit_start - start;
  totals[digit] = total;
  __syncthreads();

  // In order within the tile, before it is known where the tile goes: nobody else's counts are needed for that. The
  // compiler must not see that digits are the same as above: it would keep them, for which there are no registers.
  const key_digit in_same_pass(same_pass);
#pragma unroll
  for (unsigned k = 0; k < sort_items; ++k) {
    ranks.add(k, counts[warp][in_same_pass.of(keys[k])]);
    staged[ranks.of(k)] = keys[k];
  }
  word* const keys_out = to_result ? batch_at->sorted : batch_at->effects;
  if (tile > 0 && threadIdx.x < num_digits / 2) {
    const unsigned lower = 2 * threadIdx.x, higher = lower + 1;
    volatile word* const two = reinterpret_cast<word*>(published) + threadIdx.x;
    const two_counts before = look_back(two, tile);
    const word so_far = two_counts{before.lower + totals[lower], before.higher + totals[higher]}.joined();
    two[static_cast<word>(tile) * (num_digits / 2)] = so_far | static_cast<word>(of_all_so_far) << 32 | of_all_so_far;
    targets[lower] += before.lower;
    targets[higher] += before.higher;
  }
  __syncthreads();

  const auto write_key = [&](unsigned i) {
    const word key = staged[i];
    keys_out[targets[in_pass.of(key)] + i] = key;
  };
  if (valid == sort_tile) {
#pragma unroll
    for (unsigned k = 0; k < sort_items; ++k) write_key(threadIdx.x + k * sort_threads);
  } else {
#pragma unroll 1
    for (unsigned i = threadIdx.x; i < valid; i += sort_threads) write_key(i);
  }
  if (input.has_weights()) {
    const unsigned* const places_in = to_result ? batch_at->leaves : batch_at->places;
    unsigned* const places_out = to_result ? batch_at->places : batch_at->leaves;
    move_places(pass == 0 ? nullptr : places_in, places_out, staged, targets, ranks, in_pass, first, n, valid);
  }
  end_tile(space + done_at, pass);
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
  __shared__ sort_room<merge_tile> room;
  sort_block(keys, places, size, form, num_rows, room);
  const run_buffers to(batch, merges);
  for (unsigned i = threadIdx.x; i < count; i += blockDim.x) {
    to.keys[first + i] = form.pack(keys[i]);
    if (input.has_weights()) to.places[first + i] = first + places[i];
  }
}

// How many updates of the other runs of [first, last) come before one of the run `own`, which has this key. Of equal
// keys, those of earlier runs come first; the delete bit does not count. Many runs are searched at a time, step by step
// and with the same steps, so that the memory is waited for once per step. The last run of all is searched as if its
// last key went on: that key is read in the place of those beyond.
__device__ __forceinline__ unsigned count_before(const word* keys, word key, unsigned own, unsigned first,
                                                 unsigned last, unsigned run, unsigned n) {
  constexpr unsigned at_a_time = 10;
  const word* const before_first = keys - 1;  // so that no place is counted down before it is read
  unsigned before = 0;
#pragma unroll 1
  for (; first < last; first += at_a_time) {
    unsigned place[at_a_time];
#pragma unroll
    for (unsigned i = 0; i < at_a_time; ++i) place[i] = (first + i) * run;
#pragma unroll 1
    for (unsigned length = run; length != 0; length /= 2) {
      const unsigned step = length - length / 2;
      word found[at_a_time];
#pragma unroll
      for (unsigned i = 0; i < at_a_time; ++i) found[i] = before_first[min(place[i] + step, n)] & ~delete_bit;
#pragma unroll
      for (unsigned i = 0; i < at_a_time; ++i) {
        if (found[i] < key + (first + i < own)) place[i] += step;
      }
    }
#pragma unroll
    for (unsigned i = 0; i < at_a_time; ++i) {
      const unsigned begin = (first + i) * run;
      if (first + i < last && first + i != own) before += min(place[i], n) - begin;
    }
  }
  return before;
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
    const unsigned before = count_before(from.keys, key, own, first, last, run, n);
    const unsigned place = first * run + (t - own * run) + before;
    to.keys[place] = update;
    if (how & input_weights) to.places[place] = from.places[t];
  }
}
