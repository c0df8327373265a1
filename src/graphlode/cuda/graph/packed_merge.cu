// graph/packed_merge.cu - a full merge: all entries and a sorted batch, read once and written once into fresh pages.
//
// A block has a page in shared memory, looks its updates up there, and knows how many entries it will write. Where
// these begin it hears from the blocks before it, which follow each other in one sweep: each publishes what it writes,
// and looks back at earlier ones for what those do. After Merrill and Garland, "Single-pass parallel prefix scan with
// decoupled look-back" (2016). Nothing that anybody sees is changed before packed_merge_finish.
#include "block.cuh"
#include "grid.cuh"
#include "packed_merge.cuh"

constexpr unsigned merge_threads = 256, merge_warps = merge_threads / 32;
constexpr unsigned leaves_per_warp = page_leaves / merge_warps;
constexpr unsigned most_entries = upper_slots(page_level);  // of a page
constexpr unsigned pairs_per_thread = (most_entries / 2 + merge_threads) / merge_threads;

// The key of a sorted update, with its delete bit.
struct sorted_updates {
  const word* packed;
  packed_form form;
  __device__ __forceinline__ word operator[](unsigned t) const { return form.unpack(packed[t]); }
  __device__ __forceinline__ word key(unsigned t) const { return (*this)[t] & ~delete_bit; }
};

// The tasks of all pages, in key order: the lanes of a warp find where the updates of 31 pages begin and end. In a row
// of numbers where each page takes task_updates and each update one, every page begins a task at each multiple of
// task_updates that falls to it: at least one, and nobody needs to know of the other pages' tasks. Also begins the new
// version: its pages have these numbers, which lie in memory of the host.
extern "C" __global__ void packed_merge_tasks(const packed_store* store_at, const packed_batch* batch_at, unsigned n,
                                              unsigned neighbor_bits, merge_task* tasks, word* published,
                                              const unsigned* numbers, packed_store* new_store_at, unsigned* new_pages,
                                              unsigned num_new_pages, word* new_separators, unsigned* new_positions) {
  const packed_store store = *store_at;
  for (long long i = grid_thread_id(); i < num_new_pages; i += grid_threads()) new_pages[i] = numbers[i];
  if (grid_thread_id() == 0) {
    *new_store_at = with_directory(store, new_pages, new_separators, new_positions, num_new_pages);
  }
  const packed_batch batch = *batch_at;
  const sorted_updates updates{batch.sorted, {neighbor_bits}};
  constexpr unsigned at_a_time = 31;
  const word lane = static_cast<word>(lane_id());
  for (word first = static_cast<word>(grid_warp_id()) * at_a_time; first < store.num_pages;
       first += static_cast<word>(grid_warps()) * at_a_time) {
    const word position = first + lane;
    unsigned begin = position == 0 ? 0 : n;
    if (position > 0 && position < store.num_pages) {
      const word lowest = store.page_separators[position];
      unsigned high = n;
      begin = 0;
      while (begin < high) {
        const unsigned middle = begin + (high - begin) / 2;
        if (updates.key(middle) < lowest) {
          begin = middle + 1;
        } else {
          high = middle;
        }
      }
    }
    const unsigned end = __shfl_down_sync(full_mask, begin, 1u);
    if (lane == at_a_time || position >= store.num_pages) continue;
    const word from = position * task_updates + begin, to = (position + 1) * task_updates + end;
    const word number = (from + task_updates - 1) / task_updates;
    const word parts = (to + task_updates - 1) / task_updates - number, own = end - begin;
    for (word part = 0; part < parts; ++part) {
      const unsigned bounds = (part > 0 ? bounded_below : 0) | (part + 1 < parts ? bounded_above : 0);
      tasks[number + part] = merge_task{store.pages[position], begin + static_cast<unsigned>(part * own / parts),
                                        begin + static_cast<unsigned>((part + 1) * own / parts), bounds};
      published[number + part] = 0;
    }
  }
}

// What a block knows of the page that it merges, in shared memory. For each entry, and for the end behind them: how
// many new ones come directly before it, and whether it goes; later, how far it moves.
struct page_in_merge {
  word keys[most_entries];
  unsigned moves[pairs_per_thread * merge_threads];  // two to a word
  unsigned starts[page_leaves + 1];
  unsigned sums[32];
  unsigned ticket;
  unsigned changed;
  word before;  // entries that earlier tasks write
  // The fresh pages that the entries go to.
  static constexpr unsigned most_near = 8;
  static_assert((filled_slots + most_entries + task_updates) / filled_slots < most_near, "all of them");
  unsigned near[most_near];
  word* near_keys[most_near];

  static constexpr unsigned goes = 0x8000, origin = 4096;  // added to moves, which may be to the left
  __device__ __forceinline__ unsigned move_of(unsigned entry) const {
    return moves[entry / 2] >> (16 * (entry % 2)) & 0xffffu;
  }
  __device__ __forceinline__ void add(unsigned entry, unsigned value) {
    atomicAdd(moves + entry / 2, value << (16 * (entry % 2)));
  }
};

// All slots of a page, the gaps closed, by all threads.
__device__ __forceinline__ void load_page(const packed_store& store, unsigned page, page_in_merge& own) {
  const unsigned lane = static_cast<unsigned>(lane_id()), warp = static_cast<unsigned>(warp_id());
  const word* const from = page_keys(store, page) + lane;
  word keys[leaves_per_warp];  // read before it is known how many are entries: the memory is far away
#pragma unroll
  for (unsigned i = 0; i < leaves_per_warp; ++i) keys[i] = from[(warp + i * merge_warps) * leaf_slots];
  const unsigned thread = threadIdx.x;
  unsigned total;
  const unsigned count = thread < page_leaves ? store.counts[page * page_leaves + thread] : 0u;
  const unsigned behind = block_scan(count, own.sums, total);
  if (thread < page_leaves) own.starts[thread + 1] = behind;
  if (thread == 0) own.starts[0] = 0;
  for (unsigned i = 0; i < pairs_per_thread; ++i) own.moves[i * merge_threads + thread] = 0;
  __syncthreads();
#pragma unroll
  for (unsigned i = 0; i < leaves_per_warp; ++i) {
    const unsigned leaf = warp + i * merge_warps, start = own.starts[leaf];
    if (lane < own.starts[leaf + 1] - start) own.keys[start + lane] = keys[i];
  }
  __syncthreads();
}

// The weight of an entry of the page, in a weighted shard.
__device__ __forceinline__ double weight_of_entry(const packed_store& store, unsigned page, const page_in_merge& own,
                                                  unsigned entry) {
  const unsigned leaf = first_above(own.starts, 1u, page_leaves + 1, entry) - 1;
  return *weight_of(page_keys(store, page) + leaf * leaf_slots + entry - own.starts[leaf]);
}

// What an update does: nothing, or a new entry, with or without the old one gone.
struct merge_effect {
  unsigned entry;  // the first one that is not below its key
  bool comes, goes;
};
__device__ __forceinline__ merge_effect effect_of(const packed_store& store, const packed_batch& batch,
                                                  const packed_input& input, const sorted_updates& updates, unsigned n,
                                                  unsigned t, unsigned page, const page_in_merge& own, unsigned low,
                                                  unsigned high) {
  const word update = updates[t], key = update & ~delete_bit;
  merge_effect effect{first_not_below(own.keys, low, high, key), false, false};
  if (t + 1 < n && (updates.packed[t] ^ updates.packed[t + 1]) << 1 == 0) return effect;  // a later one counts
  const bool there = effect.entry < high && own.keys[effect.entry] == key;
  if (update & delete_bit) {
    effect.goes = there;
  } else if (!there) {
    effect.comes = true;
  } else if (store.weighted && input.has_weights()) {
    const double weight = input.weight_of_update(batch.places[t]);
    effect.comes = effect.goes = weight_of_entry(store, page, own, effect.entry) != weight;
  }
  return effect;
}

// How far each entry moves, from what comes before it and goes: two neighbors at a time, several pairs for a thread.
__device__ __forceinline__ void sum_moves(page_in_merge& own) {
  unsigned* const pairs = own.moves + threadIdx.x * pairs_per_thread;
  unsigned more = 0;  // wraps around below zero
  for (unsigned i = 0; i < pairs_per_thread; ++i) {
    const unsigned both = pairs[i];
    more += (both & 0x7fffu) + (both >> 16 & 0x7fffu) - (both >> 15 & 1u) - (both >> 31);
  }
  unsigned total;
  unsigned before = page_in_merge::origin + block_scan(more, own.sums, total) - more;
  for (unsigned i = 0; i < pairs_per_thread; ++i) {
    const unsigned first = pairs[i] & 0xffffu, second = pairs[i] >> 16;
    const unsigned of_first = before + (first & 0x7fffu), of_second = of_first - (first >> 15) + (second & 0x7fffu);
    pairs[i] = of_first | (first & page_in_merge::goes) | (of_second | (second & page_in_merge::goes)) << 16;
    before = of_second - (second >> 15);
  }
  __syncthreads();
}

// What all tasks before this one write: one warp, which asks 32 of them at a time.
__device__ __forceinline__ word look_back(const word* published, unsigned task) {
  const unsigned lane = static_cast<unsigned>(lane_id());
  word sum = 0;
  for (unsigned end = task; end > 0;) {
    const bool asks = lane < end;
    const volatile word* const there = published + (asks ? end - 1 - lane : 0);
    const word value = asks ? *there : of_all_so_far;
    const unsigned silent = __ballot_sync(full_mask, value < of_task);
    const unsigned knows_all = __ballot_sync(full_mask, value >= of_all_so_far);
    // Those up to the first that knows all of its own, if everybody before it has spoken.
    const unsigned wanted = knows_all == 0 ? full_mask : (knows_all & (0u - knows_all)) * 2 - 1;
    if (silent & wanted) {
      pause_thread(20);
      continue;
    }
    sum += warp_sum((wanted >> lane & 1u) ? value & published_entries : 0ull);
    if (knows_all != 0) break;
    end -= 32;
  }
  return sum;
}

// Writes an entry that comes so many behind the first one of its task.
struct merge_target {
  const packed_store& store;
  const page_in_merge& own;
  unsigned first;  // the place of the task's first entry in its page
  __device__ __forceinline__ void put(unsigned distance, word key, double weight) const {
    const unsigned rank = first + distance, index = rank / filled_slots;
    const filled_place place(rank % filled_slots);
    word* const target = own.near_keys[index] + place.leaf * leaf_slots + place.slot;
    *target = key;
    if (store.weighted) *weight_of(target) = weight;
    if (place.slot == 0) store.separators[own.near[index] * page_leaves + place.leaf] = key;
  }
};

// Entries into fresh pages, old and new ones: a block per task.
extern "C" __global__ void __launch_bounds__(merge_threads, 4)
    packed_merge(const packed_store* store_at, const packed_batch* batch_at, const double* weights, unsigned how,
                 unsigned n, unsigned neighbor_bits, const merge_task* tasks, word* published,
                 const unsigned* new_pages, unsigned num_new_pages) {
  const packed_store store = *store_at;
  const packed_batch batch = *batch_at;
  const packed_input input{batch.sorted, batch.sorted, nullptr, weights, how};
  const sorted_updates updates{batch.sorted, {neighbor_bits}};
  __shared__ page_in_merge own;
  if (batch.info->bad_row) return;
  if (threadIdx.x == 0) {
    own.ticket = atomicAdd(&batch.info->tickets, 1u);
    own.changed = 0;
  }
  __syncthreads();
  const unsigned number = own.ticket;
  const merge_task task = tasks[number];
  load_page(store, task.page, own);
  const unsigned count = own.starts[page_leaves];
  const unsigned low = task.bounds & bounded_below ? first_not_below(own.keys, 0u, count, updates.key(task.begin)) : 0u;
  const unsigned high =
      task.bounds & bounded_above ? first_not_below(own.keys, 0u, count, updates.key(task.end)) : count;

  // Every new entry's place among the task's, in `leaves`; nobody reads that otherwise.
  constexpr unsigned nowhere = 0xffffffffu;
  unsigned come = 0, gone = 0;
  for (unsigned first = task.begin; first < task.end; first += merge_threads) {
    const unsigned t = first + threadIdx.x;
    merge_effect effect{0, false, false};
    if (t < task.end) effect = effect_of(store, batch, input, updates, n, t, task.page, own, low, high);
    unsigned total;
    const unsigned own_effect = effect.comes + (effect.goes ? 1u << 16 : 0u);
    const unsigned before = block_scan(own_effect, own.sums, total) - own_effect;
    if (effect.comes && effect.goes) atomicAdd(&own.changed, 1u);
    if (effect.comes || effect.goes) {
      own.add(effect.entry, (effect.comes ? 1u : 0u) + (effect.goes ? page_in_merge::goes : 0u));
    }
    if (t < task.end) {
      batch.leaves[t] = effect.comes ? effect.entry - low + come + (before & 0xffffu) - gone - (before >> 16) : nowhere;
    }
    come += total & 0xffffu;
    gone += total >> 16;
  }
  __syncthreads();
  sum_moves(own);

  const word written = high - low + come - gone;
  if (warp_id() == 0) {
    volatile word* const here = published + number;
    if (lane_id() == 0) *here = (number == 0 ? of_all_so_far : of_task) | written;
    const word before = look_back(published, number);
    if (lane_id() == 0) {
      if (number > 0) *here = of_all_so_far | (before + written);
      own.before = before;
      if (come != own.changed) atomicAdd(&batch.info->inserted, come - own.changed);
      if (gone != own.changed) atomicAdd(&batch.info->deleted, gone - own.changed);
      if (own.changed != 0) atomicAdd(&batch.info->changed, own.changed);
    }
  }
  __syncthreads();
  const word index = own.before / filled_slots + threadIdx.x;
  if (threadIdx.x < page_in_merge::most_near && index < num_new_pages) {
    own.near[threadIdx.x] = new_pages[index];
    own.near_keys[threadIdx.x] = page_keys(store, own.near[threadIdx.x]);
  }
  __syncthreads();
  const merge_target target{store, own, static_cast<unsigned>(own.before % filled_slots)};

  const unsigned shift = low + page_in_merge::origin;
#pragma unroll 2
  for (unsigned entry = low + threadIdx.x; entry < high; entry += merge_threads) {
    const unsigned move = own.move_of(entry);
    if (move & page_in_merge::goes) continue;
    target.put(entry + move - shift, own.keys[entry],
               store.weighted ? weight_of_entry(store, task.page, own, entry) : 0.0);
  }
  for (unsigned t = task.begin + threadIdx.x; t < task.end; t += merge_threads) {
    const unsigned distance = batch.leaves[t];
    if (distance == nowhere) continue;
    target.put(distance, updates.key(t),
               store.weighted && input.has_weights() ? input.weight_of_update(batch.places[t]) : 1.0);
  }
}

// The last pages, filled as if more entries came, spread evenly over those that they become: one block. Entries move
// one way only, to the right where they are spread over more leaves, so they are taken from that end.
__device__ __forceinline__ void spread_rest(const packed_store& store, const unsigned* new_pages,
                                            const merged_pages& merged) {
  constexpr unsigned at_a_time = 4, most = at_a_time * merge_threads;
  const unsigned rest = static_cast<unsigned>(merged.rest),
                 num_pages = static_cast<unsigned>(merged.num_pages - merged.filled);
  const even_spread pages(rest, num_pages);
  const bool to_the_right = rest <= filled_slots * num_pages;
  for (unsigned done = 0; done < rest; done += most) {
    word keys[at_a_time];
    double weights[at_a_time];
    const auto rank_of = [&](unsigned i) {
      const unsigned step = done + i * merge_threads + threadIdx.x;
      return to_the_right ? rest - 1 - step : step;  // wraps around behind the last
    };
#pragma unroll
    for (unsigned i = 0; i < at_a_time; ++i) {
      const unsigned rank = rank_of(i);
      if (rank >= rest) continue;
      const filled_place place(rank % filled_slots);
      word* const from =
          page_keys(store, new_pages[merged.filled + rank / filled_slots]) + place.leaf * leaf_slots + place.slot;
      keys[i] = *from;
      if (store.weighted) weights[i] = *weight_of(from);
    }
    __syncthreads();
#pragma unroll
    for (unsigned i = 0; i < at_a_time; ++i) {
      const unsigned rank = rank_of(i);
      if (rank >= rest) continue;
      const unsigned index = static_cast<unsigned>(pages.leaf_of(rank)), page = new_pages[merged.filled + index];
      const unsigned within = rank - static_cast<unsigned>(pages.start_of(index));
      const even_spread leaves(pages.count_of(index), page_leaves);
      const unsigned leaf = static_cast<unsigned>(leaves.leaf_of(within)),
                     slot = within - static_cast<unsigned>(leaves.start_of(leaf));
      word* const target = page_keys(store, page) + leaf * leaf_slots + slot;
      *target = keys[i];
      if (store.weighted) *weight_of(target) = weights[i];
      if (slot == 0) store.separators[page * page_leaves + leaf] = keys[i];
    }
    __syncthreads();
  }
  // Leaves that have nothing, where there is next to nothing.
  for (unsigned leaf = threadIdx.x; leaf < page_leaves && rest < page_leaves; leaf += merge_threads) {
    if (leaf >= rest) store.separators[new_pages[merged.filled] * page_leaves + leaf] = no_key;
  }
  __syncthreads();
}

// The leaves [begin, end) of the new directory, a thread each: their counts, the directory's own arrays and the rows.
__device__ __forceinline__ void finish_leaves(const packed_store& store, const unsigned* new_pages,
                                              const merged_pages& merged, word begin, word end, word thread,
                                              word threads) {
  const word last = merged.num_pages * page_leaves;
  for (word first = begin + (thread & ~31ull); first < end; first += threads) {
    const word place = first + (thread & 31u), position = place / page_leaves;
    const bool there = place < end;
    unsigned leaf = 0;
    word separator = no_key, next = no_key;
    if (there) {
      const unsigned page = new_pages[position], within = static_cast<unsigned>(place % page_leaves);
      const even_spread rest(merged.rest, merged.num_pages - merged.filled);
      const unsigned total = position < merged.filled ? filled_slots : rest.count_of(position - merged.filled);
      const unsigned count = even_spread(total, page_leaves).count_of(within);
      leaf = page * page_leaves + within;
      if (place == 0) store.separators[leaf] = 0;
      separator = place == 0 ? 0 : store.separators[leaf];
      store.counts[leaf] = store.next_counts[leaf] = static_cast<unsigned short>(count);
      if (within == 0) {
        store.totals[page] = total;
        store.positions[page] = static_cast<unsigned>(position);
        store.page_separators[position] = separator;
      }
      if (place + 1 < last) {
        const unsigned behind = within + 1 < page_leaves ? leaf + 1 : new_pages[position + 1] * page_leaves;
        next = store.separators[behind];
      }
    }
    index_leaves(store, leaf, separator, next, there);
  }
}

// Makes a version of what was merged: a thread per leaf, and the first block for the last pages. `store_at` is the new
// version; the old one has `entries`, or, if that is known, the new one. Does nothing if the batch changed nothing. With
// `tell`, the host hears of it.
extern "C" __global__ void __launch_bounds__(merge_threads)
    packed_merge_finish(packed_store* store_at, const packed_batch* batch_at, const unsigned* new_pages, word entries,
                        int known, int tell) {
  const packed_store store = *store_at;
  const packed_batch batch = *batch_at;
  const packed_info info = *batch.info;
  if (tell && grid_thread_id() == 0) *batch.told = info;
  if (info.bad_row || (info.inserted | info.deleted | info.changed) == 0) return;
  const merged_pages merged(known ? entries : entries + info.inserted - info.deleted);
  const word filled = merged.filled * page_leaves, all = merged.num_pages * page_leaves;
  if (blockIdx.x == 0) {
    spread_rest(store, new_pages, merged);
    finish_leaves(store, new_pages, merged, filled, all, threadIdx.x, merge_threads);
    if (threadIdx.x == 0) store_at->num_pages = merged.num_pages;
  } else {
    const word thread = static_cast<word>(grid_thread_id()) - merge_threads,
               threads = static_cast<word>(grid_threads()) - merge_threads;
    finish_leaves(store, new_pages, merged, 0, filled, thread, threads);
  }
}
