// store/pages.cu - whole pages of a shard: rewriting them with their updates into fresh pages, and reading them.
//
// Pages that overflow, run empty or are held by an immutable version come in groups of consecutive pages of the
// directory. Every entry of a group, old or new, has a rank that follows from counts alone, and the rank gives its slot
// in the group's fresh pages. So each entry is written once, in any order. The groups and the new directory are
// computed here or, where that does not suffice, on the host (store/groups.py). Separators and rows follow last.
#include "block.cuh"
#include "grid.cuh"
#include "store/regroup.cuh"
#include "store/spread.cuh"

constexpr unsigned sum_bits = 21;  // of each of the three running sums in a word
constexpr word one_sum = (1ull << sum_bits) - 1;

// What the blocks of packed_regroup share: the number of finished blocks (zero between launches) and, for each block,
// the sum over it and all earlier blocks with the epoch in which it was written.
struct block_chain {
  unsigned num_done, unused;
  struct link {
    word sum, epoch;
  } links[1];  // one per block
};

// The sum over all earlier blocks. Blocks are numbered as they begin, so no block waits for one that has not begun.
// Called by one thread.
__device__ __forceinline__ word sum_before(volatile block_chain::link* links, unsigned number, word own,
                                           unsigned epoch) {
  word before = 0;
  if (number > 0) {
    while (links[number - 1].epoch != epoch) pause_thread(20);
    __threadfence();
    before = links[number - 1].sum;
  }
  links[number].sum = before + own;
  __threadfence();
  links[number].epoch = epoch;
  return before;
}

// The numbers of fresh pages, which lie in host memory. A block loads them while it reads groups, so that it does not
// wait for the bus with every page that it writes.
struct numbers_on_their_way {
  static constexpr unsigned of_a_thread = 2, most = of_a_thread * 1024;  // of_a_thread per thread of the largest block
  unsigned own[of_a_thread];

  static __device__ __forceinline__ bool are_few(unsigned count) { return count <= of_a_thread * blockDim.x; }
  __device__ __forceinline__ numbers_on_their_way(const unsigned* numbers, unsigned count) {
#pragma unroll
    for (unsigned i = 0; i < of_a_thread; ++i) {
      const unsigned at = threadIdx.x + i * blockDim.x;
      own[i] = are_few(count) && at < count ? numbers[at] : 0;
    }
  }
  // Where the numbers can be read after a barrier: in `near`, if there is room.
  __device__ __forceinline__ const unsigned* arrived(const unsigned* numbers, unsigned count, unsigned* near) const {
#pragma unroll
    for (unsigned i = 0; i < of_a_thread; ++i) near[threadIdx.x + i * blockDim.x] = own[i];
    return are_few(count) ? near : numbers;
  }
};

// Forms the groups of flagged pages, as store/groups.py does. Writes their jobs, their fresh pages (which have the
// numbers `numbers`), the new directory and version, and what the host needs to know; then sets `reported` to the
// epoch. One thread per group. `joins`: whether some groups are joined.
extern "C" __global__ void __launch_bounds__(1024)
    packed_regroup(const packed_store* store_at, const packed_batch* batch_at, const unsigned* numbers,
                   unsigned num_fresh, unsigned epoch, packed_store* new_store_at, unsigned* new_pages,
                   unsigned num_new_pages, word* new_separators, unsigned* new_positions, replaced_range* ranges,
                   block_chain* chain, page_job* jobs, fresh_page* fresh, int joins, unsigned* reported) {
  const numbers_on_their_way coming(numbers, num_fresh);
  const packed_store store = *store_at;
  unsigned* const tickets = &batch_at->info->tickets;
  __shared__ unsigned near_numbers[numbers_on_their_way::most];
  __shared__ word sums[32], carried;
  __shared__ unsigned number;
  if (threadIdx.x == 0) number = atomicAdd(tickets, 1u);
  __syncthreads();
  const unsigned groups = num_groups(static_cast<unsigned>(store.num_pages));
  const unsigned group = number * blockDim.x + threadIdx.x;
  const seen_group seen(store, min(group, groups - 1), epoch, joins != 0 && group < groups);
  word own = 0, all;
  if (group < groups) {
    own = seen.new_length() | static_cast<word>(seen.num_fresh()) << sum_bits |
          static_cast<word>(seen.num_jobs()) << (2 * sum_bits);
  }
  const word scanned = block_scan(own, sums, all);
  if (threadIdx.x == 0) {
    carried = sum_before(chain->links, number, all, epoch);
    if (number == 0) *new_store_at = with_directory(store, new_pages, new_separators, new_positions, num_new_pages);
  }
  const unsigned* const known = coming.arrived(numbers, num_fresh, near_numbers);
  __syncthreads();
  const word before = carried + scanned - own;
  const regroup_places at{static_cast<unsigned>(before & one_sum), static_cast<unsigned>(before >> sum_bits & one_sum),
                          static_cast<unsigned>(before >> (2 * sum_bits))};
  if (group < groups) write_group(store, seen, at, known, new_pages, ranges, jobs, fresh);
  if (!last_block(&chain->num_done)) return;
  if (threadIdx.x == 0) {
    *tickets = 0;
    __threadfence_system();
    *const_cast<volatile unsigned*>(reported) = epoch;
  }
  for (unsigned i = threadIdx.x; i < num_fresh; i += blockDim.x) {
    const long long next = fresh[i].successor + 1;
    fresh[i].successor = next < num_new_pages ? static_cast<long long>(new_pages[next]) : -1ll;
  }
}

// Writes what is known of the fresh pages [begin, end) before their entries are there. One thread per leaf.
__device__ __forceinline__ void count_fresh(const packed_store& store, const fresh_page* fresh, unsigned begin,
                                            unsigned end) {
  const long long last = static_cast<long long>(end) * page_leaves;
  for (long long i = static_cast<long long>(begin) * page_leaves + grid_thread_id(); i < last; i += grid_threads()) {
    const fresh_page page = fresh[i / page_leaves];
    const word within = static_cast<word>(i) % page_leaves;
    const stored_page stored(store, static_cast<unsigned>(page.page));
    const even_spread pages(page.total, static_cast<word>(page.num_fresh));
    const unsigned total = pages.count_of(static_cast<word>(page.index));
    const unsigned count = even_spread(total, page_leaves).count_of(within);
    stored.counts()[within] = stored.next_counts()[within] = static_cast<unsigned short>(count);
    if (within == 0) store.totals[page.page] = total;
    if (page.index == 0 && within == 0) {
      *stored.separators() = *stored_page(store, static_cast<unsigned>(page.origin)).separators();
    } else if (count == 0) {
      stored.separators()[within] = no_key;  // only in a single, nearly empty page
    }
  }
}

constexpr unsigned short crowded_leaf = 0x8000;  // stored with the start of a leaf in its page

// The slots of a warp's next leaves, filled or not, loaded before they are needed.
struct coming_leaves {
  word keys[leaves_at_a_time];
  __device__ __forceinline__ void fetch(const word* from, unsigned leaf) {
#pragma unroll
    for (unsigned i = 0; i < leaves_at_a_time; ++i) keys[i] = from[(leaf + i) * leaf_slots];
  }
  __device__ __forceinline__ word operator[](unsigned i) const {  // a loop over i need not be unrolled
    word found = keys[0];
#pragma unroll
    for (unsigned j = 1; j < leaves_at_a_time; ++j) found = i == j ? keys[j] : found;
    return found;
  }
};

// Writes old and new entries into fresh pages. One block per job or per part of one, up to 16 leaves per warp, one
// after the other. With few jobs, several blocks share the leaves of each: `parts` is a power of two up to most_parts.
// A block first finds the updates of the page and where those of each leaf begin. Crowded leaves are left to
// packed_spread_new. Also counts the fresh pages [begin_fresh, end_fresh). Shared memory: the updates of the page.
extern "C" __global__ void __launch_bounds__(32 * spread_warps, 3)
    packed_spread(const packed_store* store_at, const packed_batch* batch_at, unsigned n, page_job* jobs,
                  unsigned num_jobs, unsigned parts, const fresh_page* fresh, unsigned begin_fresh,
                  unsigned end_fresh) {
  const packed_store store = *store_at;
  const packed_batch batch = *batch_at;
  __shared__ word staged_keys[page_updates::most_staged];
  __shared__ unsigned char staged_kinds[page_updates::most_staged];
  __shared__ word effects[page_leaves];  // of all updates of the batch before each leaf
  __shared__ unsigned starts[page_leaves + 1], begins[page_leaves + 1], range[2];
  __shared__ near_pages near;
  count_fresh(store, fresh, begin_fresh, end_fresh);
  const unsigned leaves_per_warp = page_leaves / spread_warps / parts;
  for (unsigned i = blockIdx.x; i < num_jobs * parts; i += gridDim.x) {
    const unsigned number = i / parts, part = i % parts;
    page_job job = jobs[number];
    const unsigned page = static_cast<unsigned>(job.page), thread = threadIdx.x;
    const stored_page stored(store, page);
    word* const from = stored.keys + lane_id();
    const unsigned first_leaf = (part * spread_warps + static_cast<unsigned>(warp_id())) * leaves_per_warp;
    coming_leaves coming;
    coming.fetch(from, first_leaf);
    if (warp_id() == 0) scan_counts(stored.counts(), page_leaves, starts);
    if (warp_id() == 1 && job.applies) {
      const unsigned found = warp_first_not_below(batch.keys, 0u, n, *stored.separators());
      if (lane_id() == 0) range[0] = found;
    }
    if (warp_id() == 2 && job.applies) {
      const word end_key = end_of_window(store, page, page_leaves);
      const unsigned found = end_key == no_key ? n : warp_first_not_below(batch.keys, 0u, n, end_key);
      if (lane_id() == 0) range[1] = found;
    }
    if (!job.applies && thread == 0) range[0] = range[1] = 0;
    __syncthreads();
    const unsigned begin = range[0], end = range[1];
    job.effects = effects_before(batch, begin);
    const group_target target(store, job, fresh, &near);
    if (warp_id() == 3 && job.total != 0) {
      const word index = target.pages.leaf_of(min(job.base, job.total - 1)), own = index + static_cast<word>(lane_id());
      if (lane_id() == 0) near.first = index;
      if (lane_id() < static_cast<int>(near_pages::most) && own < target.num_pages) {
        near.keys[lane_id()] = stored_page(store, static_cast<unsigned>(target.fresh[own].page)).keys;
      }
    }
    const page_updates updates = stage_updates(store, batch, page, begin, end, begins, staged_keys, staged_kinds);
    if (thread < page_leaves) {
      const bool crowded = begins[thread + 1] - begins[thread] > most_own_updates;
      effects[thread] = effects_before(batch, begins[thread]);
      if (part == 0)
        stored.starts()[thread] = static_cast<unsigned short>(starts[thread] | (crowded ? crowded_leaf : 0u));
    }
    if (thread == 0 && part == 0) {
      store.jobs[page] = number;
      jobs[number].effects = job.effects;  // all parts compute the same value
    }
    __syncthreads();
    if (job.total != 0) {  // otherwise no entry remains
      const auto rank_of = [&](unsigned leaf) {
        return job.base + starts[leaf] + static_cast<word>(growth(effects[leaf] - job.effects));
      };
      group_target::place at = target.place_of(rank_of(first_leaf));
#pragma unroll 1
      for (unsigned group = 0; group < leaves_per_warp; group += leaves_at_a_time) {
        const coming_leaves here = coming;
        if (group + leaves_at_a_time < leaves_per_warp) coming.fetch(from, first_leaf + group + leaves_at_a_time);
#pragma unroll 1
        for (unsigned k = 0; k < leaves_at_a_time; ++k) {
          const unsigned leaf = first_leaf + group + k;
          const spread_leaf own{starts[leaf + 1] - starts[leaf], begins[leaf], begins[leaf + 1], effects[leaf],
                                rank_of(leaf)};
          const bool there = static_cast<unsigned>(lane_id()) < own.count;
          const word key = there ? here[k] : no_key;
          const double weight = there && store.weighted ? *weight_of(from + leaf * leaf_slots) : 0.0;
          if (own.end - own.begin <= most_met_updates) {
            spread_with_few(batch, updates, target, own, key, weight, at);
          } else {
            spread_with_many(batch, target, own, key, weight, at);
          }
        }
      }
    }
    __syncthreads();  // the next job overwrites shared memory
  }
}

// Writes the new entries of crowded leaves into fresh pages, if there are any. One thread per update. Only flagged
// pages with a job in this launch take part.
extern "C" __global__ void packed_spread_new(const packed_store* store_at, const packed_batch* batch_at, unsigned n,
                                             unsigned epoch, const page_job* jobs, unsigned num_jobs,
                                             const fresh_page* fresh) {
  const packed_store store = *store_at;
  const packed_batch batch = *batch_at;
  if (!batch.info->any_crowded) return;
  for (long long i = grid_thread_id(); i < n; i += grid_threads()) {
    const unsigned t = static_cast<unsigned>(i), leaf = batch.leaves[t], page = leaf / page_leaves;
    if (kind_of(batch, t) != update_insert) continue;
    const stored_leaf stored(store, leaf);
    if (store.marks[page] != epoch || stored.page.levels()[stored.within] <= page_level) continue;
    const unsigned index = store.jobs[page];  // from an earlier launch, unless that job is for this page
    const unsigned known = stored.page.starts()[stored.within];
    if (index >= num_jobs || jobs[index].page != page || !(known & crowded_leaf)) continue;
    const page_job job = jobs[index];
    const unsigned start = known & (crowded_leaf - 1u);
    const long long within = start + slot_of(batch, t) + growth(effects_before(batch, t) - job.effects);
    const group_target target(store, job, fresh, nullptr);
    target.put(job.base + static_cast<word>(within), batch.keys[t], store.weighted ? batch.weights[t] : 0.0);
  }
}

// Completes the directory (one thread per page), and the rows that begin in fresh pages (one block per page).
// `store_at` is the new version.
extern "C" __global__ void __launch_bounds__(256)
    packed_finish(const packed_store* store_at, const fresh_page* fresh, unsigned num_fresh) {
  const packed_store store = *store_at;
  __shared__ word separators[page_leaves];
  for (long long i = grid_thread_id(); i < static_cast<long long>(store.num_pages); i += grid_threads()) {
    const unsigned page = store.pages[i];
    store.positions[page] = static_cast<unsigned>(i);
    store.page_separators[i] = *stored_page(store, page).separators();
  }
  for (unsigned i = blockIdx.x; i < num_fresh; i += gridDim.x) {
    const unsigned page = static_cast<unsigned>(fresh[i].page);
    if (threadIdx.x < page_leaves) separators[threadIdx.x] = stored_page(store, page).separators()[threadIdx.x];
    const long long next = fresh[i].successor;
    const word end = next < 0 ? no_key : *stored_page(store, static_cast<unsigned>(next)).separators();
    __syncthreads();
    index_rows(store, page * page_leaves, separators, page_leaves, end, threadIdx.x, blockDim.x);
    __syncthreads();
  }
}

// Writes leaves in directory order with their gaps, which become no_key. One thread per slot.
extern "C" __global__ void packed_slots(const packed_store* store_at, long long first, long long leaves, word* keys,
                                        double* weights) {
  const packed_store store = *store_at;
  for (long long i = grid_thread_id(); i < leaves * leaf_slots; i += grid_threads()) {
    const word position = static_cast<word>(first) + static_cast<word>(i) / leaf_slots;
    const unsigned slot = static_cast<unsigned>(i) % leaf_slots;
    const stored_leaf stored = leaf_in_order(store, position);
    word* const from = stored.keys() + slot;
    const bool there = slot < stored.count();
    keys[i] = there ? *from : no_key;
    if (store.weighted) weights[i] = there ? *weight_of(from) : 0.0;
  }
}

// Writes neighbors and weights without gaps. One thread per slot. `begins` has the number of entries before each leaf
// of the directory.
extern "C" __global__ void packed_gather(const packed_store* store_at, const long long* begins, int* neighbors,
                                         double* weights) {
  const packed_store store = *store_at;
  const long long slots = static_cast<long long>(store.num_pages) * page_slots;
  for (long long i = grid_thread_id(); i < slots; i += grid_threads()) {
    const word position = static_cast<word>(i) / leaf_slots;
    const unsigned slot = static_cast<unsigned>(i) % leaf_slots;
    const stored_leaf stored = leaf_in_order(store, position);
    if (slot >= stored.count()) continue;
    word* const from = stored.keys() + slot;
    neighbors[begins[position] + slot] = static_cast<int>(*from);
    if (store.weighted) weights[begins[position] + slot] = *weight_of(from);
  }
}

// Writes the number of entries before each row, and the total. One thread per row and one for the end.
extern "C" __global__ void packed_offsets(const packed_store* store_at, const long long* begins, long long* offsets) {
  const packed_store store = *store_at;
  for (long long row = grid_thread_id(); row <= static_cast<long long>(store.num_rows); row += grid_threads()) {
    const unsigned leaf = store.row_leaves[row];
    const word position = static_cast<word>(store.positions[leaf / page_leaves]) * page_leaves + leaf % page_leaves;
    const stored_leaf stored(store, leaf);
    const unsigned count = stored.count();
    offsets[row] = begins[position] + first_not_below(stored.keys(), 0u, count, static_cast<word>(row) << 32);
  }
}

// Tests whether keys exist. One thread per key.
extern "C" __global__ void packed_contains(const packed_store* store_at, const word* keys, long long n,
                                           unsigned char* found) {
  const packed_store store = *store_at;
  for (long long i = grid_thread_id(); i < n; i += grid_threads()) {
    const word key = keys[i];
    bool there = false;
    if (key >> 32 < store.num_rows) {
      const stored_leaf leaf(store, find_leaf(store, key));
      const unsigned count = leaf.count();
      const word* const entries = leaf.keys();
      const unsigned slot = first_not_below(entries, 0u, count, key);
      there = slot < count && entries[slot] == key;
    }
    found[i] = there;
  }
}
