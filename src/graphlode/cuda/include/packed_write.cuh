// packed_write.cuh - writing a leaf or a window of leaves, each once, with the updates that fall into it.
//
// Leaves and windows of one batch are disjoint and none changes the separator of its own first leaf, so that nothing
// that is written here is read by another warp or block of the same launch.
#pragma once
#include "packed_plan.cuh"

// A leaf with updates, as the lane that has its task knows it.
struct leaf_job {
  leaf_task task;
  unsigned count;
  word* keys;
};

// A leaf and the first 32 of its updates, as a warp has them: a slot and an update for each lane.
struct fetched_leaf {
  unsigned leaf, begin, end, count;
  word* keys;
  word key;
  word update;
  unsigned char kind;  // with the slot: taking it off here would wait for the memory
};
__device__ __forceinline__ void fetch_updates(const packed_batch& batch, unsigned first, fetched_leaf& leaf) {
  const unsigned t = first + static_cast<unsigned>(lane_id());
  leaf.kind = update_nothing;
  leaf.update = 0;
  if (t < leaf.end) {
    leaf.kind = batch.kinds[t];
    leaf.update = batch.keys[t];
  }
}
// The leaf that the lane `source` has the job of.
__device__ __forceinline__ fetched_leaf fetch_leaf(const packed_batch& batch, const leaf_job& job, int source) {
  const unsigned lane = static_cast<unsigned>(lane_id());
  fetched_leaf found;
  found.leaf = __shfl_sync(full_mask, job.task.leaf, source);
  found.begin = __shfl_sync(full_mask, job.task.begin, source);
  found.end = __shfl_sync(full_mask, job.task.end, source);
  found.count = __shfl_sync(full_mask, job.count, source);
  found.keys = reinterpret_cast<word*>(__shfl_sync(full_mask, reinterpret_cast<word>(job.keys), source));
  found.key = no_key;
  if (lane < found.count) found.key = found.keys[lane];
  fetch_updates(batch, found.begin, found);
  return found;
}

// One warp, a lane per slot. The old leaf lies in registers, so it can be written in place.
__device__ __forceinline__ void write_leaf(const packed_store& store, const packed_batch& batch, fetched_leaf leaf) {
  const unsigned lane = static_cast<unsigned>(lane_id());
  word* const keys = leaf.keys;
  const word key = leaf.key;
  bool there = lane < leaf.count;
  double weight = there && store.weighted ? *weight_of(keys + lane) : 0.0;
  int shift = 0, more = 0;  // how far this lane's entry moves; how many entries the updates so far have added
  __syncwarp();
  for (unsigned first = leaf.begin; first < leaf.end; first += 32) {
    if (first != leaf.begin) fetch_updates(batch, first, leaf);
    const unsigned t = first + lane;
    const double own_weight = t < leaf.end && store.weighted ? batch.weights[t] : 0.0;
    const unsigned kind = leaf.kind & 3u;
    for (unsigned left = __ballot_sync(full_mask, kind != update_nothing); left != 0; left &= left - 1) {
      const int source = __ffs(static_cast<int>(left)) - 1;
      const word update = __shfl_sync(full_mask, leaf.update, source);
      const unsigned what = __shfl_sync(full_mask, kind, source);
      if (what == update_insert) {
        const int below = __popc(__ballot_sync(full_mask, key < update));
        if (lane == static_cast<unsigned>(source)) {
          keys[below + more] = update;
          if (store.weighted) *weight_of(keys + below + more) = own_weight;
        }
        if (key > update) ++shift;
        ++more;
      } else if (what == update_delete) {
        if (key == update) there = false;
        if (key > update) --shift;
        --more;
      } else {
        const double other = __shfl_sync(full_mask, own_weight, source);
        if (key == update) weight = other;
      }
    }
  }
  if (there) {  // what stays where it is need not be written
    word* const target = keys + static_cast<int>(lane) + shift;
    if (shift != 0) *target = key;
    if (store.weighted) *weight_of(target) = weight;
  }
  if (lane == 0) {
    const auto count = static_cast<unsigned short>(static_cast<int>(leaf.count) + more);
    store.counts[leaf.leaf] = store.next_counts[leaf.leaf] = count;
  }
}

// All leaves with updates but those that are rewritten otherwise. Warps take several at a time: the lanes look up a
// task each, and while one leaf is written the next two are on their way.
__device__ __forceinline__ void write_leaves(const packed_store& store, const packed_batch& batch, unsigned num_leaves,
                                             bool any_suspects, unsigned epoch) {
  const unsigned lane = static_cast<unsigned>(lane_id());
  const word warps = static_cast<word>(grid_warps()), turn = min(32ull, (num_leaves + warps - 1) / warps);
  for (word first = static_cast<word>(grid_warp_id()) * turn; first < num_leaves; first += warps * turn) {
    leaf_job job{leaf_task{0, 0, 0, 0}, 0, nullptr};
    bool wanted = lane < turn && first + lane < num_leaves;
    if (wanted) {
      job.task = batch.tasks[first + lane];
      const unsigned leaf = job.task.leaf;
      job.count = store.counts[leaf];
      job.keys = leaf_keys(store, leaf);
      wanted = !any_suspects || store.marks[leaf / page_leaves] != epoch || store.levels[leaf] == 0;
    }
    unsigned left = __ballot_sync(full_mask, wanted);
    if (left == 0) continue;
    // The leaf at hand and the two behind it. The loop is not unrolled: small batches wait for instructions, too.
    unsigned waiting = static_cast<unsigned>(__popc(left));
    fetched_leaf current = fetch_leaf(batch, job, __ffs(static_cast<int>(left)) - 1), next = current;
    left &= left - 1;
    if (left != 0) next = fetch_leaf(batch, job, __ffs(static_cast<int>(left)) - 1);
#pragma unroll 1
    for (; waiting != 0; --waiting) {
      fetched_leaf behind = next;
      left &= left - 1;
      if (left != 0) behind = fetch_leaf(batch, job, __ffs(static_cast<int>(left)) - 1);
      write_leaf(store, batch, current);
      current = next;
      next = behind;
    }
  }
}

// Those who write a window together: a warp or a block.
template <bool Wide>
struct team {
  static __device__ __forceinline__ unsigned thread() { return Wide ? threadIdx.x : static_cast<unsigned>(lane_id()); }
  static __device__ __forceinline__ unsigned threads() { return Wide ? blockDim.x : 32u; }
  static __device__ __forceinline__ void meet() {
    if (Wide) {
      __syncthreads();
    } else {
      __syncwarp();
    }
  }
};

// Running sums of the counts of up to 128 leaves, and the sum of all behind them: one warp.
__device__ __forceinline__ void scan_counts(const unsigned short* counts, unsigned leaves, unsigned* starts) {
  const unsigned first = 4 * static_cast<unsigned>(lane_id());
  unsigned own[4], sum = 0;
  for (unsigned i = 0; i < 4; ++i) {
    own[i] = first + i < leaves ? counts[first + i] : 0;
    sum += own[i];
  }
  unsigned start = warp_inclusive_scan(sum) - sum;
  for (unsigned i = 0; i < 4; ++i) {
    if (first + i <= leaves) starts[first + i] = start;
    start += own[i];
  }
  if (lane_id() == 31 && leaves == page_leaves) starts[leaves] = start;
}

// Takes the entries of a window together in `keys` and `weights`, without gaps.
__device__ __forceinline__ void gather_window(const packed_store& store, unsigned first, unsigned leaves,
                                              const unsigned* starts, word* keys, double* weights, unsigned thread,
                                              unsigned threads) {
  word* const from = leaf_keys(store, first);
  for (unsigned i = thread; i < leaves * leaf_slots; i += threads) {
    const unsigned leaf = i / leaf_slots, slot = i % leaf_slots, start = starts[leaf];
    if (slot >= starts[leaf + 1] - start) continue;
    keys[start + slot] = from[i];
    if (store.weighted) weights[start + slot] = *weight_of(from + i);
  }
}

// What the updates [begin, end) do to an entry that was there: where it goes from place i, and whether it stays.
struct survivor {
  bool stays;
  word rank;
};
__device__ __forceinline__ survivor apply_updates(const packed_batch& batch, unsigned begin, unsigned end, word base,
                                                  word i, word key, double& weight) {
  const unsigned next = first_above(batch.keys, begin, end, key);
  bool stays = true;
  if (next > begin && batch.keys[next - 1] == key) {
    const unsigned kind = kind_of(batch, next - 1);
    stays = kind != update_delete;
    if (kind == update_weight) weight = batch.weights[next - 1];
  }
  const word before = next > begin ? effects_before(batch, next) : base;
  return {stays, static_cast<word>(static_cast<long long>(i) + growth(before - base))};
}

constexpr unsigned window_bytes(unsigned level, bool weighted) {
  return (leaf_slots << level) * (weighted ? 16u : 8u) + 4 * ((1u << level) + 4);
}

// Merges the entries of a window with its updates and spreads them evenly over its leaves: a warp or a block.
template <bool Wide>
__device__ void write_window(const packed_store& store, const packed_batch& batch, unsigned n, word window,
                             unsigned char* memory) {
  using us = team<Wide>;
  const unsigned first = static_cast<unsigned>(window), level = static_cast<unsigned>(window >> 32);
  const unsigned leaves = 1u << level, slots = leaves * leaf_slots, page = first / page_leaves;
  word* const keys = reinterpret_cast<word*>(memory);
  double* const weights = reinterpret_cast<double*>(keys + slots);
  unsigned* const starts = reinterpret_cast<unsigned*>(keys + (store.weighted ? 2 * slots : slots));
  word* const separators = store.separators + first;

  if (!Wide || warp_id() == 0) scan_counts(store.counts + first, leaves, starts);
  const word end_key = end_of_window(store, page, first % page_leaves + leaves);
  const unsigned begin = warp_first_not_below(batch.keys, 0u, n, separators[0]);
  const unsigned end = end_key == no_key ? n : warp_first_not_below(batch.keys, begin, n, end_key);
  const word base = effects_before(batch, begin);
  us::meet();
  const unsigned old = starts[leaves];
  gather_window(store, first, leaves, starts, keys, weights, us::thread(), us::threads());
  us::meet();

  const even_spread spread(static_cast<word>(old + growth(effects_before(batch, end) - base)), leaves);
  word* const target = leaf_keys(store, first);
  const auto put = [&](word rank, word key, double weight) {
    const word leaf = spread.leaf_of(rank), slot = rank - spread.start_of(leaf);
    target[leaf * leaf_slots + slot] = key;
    if (store.weighted) *weight_of(target + leaf * leaf_slots + slot) = weight;
    if (slot == 0 && leaf != 0) separators[leaf] = key;
  };
  for (unsigned i = us::thread(); i < old; i += us::threads()) {
    double weight = store.weighted ? weights[i] : 0.0;
    const survivor entry = apply_updates(batch, begin, end, base, i, keys[i], weight);
    if (entry.stays) put(entry.rank, keys[i], weight);
  }
  for (unsigned t = begin + us::thread(); t < end; t += us::threads()) {
    if (kind_of(batch, t) != update_insert) continue;
    const unsigned below = starts[batch.leaves[t] - first] + slot_of(batch, t);
    const word rank = static_cast<word>(below + growth(effects_before(batch, t) - base));
    put(rank, batch.keys[t], store.weighted ? batch.weights[t] : 0.0);
  }
  for (unsigned leaf = us::thread(); leaf < leaves; leaf += us::threads()) {
    const auto count = static_cast<unsigned short>(spread.count_of(leaf));
    store.counts[first + leaf] = store.next_counts[first + leaf] = count;
    if (count == 0 && leaf != 0) separators[leaf] = end_key;
  }
  us::meet();
  for (unsigned leaf = us::thread(); leaf < leaves; leaf += us::threads()) keys[leaf] = separators[leaf];
  us::meet();
  index_rows(store, first, keys, leaves, end_key, us::thread(), us::threads());
  us::meet();
}
