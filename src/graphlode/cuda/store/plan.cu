// store/plan.cu - applies a batch of updates to the pages of a shard: plan once, write once.
//
// One block sorts, locates and plans a small batch. A larger batch arrives sorted (store/sort.cu). Each block then
// locates and plans a tile of it, and the last block plans what crosses tiles. A separate launch chooses windows when
// all counts are known. One launch writes the plan, except for pages that must move into fresh ones (store/pages.cu):
// for these the host must find memory first. If the host does not have to decide anything, the launch that writes
// follows at once, and does nothing if the host turns out to be needed. After Bender and Hu, "An adaptive packed-memory
// array" (TODS 2007), and Sha et al., "Accelerating dynamic graph analytics on GPUs" (VLDB 2017). Their climb from
// level to level is replaced; packed_climb has it for comparison.
#include "block.cuh"
#include "grid.cuh"
#include "store/block_sort.cuh"
#include "store/input.cuh"
#include "store/leaf.cuh"
#include "store/write.cuh"

// The value of `step` with which packed_plan_small also chooses windows. The climb chooses them itself.
constexpr int choose_windows_too = 2;

// Copies a struct of pointers into shared memory. Called by all threads of a block; the last ones copy, since they
// usually have the least to do. In registers, the pointers would leave too few for overlapping loads.
template <class Struct>
__device__ __forceinline__ void share(const Struct* from, Struct& to) {
  static_assert(sizeof(Struct) % sizeof(word) == 0, "whole words");
  const unsigned i = blockDim.x - 1 - threadIdx.x;
  if (i < sizeof(Struct) / sizeof(word)) reinterpret_cast<word*>(&to)[i] = reinterpret_cast<const word*>(from)[i];
}

// Sorts, locates and plans an unsorted batch of at most block_tile updates. One block of whole warps. All counts, and
// what planning needs of each update, stay in shared memory until the end. The result is reported to the host, unless
// the plan is to climb.
extern "C" __global__ void __launch_bounds__(1024, 1)
    packed_plan_small(const packed_store* store_at, const packed_batch* batch_at, const void* tails, const void* heads,
                      const unsigned char* deletes, const double* weights, unsigned how, unsigned n, unsigned epoch,
                      unsigned neighbor_bits, int step) {
  const packed_input input{tails, heads, deletes, weights, how};
  __shared__ packed_store store;
  __shared__ packed_batch batch;
  __shared__ two_words key_pairs[block_tile / 2];
  __shared__ unsigned short places[block_tile];
  __shared__ tile_effect sums[32];
  __shared__ packed_info info;
  word* const keys = &key_pairs->first;
  unsigned size = 64;
  while (size < n) size <<= 1;
  if (threadIdx.x == 0) info = packed_info{};
  __syncthreads();
  share(store_at, store);
  share(batch_at, batch);
  for (unsigned i = threadIdx.x; i < size; i += blockDim.x) {
    keys[i] = i < n ? read_update(input, store_at->num_rows, i, &info) : no_key;
  }
  packed_info* const info_at = batch_at->info;
  __syncthreads();
  __shared__ sort_room<block_tile> room;
  if (info.bad_row) {
    if (threadIdx.x == 0) {
      *info_at = info;
      report_to_host(batch, info, epoch);
    }
    return;
  }
  if (threadIdx.x == 0) {  // sort_block has a barrier before these are read
    batch.info = &info;
    batch.suspects = reinterpret_cast<unsigned*>(room.words);  // which is free after the sort
  }
  sort_block(keys, places, size, packed_form{neighbor_bits}, store.num_rows, room);
  tile_effect carried = 0;
#pragma unroll 1
  for (unsigned first = 0; first < n; first += blockDim.x) {
    const unsigned t = first + threadIdx.x;
    found_slot found;
    tile_effect effect = 0, total;
    if (t < n) {
      const word key = keys[t];
      const bool last = t + 1 == n || (key ^ keys[t + 1]) << 1 != 0;
      const double weight = store.weighted ? input.weight_of_update(places[t]) : 1.0;
      found = found_slot(store, key & ~delete_bit);
      effect = note_update(store, batch, t, key, found, last, input.has_weights(), weight);
    }
    const tile_effect scanned = carried + block_scan(effect, sums, total);
    if (t < n) {
      batch.effects[t] = widened(scanned);
      keys[t] = noted_updates::note(found.leaf, scanned);  // neither the key nor the place is needed any more
      places[t] = static_cast<unsigned short>(found.count);
    }
    carried += total;
  }
  if (threadIdx.x < block_tile / effect_tile) batch.tile_effects[threadIdx.x] = 0;
  if (threadIdx.x == 0) {
    info.inserted = static_cast<unsigned>(widened(carried));
    info.deleted = static_cast<unsigned>(widened(carried) >> 32);
  }
  __syncthreads();
#pragma unroll 1
  for (unsigned first = threadIdx.x & ~31u; first < n; first += blockDim.x) {
    const unsigned t = first + static_cast<unsigned>(lane_id());
    noted_task found(noted_updates{keys, n}, t, store.weighted != 0);
    if (found.wanted) found.task.counts = places[t];
    const unsigned place = place_in_list(&info.num_leaves, found.wanted);
    plan_leaves(store, batch, found.task, found.effects, found.wanted, epoch);
    if (found.wanted) batch.tasks[place] = found.task;
  }
  __syncthreads();
  const unsigned suspects = info.num_suspects;
  if (step < choose_windows_too) {
    for (unsigned i = threadIdx.x; i < suspects; i += blockDim.x) batch_at->suspects[i] = batch.suspects[i];
    if (threadIdx.x == 0) *info_at = info;
    return;
  }
  for (unsigned i = static_cast<unsigned>(warp_id()); i < suspects; i += blockDim.x / 32) {
    plan_page(store, batch, batch.suspects[i]);
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    *info_at = info;
    report_to_host(batch, info, epoch);
  }
}

// Plans a tile of located updates. One block, one thread per update. Skips the first and the last leaf if they may have
// updates in other tiles. `count` is the number of entries of the update's leaf.
__device__ __forceinline__ void plan_tile(const packed_store& store, const packed_batch& batch, noted_updates updates,
                                          unsigned tile, bool is_last, unsigned count, unsigned epoch) {
  __shared__ unsigned num_tasks, first_task;
  if (threadIdx.x == 0) num_tasks = 0;
  __syncthreads();
  noted_task found(updates, threadIdx.x, store.weighted != 0);
  leaf_task& task = found.task;
  const bool leaves_out = (task.begin == 0 && tile != 0) || (task.end == updates.size && !is_last);
  const bool wanted = found.wanted && !leaves_out;
  if (wanted) task.counts = count;
  const unsigned place = place_in_list(&num_tasks, wanted);
  __syncthreads();
  if (threadIdx.x == 0 && num_tasks != 0) first_task = atomicAdd(&batch.info->num_leaves, num_tasks);
  plan_leaves(store, batch, task, found.effects, wanted, epoch);
  __syncthreads();
  task.begin += tile * effect_tile;
  task.end += tile * effect_tile;
  if (wanted) batch.tasks[first_task + place] = task;
}

// Plans the leaves that plan_tile skips. One block, when all tiles are located and their effects are known. For each
// tile, one thread takes the leaf that begins with the tile, if one does, and one thread the last leaf that begins in
// it.
__device__ __forceinline__ void plan_between_tiles(const packed_store& store, const packed_batch& batch, unsigned n,
                                                   unsigned tiles, unsigned epoch) {
#pragma unroll 1
  for (unsigned from = threadIdx.x & ~31u; from < 2 * tiles; from += blockDim.x) {
    const unsigned tile = (from + static_cast<unsigned>(lane_id())) / 2, first = tile * effect_tile;
    const bool is_first = (lane_id() & 1) == 0;
    leaf_task task{0, first, first, 0};
    word effects = 0;
    bool wanted = false;
    if (tile < tiles && is_first && tile != 0) {
      task.leaf = batch.leaves[first];
      wanted = batch.leaves[first - 1] != task.leaf;
    } else if (tile + 1 < tiles && !is_first) {
      const unsigned last = first + effect_tile - 1;
      task.leaf = batch.leaves[last];
      task.begin = begin_of_run(batch, first, last, task.leaf);
      task.end = last;
      wanted = task.begin != first || tile == 0;
    }
    if (wanted) {
      task.end = end_of_run(batch, n, task.end, task.leaf);
      task.counts = stored_leaf(store, task.leaf).count();
      effects = effects_before(batch, task.end) - effects_before(batch, task.begin);
      wanted = effects != 0 || store.weighted != 0;
    }
    const unsigned place = place_in_list(&batch.info->num_leaves, wanted);
    plan_leaves(store, batch, task, effects, wanted, epoch);
    if (wanted) batch.tasks[place] = task;
  }
}

// Processes a sorted batch: finds the effect of every update, their running sums, and the tasks of the leaves. One
// thread per update, blocks of effect_tile threads. The last block sums up the tiles and plans what crosses them. The
// places of the updates lead to their weights.
extern "C" __global__ void __launch_bounds__(1024, 1)
    packed_locate(const packed_store* store_at, const packed_batch* batch_at, const double* weights, unsigned how,
                  unsigned n, unsigned epoch, unsigned neighbor_bits) {
  __shared__ packed_store store;
  __shared__ packed_batch batch;
  share(store_at, store);
  share(batch_at, batch);
  __syncthreads();
  const word* const sorted = batch.sorted;
  const packed_input input{sorted, sorted, nullptr, weights, how};
  __shared__ word notes[effect_tile];
  __shared__ tile_effect sums[32];
  const unsigned tiles = (n + effect_tile - 1) / effect_tile;
  if (batch.info->bad_row) return;
#pragma unroll 1
  for (unsigned tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    const unsigned t = tile * effect_tile + threadIdx.x;
    found_slot found;
    tile_effect effect = 0, total;
    if (t < n) {
      const word packed = sorted[t], next = sorted[min(t + 1, n - 1)], own = packed_form{neighbor_bits}.unpack(packed);
      const bool last = t + 1 == n || (packed ^ next) << 1 != 0;
      const double weight = store.weighted && input.has_weights() ? input.weight_of_update(batch.places[t]) : 1.0;
      found = found_slot(store, own & ~delete_bit);
      effect = note_update(store, batch, t, own, found, last, input.has_weights(), weight);
    }
    effect = block_scan(effect, sums, total);
    if (t < n) batch.effects[t] = widened(effect);
    if (threadIdx.x == 0) batch.tile_effects[tile] = widened(total);
    notes[threadIdx.x] = noted_updates::note(found.leaf, effect);
    const noted_updates updates{notes, min(effect_tile, n - tile * effect_tile)};
    plan_tile(store, batch, updates, tile, tile + 1 == tiles, found.count, epoch);
  }
  if (!last_block(&batch.info->tickets)) return;
  word before = 0;
  for (unsigned first = 0; first < tiles; first += blockDim.x) {
    const unsigned tile = first + threadIdx.x;
    const word own = tile < tiles ? batch.tile_effects[tile] : 0;
    word total;
    const word scanned = block_scan(own, notes, total);
    if (tile < tiles) batch.tile_effects[tile] = before + scanned - own;
    before += total;
  }
  if (threadIdx.x == 0) {
    batch.info->inserted = static_cast<unsigned>(before);
    batch.info->deleted = static_cast<unsigned>(before >> 32);
  }
  __syncthreads();
  plan_between_tiles(store, batch, n, tiles, epoch);
}

// Chooses windows and flags pages. One warp per suspect.
extern "C" __global__ void packed_plan_pages(const packed_store* store_at, const packed_batch* batch_at) {
  const packed_store store = *store_at;
  const packed_batch batch = *batch_at;
  for (long long i = grid_warp_id(); i < batch.info->num_suspects; i += grid_warps()) {
    plan_page(store, batch, batch.suspects[i]);
  }
}

// One level of the climb, for comparison with packed_plan_pages, which finds the same windows. Every leaf that is still
// out of bounds counts its whole window of this level again. One thread per leaf of the suspects. `climbing` receives
// the number of leaves that must go on. packed_plan_pages follows the last level.
extern "C" __global__ void packed_climb(const packed_store* store_at, const packed_batch* batch_at, unsigned level,
                                        unsigned* climbing) {
  const packed_store store = *store_at;
  const packed_batch batch = *batch_at;
  const long long leaves = static_cast<long long>(batch.info->num_suspects) * page_leaves;
  for (long long i = grid_thread_id(); i < leaves; i += grid_threads()) {
    const stored_page page(store, batch.suspects[i / page_leaves]);
    const unsigned leaf = static_cast<unsigned>(i) % page_leaves;
    if (level > 1 && page.levels()[leaf] != level - 1) continue;  // within bounds at a lower level
    const unsigned count = page.next_counts()[leaf], first = leaf >> level << level;
    const bool outside = count > leaf_slots || (store.num_pages > 1 && count < lower_slots(0));
    page.levels()[leaf] = 0;
    if (!outside) continue;
    unsigned entries = 0;
    for (unsigned other = first; other < first + (1u << level); ++other) entries += page.next_counts()[other];
    const bool fits = entries <= upper_slots(level) && (store.num_pages == 1 || entries >= lower_slots(level));
    if (fits) continue;
    page.levels()[leaf] = static_cast<unsigned char>(level);
    atomicAdd(climbing, 1u);
  }
}

// Writes the plan: one block per wide window, one warp per narrow window, warps for leaves. Leaves inside windows or
// flagged pages are skipped. With `at_once`, the result of the plan is first reported to the host, unless
// packed_plan_small has done so, and nothing is written if pages are flagged. Dynamic shared memory: one wide window,
// or one narrow window per warp.
extern "C" __global__ void __launch_bounds__(256, 4)
    packed_write(const packed_store* store_at, const packed_batch* batch_at, unsigned n, unsigned epoch, int at_once) {
  const packed_store store = *store_at;
  const packed_batch batch = *batch_at;
  const packed_info info = *batch.info;
  if (at_once && n > block_tile && grid_thread_id() == grid_threads() - 1) report_to_host(batch, info, epoch);
  if (info.bad_row || (at_once && info.num_flagged)) return;
  DYN_SHARED(unsigned char, memory);
  for (unsigned i = blockIdx.x; i < info.num_wide; i += gridDim.x) {
    write_window<true>(store, batch, n, batch.wide[i], memory);
  }
  static_assert(only_updates_bytes <= window_bytes(narrow_level, false), "the same memory serves both");
  const unsigned own = (window_bytes(narrow_level, store.weighted != 0) + 15) / 16 * 16;
  for (long long i = grid_warp_id(); i < info.num_narrow; i += grid_warps()) {
    write_window<false>(store, batch, n, batch.narrow[i], memory + static_cast<unsigned>(warp_id()) * own);
  }
  only_update* const updates = reinterpret_cast<only_update*>(memory + static_cast<unsigned>(warp_id()) * own);
  write_leaves(store, batch, info.num_leaves, info.num_suspects != 0, epoch, updates);
}
