// store/write.cuh - writes a window of leaves once, with the updates that fall into it.
//
// Leaves and windows of a batch are disjoint, and none changes the separator of its own first leaf. So no warp or block
// reads what another one of the same launch writes.
#pragma once
#include "store/plan.cuh"

// The threads that write a window together: a warp or a block.
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

// Running sums of the counts of up to 128 leaves, followed by the total. Called by one warp.
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

// Copies the entries of a window to `keys` and `weights` without gaps.
__device__ __forceinline__ void gather_window(const packed_store& store, word* from, unsigned leaves,
                                              const unsigned* starts, word* keys, double* weights, unsigned thread,
                                              unsigned threads) {
  for (unsigned i = thread; i < leaves * leaf_slots; i += threads) {
    const unsigned leaf = i / leaf_slots, slot = i % leaf_slots, start = starts[leaf];
    if (slot >= starts[leaf + 1] - start) continue;
    keys[start + slot] = from[i];
    if (store.weighted) weights[start + slot] = *weight_of(from + i);
  }
}

// The effect of the updates [begin, end) on an old entry at place i: its new place, and whether it stays.
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

// Merges the entries of a window with its updates and spreads them evenly over its leaves. Called by a warp or a block.
template <bool Wide>
__device__ void write_window(const packed_store& store, const packed_batch& batch, unsigned n, word window,
                             unsigned char* memory) {
  using us = team<Wide>;
  const unsigned first = static_cast<unsigned>(window), level = static_cast<unsigned>(window >> 32);
  const unsigned leaves = 1u << level, slots = leaves * leaf_slots;
  const unsigned page = first / page_leaves, within = first % page_leaves;
  const stored_page stored(store, page);
  word* const keys = reinterpret_cast<word*>(memory);
  double* const weights = reinterpret_cast<double*>(keys + slots);
  unsigned* const starts = reinterpret_cast<unsigned*>(keys + (store.weighted ? 2 * slots : slots));
  word* const separators = stored.separators() + within;

  if (!Wide || warp_id() == 0) scan_counts(stored.counts() + within, leaves, starts);
  const word end_key = end_of_window(store, page, within + leaves);
  const unsigned begin = warp_first_not_below(batch.keys, 0u, n, separators[0]);
  const unsigned end = end_key == no_key ? n : warp_first_not_below(batch.keys, begin, n, end_key);
  const word base = effects_before(batch, begin);
  us::meet();
  const unsigned old = starts[leaves];
  word* const target = stored.keys + within * leaf_slots;
  gather_window(store, target, leaves, starts, keys, weights, us::thread(), us::threads());
  us::meet();

  const even_spread spread(static_cast<word>(old + growth(effects_before(batch, end) - base)), leaves);
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
    stored.counts()[within + leaf] = stored.next_counts()[within + leaf] = count;
    if (count == 0 && leaf != 0) separators[leaf] = end_key;
  }
  us::meet();
  for (unsigned leaf = us::thread(); leaf < leaves; leaf += us::threads()) keys[leaf] = separators[leaf];
  us::meet();
  index_rows(store, first, keys, leaves, end_key, us::thread(), us::threads());
  us::meet();
}
