// store/sort.cu - sorts a batch of updates by key, and equal keys by time.
//
// Batches of up to some hundred tiles: a block sorts each tile, then runs are merged, many at a time. Every update
// finds its place by counting the updates before it in the other runs of its group. This has fewer dependent steps than
// a radix sort, whose passes over so little data wait for each other.
//
// Larger batches: a radix sort over the bits that keys really have (row above neighbor without the zeros in between),
// eight bits per pass, from the lowest. It is stable, so the delete bit is carried along and the last update of a key
// stays last. The tiles of a pass are processed in one sweep: each publishes its count of every digit, and looks back
// at the counts of earlier tiles. The tiles of all passes are numbered as their blocks begin, so no block waits for one
// that has not begun, neither within a pass nor in the previous pass. After Adinets and Merrill, "Onesweep: a faster
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

// The workspace of a sort, in words: the number of tiles begun; the number finished in each pass; then twice, for
// alternating passes, what every tile has published for every digit. In front of that is room for as many words as a
// tile reads in one look back; their values are not used.
constexpr unsigned asked_at_once = 16;
constexpr unsigned begun_at = 0, done_at = 1, published_at = asked_at_once * num_digits;
static_assert(published_at >= done_at + most_passes, "what is counted comes before");

// Counts of a batch: how often it has each digit of each pass, and the problems of its updates. They begin before any
// kernel could reset them, so the reader of a count resets it for the next batch.
constexpr unsigned bad_row_at = most_passes * num_digits, self_loops_at = bad_row_at + 1;

// A tile first publishes its count of a digit, then where the next tile's updates with this digit go: after all lower
// digits, and after this digit in this and all earlier tiles.
constexpr unsigned of_tile = 1u << 30, of_all_so_far = 2u << 30, published_count = of_tile - 1;

// The digit of packed keys that a pass sorts by. The delete bit, above the highest digit, does not count.
struct key_digit {
  unsigned shift, mask;
  __device__ __forceinline__ explicit key_digit(unsigned pass)
      : shift(pass * digit_bits), mask(pass == most_passes - 1 ? num_digits / 2 - 1 : num_digits - 1) {}
  __device__ __forceinline__ unsigned of(word packed) const { return static_cast<unsigned>(packed >> shift) & mask; }
};

// Counts the digits of a key. Counts at least five passes: extra digits are zero, and testing for them would be slower.
__device__ __forceinline__ void count_digits(unsigned* counts, word key, unsigned passes) {
  constexpr unsigned at_least = 5;
#pragma unroll
  for (unsigned pass = 0; pass < most_passes; ++pass) {
    if (pass >= at_least && pass >= passes) break;
    atomicAdd(counts + pass * num_digits + key_digit(pass).of(key), 1u);
  }
}

// Counts the digits of this thread's updates in a grid-stride loop, a few at a time.
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

// Counts how often the batch has each digit of each pass. Also checks pairs, and clears the workspace of the first
// pass. One thread per update. Few and large blocks, because each block adds all of its counts to those of the batch.
// Shared memory: the counts.
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
  news.report(counted[bad_row_at], counted[self_loops_at]);
  __syncthreads();
  for (unsigned i = threadIdx.x; i < passes * num_digits; i += blockDim.x) {
    if (counts[i] != 0) atomicAdd(counted + i, counts[i]);
  }
}

// How often the warp has seen the digit of a key so far, including this key. Every lane reads the old count; the last
// lane with the digit writes the new one to `counts`.
__device__ __forceinline__ unsigned seen_in_warp(unsigned digit, unsigned* counts) {
  const unsigned peers = lanes_with_same_digit(digit), up_to_lane = full_mask >> (31 - lane_id());
  const unsigned seen = counts[digit] + static_cast<unsigned>(__popc(peers & up_to_lane));
  __syncwarp();
  if (peers <= up_to_lane) counts[digit] = seen;
  __syncwarp();
  return seen;
}

// Exclusive prefix sum over the threads of the block. `sums` is in shared memory and used only once.
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

// Where a tile's updates with a pair of digits go, from the values that earlier tiles have published. Reads many at a
// time: when all tiles begin together, none of them knows the totals before it. The values in front of the first tile
// are read but not used, because the first tile publishes totals.
__device__ __forceinline__ two_counts look_back(const volatile word* published, unsigned tile) {
  const volatile word* there = published + static_cast<word>(tile) * (num_digits / 2);
  two_counts sum{};
  unsigned last = 0;  // the kind of the last value used
  while (last < of_all_so_far) {
    word values[asked_at_once];
#pragma unroll
    for (unsigned i = 0; i < asked_at_once; ++i) values[i] = *(there - (i + 1) * (num_digits / 2));
    bool open = true;  // no value is missing so far, and more are needed
    unsigned received = 0;
#pragma unroll
    for (unsigned i = 0; i < asked_at_once; ++i) {
      const two_counts found{static_cast<unsigned>(values[i]), static_cast<unsigned>(values[i] >> 32)};
      const unsigned kind = found.lower & found.higher;  // none if the two are of different kinds
      open = open && kind >= of_tile;
      if (open) {
        sum.lower += found.lower;
        sum.higher += found.higher;
        last = kind;
        ++received;
      }
      open = open && kind < of_all_so_far;
    }
    there -= received * (num_digits / 2);
    if (received == 0) pause_thread(20);
  }
  sum.lower &= published_count;
  sum.higher &= published_count;
  return sum;
}

// Stages the keys of a thread's updates in shared memory. Input updates are made into keys in a separate loop, and the
// last tile is filled up in another one, because the code that keeps keys in registers is already long. A missing key
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

// The places of a thread's keys within the tile: two per word, to save registers.
struct tile_ranks {
  unsigned two[sort_items / 2];
  __device__ __forceinline__ void add(unsigned k, unsigned value) { two[k / 2] += value << (k % 2 * 16); }
  __device__ __forceinline__ unsigned of(unsigned k) const { return two[k / 2] >> (k % 2 * 16) & 0xffffu; }
};

// Moves the places of updates after their keys in `staged`, through the same memory. Only the digits of the keys are
// kept.
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

// Waits until all tiles of a pass are finished and their writes are visible. Called by the whole block.
__device__ __forceinline__ void wait_for_pass(const unsigned* done, unsigned pass, unsigned tiles) {
  if (threadIdx.x == 0) {
    while (*static_cast<const volatile unsigned*>(done + pass) != tiles) pause_thread(20);
    __threadfence();
  }
  __syncthreads();
}
// Reports that a tile is finished.
__device__ __forceinline__ void end_tile(unsigned* done, unsigned pass) {
  __syncthreads();
  if (threadIdx.x != 0) return;
  __threadfence();
  atomicAdd(done + pass, 1u);
}

// Runs all passes, one after another. One block per tile and pass. The first pass reads the input of the batch. With
// weights, the places of the updates are moved along. The last pass writes to the result, the pass before it to the
// other buffer, and so on. Shared memory: the keys of the tile and the digit counts of each warp.
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
    targets[digit] = counted[pass * num_digits + digit];  // loaded early, stored out of the way
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
  others[own] = 0;  // for the next pass; the previous one has read it
  const unsigned start = sum_before(total, sums[0]);
  unsigned digit_start = 0;
  if (tile == 0) {  // only the first tile needs the starts of digits; others get them from what it publishes
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

  // Order the tile before its destination is known, which needs no other tile. The compiler must not see that the
  // digits are the same as above: it would keep them in registers, and there are not enough.
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

// The buffers of sorted runs if `merges` merges follow: alternating, so that the last merge writes to the result.
struct run_buffers {
  word* keys;
  unsigned* places;
  __device__ __forceinline__ run_buffers(const packed_batch& batch, unsigned merges)
      : keys(merges & 1u ? batch.effects : batch.sorted), places(merges & 1u ? batch.leaves : batch.places) {}
};

// Sorts tiles of merge_tile updates, one block per tile; `merges` merges follow. Resets the batch's information and
// checks the input. Problems of a tile go to its two words of the workspace, and the first merge adds them up: no block
// may add to a counter that another block resets at the same time.
extern "C" __global__ void __launch_bounds__(merge_tile)
    packed_sort_tiles(const packed_store* store_at, const packed_batch* batch_at, const void* tails, const void* heads,
                      const unsigned char* deletes, unsigned how, unsigned n, unsigned neighbor_bits, unsigned merges) {
  __shared__ word keys[merge_tile];
  __shared__ unsigned short places[merge_tile];
  __shared__ packed_info problems;
  const packed_input input{tails, heads, deletes, nullptr, how};
  const packed_batch batch = *batch_at;
  const word num_rows = store_at->num_rows;
  const unsigned first = blockIdx.x * merge_tile, count = min(merge_tile, n - first);
  if (threadIdx.x == 0) problems = packed_info{};
  unsigned size = 64;
  while (size < count) size <<= 1;
  __syncthreads();
  for (unsigned i = threadIdx.x; i < size; i += blockDim.x) {
    keys[i] = i < count ? read_update(input, num_rows, first + i, &problems) : no_key;
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    const bool alone = gridDim.x == 1;  // then no merge follows
    batch.space[2 * blockIdx.x] = problems.bad_row;
    batch.space[2 * blockIdx.x + 1] = problems.self_loops;
    if (blockIdx.x == 0) {
      packed_info info{};
      info.bad_row = alone ? problems.bad_row : 0;
      info.self_loops = alone ? problems.self_loops : 0;
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

// The number of updates of other runs in [first, last) that come before an update of run `own` with this key. Of equal
// keys, those of earlier runs come first; the delete bit does not count. Many runs are searched together with the same
// steps, so that there is one wait for memory per step. The last run may be short: beyond its end, its last key is
// read.
__device__ __forceinline__ unsigned count_before(const word* keys, word key, unsigned own, unsigned first,
                                                 unsigned last, unsigned run, unsigned n) {
  constexpr unsigned at_a_time = 10;
  const word* const before_first = keys - 1;  // so that places need not be decremented before reading
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

// Merges runs of `run` sorted updates, a multiple of merge_tile, into runs `fan` times as long; `merges` merges follow.
// One thread per update. The first merge adds up the problems of the tiles. Registers for three blocks: with fewer, the
// compiler serializes the loads.
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
