// graph/packed.cu - a batch of updates in the pages of a shard: planned once, written once.
//
// A small batch is sorted, located and planned by one block; larger ones come sorted (packed_sort.cu) and take a launch
// for each step, with a running sum of their effects between locating and planning. The plan is written by one launch,
// except for pages that go into fresh ones (packed_pages.cu): for these the host must find memory first. Where nobody
// else has a say, the launch that writes follows at once, and does nothing if the host turns out to be needed.
// After Bender and Hu, "An adaptive packed-memory array" (TODS 2007), and Sha et al., "Accelerating dynamic graph
// analytics on GPUs" (VLDB 2017), without their climbing level by level, which is packed_climb.
#include "block.cuh"
#include "grid.cuh"
#include "packed_block_sort.cuh"
#include "packed_input.cuh"
#include "packed_write.cuh"

// How far a batch is planned: a merge needs effects only, and the climb chooses windows by itself.
constexpr int count_leaves = 1, choose_windows_too = 2;

// A batch of at most block_tile updates, unsorted, by one block of whole warps: sorted, located and planned.
extern "C" __global__ void __launch_bounds__(1024)
    packed_plan_small(const packed_store* store_at, const packed_batch* batch_at, const void* tails, const void* heads,
                      const unsigned char* deletes, const double* weights, unsigned how, unsigned n, unsigned epoch,
                      unsigned neighbor_bits, int step) {
  const packed_store store = *store_at;
  const packed_batch batch = *batch_at;
  const packed_input input{tails, heads, deletes, weights, how};
  __shared__ word keys[block_tile];
  __shared__ unsigned short places[block_tile];
  __shared__ word sums[32];
  unsigned size = 64;
  while (size < n) size <<= 1;
  if (threadIdx.x == 0) *batch.info = packed_info{};
  __syncthreads();
  for (unsigned i = threadIdx.x; i < size; i += blockDim.x) {
    keys[i] = i < n ? read_update(input, store.num_rows, i, batch.info) : no_key;
  }
  __syncthreads();
  if (batch.info->bad_row) {
    if (step < count_leaves && threadIdx.x == 0) *batch.told = *batch.info;
    return;
  }
  sort_block(keys, places, size, packed_form{neighbor_bits}, store.num_rows);
  word carried = 0;
  for (unsigned first = 0; first < n; first += blockDim.x) {
    const unsigned t = first + threadIdx.x;
    word effect = 0, total;
    if (t < n) {
      const bool last = t + 1 == n || (keys[t] ^ keys[t + 1]) << 1 != 0;
      const double weight = store.weighted ? input.weight_of_update(places[t]) : 1.0;
      const found_slot found = find_slot(store, keys[t] & ~delete_bit);
      effect = note_update(store, batch, t, keys[t], found, last, input.has_weights(), weight);
    }
    const word scanned = block_scan(effect, sums, total);
    if (t < n) batch.effects[t] = carried + scanned;
    carried += total;
  }
  if (threadIdx.x < block_tile / effect_tile) batch.tile_effects[threadIdx.x] = 0;
  if (threadIdx.x == 0) {
    batch.info->inserted = static_cast<unsigned>(carried);
    batch.info->deleted = static_cast<unsigned>(carried >> 32);
  }
  __syncthreads();
  if (step < count_leaves && threadIdx.x == 0) *batch.told = *batch.info;
  if (step < count_leaves) return;
  for (unsigned first = threadIdx.x & ~31u; first < n; first += blockDim.x) plan_leaves(store, batch, n, first, epoch);
  __syncthreads();
  if (step < choose_windows_too) return;
  const unsigned suspects = batch.info->num_suspects;
  for (unsigned i = static_cast<unsigned>(warp_id()); i < suspects; i += blockDim.x / 32) {
    plan_page(store, batch, batch.suspects[i]);
  }
}

// A sorted batch: what every update does, and the running sums of that. A thread per update, blocks of effect_tile
// threads; the last block to finish sums up the tiles, and with `tell` tells the host. Weights are found by the places
// of the updates.
extern "C" __global__ void __launch_bounds__(1024, 2)
    packed_locate(const packed_store* store_at, const packed_batch* batch_at, const double* weights, unsigned how,
                  unsigned n, unsigned neighbor_bits, int tell) {
  const packed_store store = *store_at;
  const packed_batch batch = *batch_at;
  const word* const sorted = batch.sorted;
  const packed_input input{sorted, sorted, nullptr, weights, how};
  __shared__ word sums[32];
  const unsigned tiles = (n + effect_tile - 1) / effect_tile;
  if (batch.info->bad_row) {
    if (tell && grid_thread_id() == 0) *batch.told = *batch.info;
    return;
  }
  word total;
  for (unsigned tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    const unsigned t = tile * effect_tile + threadIdx.x;
    const word packed = t < n ? sorted[t] : 0, own = packed_form{neighbor_bits}.unpack(packed);
    const found_slot found = warp_find_slots(store, own & ~delete_bit, t < n);
    word effect = 0;
    if (t < n) {
      const bool last = t + 1 == n || (packed ^ sorted[t + 1]) << 1 != 0;
      const double weight = store.weighted && input.has_weights() ? input.weight_of_update(batch.places[t]) : 1.0;
      effect = note_update(store, batch, t, own, found, last, input.has_weights(), weight);
    }
    effect = block_scan(effect, sums, total);
    if (t < n) batch.effects[t] = effect;
    if (threadIdx.x == 0) batch.tile_effects[tile] = total;
  }
  if (!last_block(&batch.info->tickets)) return;
  word before = 0;
  for (unsigned first = 0; first < tiles; first += blockDim.x) {
    const unsigned tile = first + threadIdx.x;
    const word own = tile < tiles ? batch.tile_effects[tile] : 0;
    const word scanned = block_scan(own, sums, total);
    if (tile < tiles) batch.tile_effects[tile] = before + scanned - own;
    before += total;
  }
  if (threadIdx.x == 0) {
    batch.info->inserted = static_cast<unsigned>(before);
    batch.info->deleted = static_cast<unsigned>(before >> 32);
    if (tell) *batch.told = *batch.info;
  }
}

// Counts and tasks of the leaves: a thread per update.
extern "C" __global__ void __launch_bounds__(256, 6)
    packed_plan_leaves(const packed_store* store_at, const packed_batch* batch_at, unsigned n, unsigned epoch) {
  const packed_store store = *store_at;
  const packed_batch batch = *batch_at;
  if (batch.info->bad_row) return;
  for (long long first = 32 * grid_warp_id(); first < n; first += 32 * grid_warps()) {
    plan_leaves(store, batch, n, static_cast<unsigned>(first), epoch);
  }
}

// Windows and flagged pages: a warp per suspect.
extern "C" __global__ void packed_plan_pages(const packed_store* store_at, const packed_batch* batch_at) {
  const packed_store store = *store_at;
  const packed_batch batch = *batch_at;
  for (long long i = grid_warp_id(); i < batch.info->num_suspects; i += grid_warps()) {
    plan_page(store, batch, batch.suspects[i]);
  }
}

// One level of the climb, for comparison with packed_plan_pages, which comes to the same windows: every leaf that is
// still out of bounds counts its window of this level anew, all of it. A thread per leaf of the suspects. `climbing`
// gets how many leaves must go on; packed_plan_pages follows the last level.
extern "C" __global__ void packed_climb(const packed_store* store_at, const packed_batch* batch_at, unsigned level,
                                        unsigned* climbing) {
  const packed_store store = *store_at;
  const packed_batch batch = *batch_at;
  const long long leaves = static_cast<long long>(batch.info->num_suspects) * page_leaves;
  for (long long i = grid_thread_id(); i < leaves; i += grid_threads()) {
    const unsigned page = batch.suspects[i / page_leaves],
                   leaf = page * page_leaves + static_cast<unsigned>(i) % page_leaves;
    if (level > 1 && store.levels[leaf] != level - 1) continue;  // within bounds below
    const unsigned count = store.next_counts[leaf], first = leaf >> level << level;
    const bool outside = count > leaf_slots || (store.num_pages > 1 && count < lower_slots(0));
    store.levels[leaf] = 0;
    if (!outside) continue;
    unsigned entries = 0;
    for (unsigned other = first; other < first + (1u << level); ++other) entries += store.next_counts[other];
    const bool fits = entries <= upper_slots(level) && (store.num_pages == 1 || entries >= lower_slots(level));
    if (fits) continue;
    store.levels[leaf] = static_cast<unsigned char>(level);
    atomicAdd(climbing, 1u);
  }
}

// Writes the plan: wide windows a block each, narrow windows and leaves a warp each. Leaves inside of windows or of
// flagged pages are left out. With `at_once`, nothing is written if pages are flagged. Dynamic shared memory: a wide
// window, or a narrow one per warp.
extern "C" __global__ void __launch_bounds__(256, 4)
    packed_write(const packed_store* store_at, const packed_batch* batch_at, unsigned n, unsigned epoch, int at_once) {
  const packed_store store = *store_at;
  const packed_batch batch = *batch_at;
  const packed_info info = *batch.info;
  if (grid_thread_id() == 0) *batch.told = info;
  if (info.bad_row || (at_once && info.num_flagged)) return;
  DYN_SHARED(unsigned char, memory);
  for (unsigned i = blockIdx.x; i < info.num_wide; i += gridDim.x) {
    write_window<true>(store, batch, n, batch.wide[i], memory);
  }
  const unsigned own = (window_bytes(narrow_level, store.weighted != 0) + 15) / 16 * 16;
  for (long long i = grid_warp_id(); i < info.num_narrow; i += grid_warps()) {
    write_window<false>(store, batch, n, batch.narrow[i], memory + static_cast<unsigned>(warp_id()) * own);
  }
  write_leaves(store, batch, info.num_leaves, info.num_suspects != 0, epoch);
}
