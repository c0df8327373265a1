// store/merge.cu - a full merge: reads all entries and a sorted batch once, and writes them once into fresh pages.
//
// A block has a page in shared memory, looks up the page's updates there, and so knows how many entries it will write.
// Where these begin follows from the blocks before it, in one pass: each block publishes its count and looks back at
// the counts of earlier blocks. After Merrill and Garland, "Single-pass parallel prefix scan with decoupled look-back"
// (2016). No visible data changes before packed_merge_finish.
#include "grid.cuh"
#include "store/merge_page.cuh"

// The first value in [low, high) for which `below` is false, or high. Each half warp tests sixteen places at a time.
// Every test waits for memory, which takes nearly all of the kernel's time. Called by whole warps.
template <class Below>
__device__ __forceinline__ unsigned search_by_half_warps(const word* values, unsigned low, unsigned high, Below below) {
  const unsigned lane = static_cast<unsigned>(lane_id()), upper = lane & 16u, in_half = lane & 15u;
  while (__any_sync(full_mask, low < high)) {
    const auto place_of = [low, length = static_cast<word>(high - low)](unsigned sixteenths) {
      return low + static_cast<unsigned>(length * sixteenths / 16);
    };
    const unsigned place = place_of(in_half + 1);
    const unsigned votes = __ballot_sync(full_mask, place < high && below(values[place])) >> upper & 0xffffu;
    const unsigned below_it = static_cast<unsigned>(__popc(votes));  // the first places
    const unsigned end = place_of(below_it + 1);
    if (below_it != 0) low = place_of(below_it) + 1;
    high = end;
  }
  return low;
}

// Writes the tasks of all pages, in key order. The two halves of a warp find where the updates of a page begin and end.
// To number the tasks, each page is given task_updates numbers and each update one. A page begins a task at each
// multiple of task_updates among its numbers: at least one, and independent of the other pages. The kernel also starts
// the new version, whose pages have the numbers `numbers`, in host memory. One warp per page.
extern "C" __global__ void packed_merge_tasks(const packed_store* store_at, const packed_batch* batch_at, unsigned n,
                                              unsigned neighbor_bits, merge_task* tasks, word* published,
                                              const unsigned* numbers, packed_store* new_store_at, unsigned* new_pages,
                                              unsigned num_new_pages, word* new_separators, unsigned* new_positions) {
  const packed_store store = *store_at;
  const long long thread = grid_thread_id();
  const unsigned number_of_page = thread < num_new_pages ? numbers[thread] : 0;  // loaded early: host memory is slow
  const packed_batch batch = *batch_at;
  const sorted_updates updates{batch.sorted, {neighbor_bits}};
  const unsigned lane = static_cast<unsigned>(lane_id());
  for (word position = static_cast<word>(grid_warp_id()); position < store.num_pages;
       position += static_cast<word>(grid_warps())) {
    const word bound = position + lane / 16;
    const bool is_inside = bound > 0 && bound < store.num_pages;
    const word lowest = is_inside ? store.page_separators[bound] : 0;
    const auto is_before = [&](word packed) { return (updates.form.unpack(packed) & ~delete_bit) < lowest; };
    const unsigned found =
        search_by_half_warps(updates.packed, bound >= store.num_pages ? n : 0, bound > 0 ? n : 0, is_before);
    const unsigned begin = __shfl_sync(full_mask, found, 0), end = __shfl_sync(full_mask, found, 16);
    const word from = position * task_updates + begin, to = (position + 1) * task_updates + end;
    const word number = (from + task_updates - 1) / task_updates;
    const word parts = (to + task_updates - 1) / task_updates - number, own = end - begin;
    const word needed = max(1ull, (own + task_updates - 1) / task_updates);  // usually parts - 1
    for (word part = lane; part < parts; part += 32) {
      const unsigned bounds = (part > 0 ? bounded_below : 0) | (part + 1 < needed ? bounded_above : 0);
      const unsigned from_update = begin + static_cast<unsigned>(part * own / needed),
                     to_update = begin + static_cast<unsigned>((part + 1) * own / needed);
      tasks[number + part] = part < needed ? merge_task{store.pages[position], from_update, to_update, bounds}
                                           : merge_task{no_page, end, end, 0};
      published[number + part] = 0;
    }
  }
  if (thread < num_new_pages) new_pages[thread] = number_of_page;
  for (long long i = thread + grid_threads(); i < num_new_pages; i += grid_threads()) new_pages[i] = numbers[i];
  if (thread != 0) return;
  *new_store_at = with_directory(store, new_pages, new_separators, new_positions, num_new_pages);
  // Reset what the merge counts itself: the batch may have been planned before, for writing in place.
  packed_info info{};
  info.bad_row = batch.info->bad_row;
  info.self_loops = batch.info->self_loops;
  *batch.info = info;
}

// The effect of an update: none, or a new entry, a removed entry, or both (an entry replaced).
struct merge_effect {
  static constexpr unsigned comes_bit = 1u << 30, goes_bit = 1u << 31;
  word key;
  unsigned what;
  __device__ __forceinline__ bool comes() const { return (what & comes_bit) != 0; }
  __device__ __forceinline__ bool goes() const { return (what & goes_bit) != 0; }
  // The first entry whose key is not below.
  __device__ __forceinline__ unsigned entry() const { return what & ~(comes_bit | goes_bit); }
};
__device__ __forceinline__ merge_effect effect_of(const packed_store& store, const packed_batch& batch,
                                                  const packed_input& input, const packed_form& form,
                                                  const merge_task& task, unsigned t, const page_in_merge& own,
                                                  unsigned count) {
  const word packed = own.updates()[t], update = form.unpack(packed), key = update & ~delete_bit;
  const unsigned entry = entry_of(own, count, key);
  const bool counts = (packed ^ own.updates()[t + 1]) << 1 != 0;  // otherwise a later update of the same key does
  const bool there = own.keys[entry] == key, deletes = (update & delete_bit) != 0;
  merge_effect effect{key, entry};
  if (counts && there && deletes) effect.what |= merge_effect::goes_bit;
  if (counts && !there && !deletes) effect.what |= merge_effect::comes_bit;
  if (counts && there && !deletes && input.has_weights() && store.weighted) {
    const double weight = input.weight_of_update(batch.places[task.begin + t]);
    if (other_weight(weight_of_entry(store, task.page, own, entry), weight)) {
      effect.what |= merge_effect::comes_bit | merge_effect::goes_bit;
    }
  }
  return effect;
}

__device__ __forceinline__ void publish(word* published, unsigned task, word value) {
  *static_cast<volatile word*>(published + task) = value;
}
// The number of entries that all earlier tasks write. Called by one warp, which reads 32 tasks at a time.
__device__ __forceinline__ word look_back(const word* published, unsigned task) {
  const unsigned lane = static_cast<unsigned>(lane_id());
  word sum = 0;
  for (unsigned end = task; end > 0;) {
    const bool asks = lane < end;
    const volatile word* const there = published + (asks ? end - 1 - lane : 0);
    const word value = asks ? *there : of_all_so_far;
    const unsigned silent = __ballot_sync(full_mask, value < of_task);
    const unsigned knows_all = __ballot_sync(full_mask, value >= of_all_so_far);
    // The tasks up to the nearest one that knows its total, provided that all in between have published.
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

// The source of an entry that a task writes.
struct merge_source {
  unsigned new_ones;  // number of new entries up to this one
  unsigned place;     // in `keys`, after the gaps of removed entries are closed
  bool is_new;
  __device__ __forceinline__ merge_source(const page_in_merge& own, unsigned low, unsigned before) {
    const marked_row row = own.comes[before / 32];
    const unsigned up_to_it = row.bits << (31 - before % 32);
    new_ones = row.before + static_cast<unsigned>(__popc(up_to_it));
    is_new = up_to_it >> 31;
    place = is_new ? page_in_merge::first_update - 1 + new_ones : low + before - new_ones;
  }
};

// For all slots that a task writes, calls put(target, separator, look(before, writes), writes), where `before` is the
// number of the task's entries before the slot and `separator` is the address of the leaf's separator. One warp per
// leaf, one lane per slot, two leaves at a time. Lanes without a slot call `look` too, to avoid a branch, but do not
// write.
template <class Look, class Put>
__device__ __forceinline__ void for_slots(const page_in_merge& own, Look look, Put put) {
  constexpr unsigned at_a_time = 2;
  const unsigned lane = static_cast<unsigned>(lane_id()), written = own.written;
  // The lane has a slot in the leaves before this one.
  const unsigned last_leaf = lane < filled_place::quota    ? page_leaves
                             : lane == filled_place::quota ? filled_place::longer
                                                           : 0u;
  unsigned leaf = filled_place(own.first).leaf + static_cast<unsigned>(warp_id());
  // The distance from the task's first entry to the start of the page; wraps around if the page starts earlier.
  unsigned page_start = 0u - own.first;
  for (unsigned page = 0; static_cast<int>(page_start) < static_cast<int>(written); ++page) {
    const stored_page near(own.near[page]);
    const unsigned end = min(page_leaves, (written - page_start) / filled_place::quota + 1);
    word* target = near.keys + leaf * leaf_slots + lane;
#pragma unroll 1
    for (; leaf < end; leaf += at_a_time * merge_warps, target += at_a_time * merge_warps * leaf_slots) {
      decltype(look(0u, true)) found[at_a_time];
      bool writes[at_a_time];
#pragma unroll
      for (unsigned i = 0; i < at_a_time; ++i) {
        const unsigned its_leaf = leaf + i * merge_warps;
        const unsigned before = page_start + lane + filled_place::start_of(its_leaf);
        writes[i] = its_leaf < last_leaf && before < written;
        found[i] = look(writes[i] ? before : 0u, writes[i]);
      }
#pragma unroll
      for (unsigned i = 0; i < at_a_time; ++i) {
        const unsigned further = i * merge_warps;
        put(target + further * leaf_slots, near.separators() + leaf + further, found[i], writes[i]);
      }
    }
    leaf = static_cast<unsigned>(warp_id());
    page_start += filled_slots;
  }
}

// Writes the weights of the task's entries, in a weighted shard.
__device__ __forceinline__ void write_weights(const packed_store& store, const packed_batch& batch,
                                              const packed_input& input, const page_in_merge& own, unsigned count,
                                              const merge_task& task, unsigned low) {
  const auto weight_behind = [&](unsigned before, bool writes) {
    const merge_source source(own, low, before);
    if (!writes || (source.is_new && !input.has_weights())) return 1.0;
    if (source.is_new) return input.weight_of_update(batch.places[batch.leaves[task.begin + source.new_ones - 1]]);
    return weight_of_entry(store, task.page, own, entry_before_gaps(own, source.place, count));
  };
  for_slots(own, weight_behind, [](word* target, word*, double weight, bool writes) {
    if (writes) *weight_of(target) = weight;
  });
}

// Adds the effects of a block's task to the batch: new entries, removed ones, and replaced ones, which are both. If
// `epoch` is set, the last task reports to the host: the effect of the batch is then known, though not yet written.
__device__ __forceinline__ void add_up(const packed_batch& batch, unsigned come, unsigned gone, unsigned changed,
                                       unsigned epoch) {
  packed_info* const info = batch.info;
  if (come != changed) atomicAdd(&info->inserted, come - changed);
  if (gone != changed) atomicAdd(&info->deleted, gone - changed);
  if (changed != 0) atomicAdd(&info->changed, changed);
  if (epoch == 0) return;
  __threadfence();
  if (atomicAdd(&info->num_tasks, 1u) + 1 != gridDim.x) return;
  __threadfence();
  packed_info all{};
  all.bad_row = info->bad_row;
  all.self_loops = info->self_loops;
  all.inserted = atomicAdd(&info->inserted, 0u);
  all.deleted = atomicAdd(&info->deleted, 0u);
  all.changed = atomicAdd(&info->changed, 0u);
  report_to_host(batch, all, epoch);
}

// Writes old and new entries into fresh pages. One block per task. Shared memory: the page, see merge_page.cuh. With an
// epoch, the effects of the batch are reported to the host.
extern "C" __global__ void __launch_bounds__(merge_threads, 6)
    packed_merge(const packed_store* store_at, const packed_batch* batch_at, const double* weights, unsigned how,
                 unsigned n, unsigned neighbor_bits, const merge_task* tasks, word* published,
                 const unsigned* new_pages, unsigned num_new_pages, unsigned epoch) {
  const packed_store& store = *store_at;  // not copied: registers are scarce
  const packed_batch& batch = *batch_at;
  const packed_input input{nullptr, nullptr, nullptr, weights, how};
  const sorted_updates updates{batch.sorted, {neighbor_bits}};
  const unsigned lane = static_cast<unsigned>(lane_id()), warp = static_cast<unsigned>(warp_id());
  __shared__ page_in_merge own;
  if (threadIdx.x == 0) own.ticket = atomicAdd(&batch.info->tickets, 1u);
  const bool refused = batch.info->bad_row;
  own.clear();
  __syncthreads();
  const merge_task task = refused ? merge_task{no_page, 0, 0, 0} : tasks[own.ticket];
  if (task.page == no_page) {
    if (threadIdx.x == 0) {
      publish(published, own.ticket, own.ticket == 0 ? of_all_so_far : of_task);
      add_up(batch, 0, 0, 0, epoch);
    }
    return;
  }
  const unsigned num_updates = task.end - task.begin, staged = min(task.end + 1, n) - task.begin;
#pragma unroll 1
  for (unsigned t = threadIdx.x; t < staged; t += merge_threads) {
    copy_to_shared(own.updates() + t, updates.packed + task.begin + t, true);
  }
  if (threadIdx.x == 0 && task.end == n) own.updates()[num_updates] = no_key;  // equal to no key
  const unsigned count = load_page(store, updates, task, own);
  fill_up(own, count);
  wait_for_copies();
  __syncthreads();
  const auto bound_of = [&](unsigned t) {
    return entry_of(own, count, updates.form.unpack(own.updates()[t]) & ~delete_bit);
  };
  const unsigned low = task.bounds & bounded_below ? bound_of(0) : 0u;
  const unsigned high = task.bounds & bounded_above ? bound_of(num_updates) : count;

  // Count the effects of the updates, merge_threads apart: one count per warp and round, so one per lane.
  constexpr unsigned rounds = (task_updates + merge_threads - 1) / merge_threads;
  static_assert(rounds * merge_warps <= 32, "");
  merge_effect effects[rounds];
#pragma unroll
  for (unsigned i = 0; i < rounds; ++i) {
    const unsigned t = i * merge_threads + threadIdx.x;
    effects[i] = {0, 0};
    if (t < num_updates) effects[i] = effect_of(store, batch, input, updates.form, task, t, own, count);
    const int come = __popc(__ballot_sync(full_mask, effects[i].comes())),
              gone = __popc(__ballot_sync(full_mask, effects[i].goes()));
    if (lane == 0) own.sums[i * merge_warps + warp] = static_cast<unsigned>(come | gone << 16);
  }
  __syncthreads();
  const unsigned sum = lane < rounds * merge_warps ? own.sums[lane] : 0, behind = warp_inclusive_scan(sum);
  const unsigned all = __shfl_sync(full_mask, behind, 31), come = all & 0xffffu, gone = all >> 16;
  const unsigned written = high - low + come - gone;
  if (threadIdx.x == 0) {
    publish(published, own.ticket, (own.ticket == 0 ? of_all_so_far : of_task) | written);
    own.written = written;
  }

  // The new keys replace the updates, which are not read any more.
#pragma unroll
  for (unsigned i = 0; i < rounds; ++i) {
    if (i * merge_threads >= num_updates) break;
    const merge_effect& effect = effects[i];
    const unsigned before = __shfl_sync(full_mask, behind - sum, static_cast<int>(i * merge_warps + warp));
    const unsigned come_before =
        (before & 0xffffu) + static_cast<unsigned>(votes_below(__ballot_sync(full_mask, effect.comes())));
    const unsigned gone_before =
        (before >> 16) + static_cast<unsigned>(votes_below(__ballot_sync(full_mask, effect.goes())));
    if (effect.comes()) {
      own.updates()[come_before] = effect.key;
      mark(own.comes, effect.entry() - low + come_before - gone_before);
      if (store.weighted) batch.leaves[task.begin + come_before] = task.begin + i * merge_threads + threadIdx.x;
    }
    if (effect.goes()) mark(own.goes, effect.entry());
    if (effect.comes() && effect.goes()) atomicAdd(&own.changed, 1u);
  }
  __syncthreads();
  if (gone != 0) close_gaps(own, count);

  if (warp == 0) {
    const word before = look_back(published, own.ticket);
    if (lane == 0 && own.ticket > 0) publish(published, own.ticket, of_all_so_far | (before + own.written));
    const word index = before / filled_slots + lane;
    if (lane < page_in_merge::most_near && index < num_new_pages) {
      own.near[lane] = stored_page(store, new_pages[index]).keys;
    }
    if (lane == 0) own.first = static_cast<unsigned>(before % filled_slots);
  } else if (warp == 1 && come != 0) {
    count_marks(own.comes);
  }
  __syncthreads();
  if (threadIdx.x == 0) add_up(batch, come, gone, own.changed, epoch);
  const auto key_behind = [&](unsigned before, bool) { return own.keys[merge_source(own, low, before).place]; };
  for_slots(own, key_behind, [=](word* target, word* separator, word key, bool writes) {
    if (writes) *target = key;
    if (writes && lane == 0) *separator = key;
  });
  if (store.weighted) write_weights(store, batch, input, own, count, tasks[own.ticket], low);
}

// Large blocks: the first one spreads the entries of the last pages alone, and all others would wait for it.
constexpr unsigned finish_threads = 1024, finish_warps = finish_threads / 32;

// Distributes the entries of the last pages evenly. These pages were filled as if more entries followed. One block
// works. Entries move in one direction only, to the right if they are spread over more leaves, so they are taken from
// that end. The keys come first; the weights of a weighted shard follow and lie behind them.
__device__ __forceinline__ void spread_rest(const packed_store& store, const unsigned* new_pages,
                                            const merged_pages& merged) {
  constexpr unsigned at_a_time = 8, most = at_a_time * finish_threads;
  const unsigned rest = static_cast<unsigned>(merged.rest);
  const bool are_two = merged.num_pages - merged.filled > 1, were_two = rest > filled_slots;
  const bool to_the_right = rest <= (are_two ? 2 : 1) * filled_slots;
  const stored_page page(store, new_pages[merged.filled]);
  const stored_page next_page = are_two || were_two ? stored_page(store, new_pages[merged.filled + 1]) : page;
  const unsigned of_first = merged.rest_of(0);
  const unsigned kinds = store.weighted ? 2 : 1;
  for (unsigned kind = 0; kind < kinds; ++kind) {
    const unsigned kind_at = kind == 0 ? 0u : stored_page::weights_at;
    for (unsigned done = 0; done < rest; done += most) {
      word values[at_a_time];
      const auto rank_of = [&](unsigned i) {
        const unsigned step = done + i * finish_threads + threadIdx.x;
        return to_the_right ? rest - 1 - step : step;  // wraps around behind the last one
      };
#pragma unroll
      for (unsigned i = 0; i < at_a_time; ++i) {
        const unsigned rank = rank_of(i);
        if (rank >= rest) continue;
        const bool second = rank >= filled_slots;
        const filled_place place(second ? rank - filled_slots : rank);
        values[i] = (second ? next_page : page).keys[kind_at + place.leaf * leaf_slots + place.slot];
      }
      __syncthreads();
#pragma unroll
      for (unsigned i = 0; i < at_a_time; ++i) {
        const unsigned rank = rank_of(i);
        if (rank >= rest) continue;
        const bool second = rank >= of_first;
        const spread_place place(second ? rank - of_first : rank, second ? rest - of_first : of_first);
        const stored_page& target = second ? next_page : page;
        target.keys[kind_at + place.leaf * leaf_slots + place.slot] = values[i];
        if (kind == 0 && place.slot == 0) target.separators()[place.leaf] = values[i];
      }
      __syncthreads();
    }
  }
  // With fewer entries than leaves, some leaves are empty.
  for (unsigned leaf = threadIdx.x; leaf < page_leaves && rest < page_leaves; leaf += finish_threads) {
    if (leaf >= rest) page.separators()[leaf] = no_key;
  }
  __syncthreads();
}

// Finishes a page of the new directory: its counts, its entries in the directory's arrays, and its rows. One warp, four
// leaves per lane.
struct alignas(16) two_words {
  word of[2];
};
__device__ __forceinline__ void finish_page(const packed_store& store, const unsigned* new_pages,
                                            const merged_pages& merged, word position, waiting_leaves& waiting) {
  const unsigned lane = static_cast<unsigned>(lane_id()), page = new_pages[position];
  const bool is_last = position + 1 == merged.num_pages;
  const unsigned next_page = is_last ? page : new_pages[position + 1];
  const unsigned total = position < merged.filled ? filled_slots : merged.rest_of(position - merged.filled);
  const stored_page stored(store, page);
  const two_words* const separators = reinterpret_cast<const two_words*>(stored.separators() + 4 * lane);
  const two_words low = separators[0], high = separators[1];
  word first = low.of[0];
  word end = lane == 31 && !is_last ? *stored_page(store, next_page).separators() : no_key;
  four_counts counts;
#pragma unroll
  for (unsigned i = 0; i < 4; ++i) {
    counts.of[i] = static_cast<unsigned short>(total / page_leaves + (4 * lane + i < total % page_leaves));
  }
  *reinterpret_cast<four_counts*>(stored.counts() + 4 * lane) = counts;
  *reinterpret_cast<four_counts*>(stored.next_counts() + 4 * lane) = counts;
  if (lane == 0) {
    if (position == 0) *stored.separators() = first = 0;
    store.totals[page] = total;
    store.positions[page] = static_cast<unsigned>(position);
    store.page_separators[position] = first;
  }
  const unsigned rows = static_cast<unsigned>(store.num_rows) + 1;
  const unsigned row = first_row_of(rows, first);
  const unsigned next_row = __shfl_down_sync(full_mask, row, 1u);
  index_leaves(store,
               {page * page_leaves + 4 * lane,
                {row, first_row_of(rows, low.of[1]), first_row_of(rows, high.of[0]), first_row_of(rows, high.of[1])},
                lane < 31 ? next_row : first_row_of(rows, end)},
               waiting);
}

// Makes a version from the merged pages. One warp per page; the first block handles the last pages. `store_at` is the
// new version, the old one has `entries`. Does nothing if the batch changed nothing.
extern "C" __global__ void __launch_bounds__(finish_threads)
    packed_merge_finish(packed_store* store_at, const packed_batch* batch_at, const unsigned* new_pages, word entries) {
  const packed_store& store = *store_at;
  const packed_batch& batch = *batch_at;
  const packed_info info = *batch.info;
  if (info.bad_row || (info.inserted | info.deleted | info.changed) == 0) return;
  const merged_pages merged(entries + info.inserted - info.deleted);
  __shared__ waiting_leaves waiting;
  if (threadIdx.x == 0) waiting.count = 0;
  __syncthreads();
  if (blockIdx.x == 0) {
    spread_rest(store, new_pages, merged);
    const word position = merged.filled + static_cast<word>(warp_id());
    if (position < merged.num_pages) finish_page(store, new_pages, merged, position, waiting);
    if (threadIdx.x == 0) store_at->num_pages = merged.num_pages;
  } else {
    const word warps = static_cast<word>(grid_warps()) - finish_warps;
    for (word position = static_cast<word>(grid_warp_id()) - finish_warps; position < merged.filled;
         position += warps) {
      finish_page(store, new_pages, merged, position, waiting);
    }
  }
  __syncthreads();
  waiting.index(store);
}
