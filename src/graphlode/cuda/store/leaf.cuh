// store/leaf.cuh - writes the leaves of a batch that stay within bounds, each once, with its updates.
//
// The plan has the slot of every update, so nothing is compared here. Most leaves have one update. Then the entries
// below its slot do not move and are not even read. Half a warp handles such a leaf, two slots per lane, and a warp has
// several pairs of leaves in flight, because each waits for memory once. Leaves with more updates are written by one
// warp each. Leaves and windows of a batch are disjoint, so no warp reads what another warp of the launch writes.
#pragma once
#include "store/plan.cuh"

struct alignas(16) slot_pair {
  word low, high;
};

// The only update of a leaf: it opens a slot or closes one. It lies in shared memory, 32 per warp, for all lanes that
// write the leaf.
struct alignas(16) only_update {
  word* slots;  // the keys of the leaf, later its weights
  word value;   // for the slot that is opened
  unsigned slot, last_pair;
  unsigned opens, count_after;

  __device__ __forceinline__ only_update(word* leaf, word key, unsigned kind, unsigned at, unsigned counts)
      : slots(leaf), value(key), slot(at), opens(kind == update_insert), count_after(::count_after(counts)) {
    const unsigned before = count_before(counts);
    last_pair = max(slot, before - min(before, 1u)) & ~1u;
  }
};
constexpr unsigned only_updates_bytes = 32 * sizeof(only_update);

// The first of the two slots that a lane has in its leaf.
__device__ __forceinline__ unsigned own_slot() { return 2 * (static_cast<unsigned>(lane_id()) & 15u); }

// Loads the lane's slots if they are filled and move; otherwise any slots of the same leaf. A conditional load would be
// waited for at once.
__device__ __forceinline__ slot_pair fetch_slots(const only_update& update) {
  const unsigned from = min(max(own_slot(), update.slot & ~1u), update.last_pair);
  return *reinterpret_cast<const slot_pair*>(update.slots + from);
}

// Moves the entries behind the update by one slot. Called by all lanes of a warp; lanes without `wanted` have no leaf.
// A lane receives a slot of the other half warp only where it is not used.
__device__ __forceinline__ void move_slots(const only_update& update, slot_pair old, bool wanted) {
  const unsigned slot = own_slot();
  const bool opens = update.opens != 0;
  const int neighbor = (opens ? lane_id() - 1 : lane_id() + 1) & 31;
  const word moved = __shfl_sync(full_mask, opens ? old.high : old.low, neighbor);
  slot_pair now;
  now.low = !opens ? old.high : slot == update.slot ? update.value : moved;
  now.high = !opens ? moved : slot + 1 == update.slot ? update.value : old.low;
  if (slot < update.slot) now.low = old.low;
  if (wanted && slot + 1 >= update.slot && slot < update.count_after) {
    *reinterpret_cast<slot_pair*>(update.slots + slot) = now;
  }
}

// Writes the leaves of num_updates (at least one) updates. Called by one warp.
__device__ __forceinline__ void write_only_updates(const only_update* updates, unsigned num_updates) {
  constexpr unsigned at_a_time = 4;  // pairs of leaves in flight
  const unsigned half = static_cast<unsigned>(lane_id()) / 16;
#pragma unroll 1
  for (unsigned first = 0; first < num_updates; first += 2 * at_a_time) {
    slot_pair old[at_a_time];
#pragma unroll
    for (unsigned i = 0; i < at_a_time; ++i) {
      old[i] = fetch_slots(updates[min(first + 2 * i + half, num_updates - 1)]);
    }
#pragma unroll
    for (unsigned i = 0; i < at_a_time; ++i) {
      const unsigned own = first + 2 * i + half;
      move_slots(updates[min(own, num_updates - 1)], old[i], own < num_updates);
    }
  }
}

// A leaf and the first 32 of its updates, held by a warp: one slot and one update per lane.
struct fetched_leaf {
  unsigned begin, end, count;
  word* keys;
  word key;
  word update;
  unsigned char what;  // kind and slot, unpacked later: doing it here would wait for the memory
};
__device__ __forceinline__ void fetch_updates(const packed_batch& batch, unsigned first, fetched_leaf& leaf) {
  const unsigned t = first + static_cast<unsigned>(lane_id());
  leaf.what = update_nothing;
  leaf.update = 0;
  if (t < leaf.end) {
    leaf.what = batch.kinds[t];
    leaf.update = batch.keys[t];
  }
}
// Fetches the leaf whose task is in lane `source`.
__device__ __forceinline__ fetched_leaf fetch_leaf(const packed_batch& batch, const leaf_task& task, word* keys,
                                                   int source) {
  const unsigned lane = static_cast<unsigned>(lane_id());
  fetched_leaf found;
  found.begin = __shfl_sync(full_mask, task.begin, source);
  found.end = __shfl_sync(full_mask, task.end, source);
  found.count = count_before(__shfl_sync(full_mask, task.counts, source));
  found.keys = reinterpret_cast<word*>(__shfl_sync(full_mask, reinterpret_cast<word>(keys), source));
  found.key = no_key;
  if (lane < found.count) found.key = found.keys[lane];
  fetch_updates(batch, found.begin, found);
  return found;
}

// Writes a leaf with any number of updates, by one warp with one lane per slot. The old leaf is in registers, so it is
// written in place.
__device__ __forceinline__ void write_leaf(bool weighted, const packed_batch& batch, fetched_leaf leaf) {
  const unsigned lane = static_cast<unsigned>(lane_id());
  word* const keys = leaf.keys;
  bool there = lane < leaf.count;
  double weight = there && weighted ? *weight_of(keys + lane) : 0.0;
  int shift = 0, more = 0;  // how far this lane's entry moves; entries that the updates so far have added
  __syncwarp();
  for (unsigned first = leaf.begin; first < leaf.end; first += 32) {
    if (first != leaf.begin) fetch_updates(batch, first, leaf);
    const unsigned t = first + lane, kind = leaf.what & 3u;
    const double own_weight = t < leaf.end && weighted ? batch.weights[t] : 0.0;
    const unsigned inserts = __ballot_sync(full_mask, kind == update_insert);
    const unsigned deletes = __ballot_sync(full_mask, kind == update_delete);
    if (kind == update_insert) {
      word* const target = keys + (leaf.what >> 2) + more + votes_below(inserts) - votes_below(deletes);
      *target = leaf.update;
      if (weighted) *weight_of(target) = own_weight;
    }
    more += __popc(inserts) - __popc(deletes);
    for (unsigned left = __ballot_sync(full_mask, kind != update_nothing); left != 0; left &= left - 1) {
      const int source = __ffs(static_cast<int>(left)) - 1;
      const unsigned what = __shfl_sync(full_mask, static_cast<unsigned>(leaf.what), source), slot = what >> 2;
      if (inserts >> source & 1u) {
        if (slot <= lane) ++shift;
      } else if (deletes >> source & 1u) {
        if (slot < lane) --shift;
        if (slot == lane) there = false;
      } else {
        const double other = __shfl_sync(full_mask, own_weight, source);
        if (slot == lane) weight = other;
      }
    }
  }
  if (there) {  // entries that do not move need not be written
    word* const target = keys + static_cast<int>(lane) + shift;
    if (shift != 0) *target = leaf.key;
    if (weighted) *weight_of(target) = weight;
  }
}

// Writes all leaves with updates, except those that are rewritten otherwise. A warp takes up to 32 at a time: each lane
// looks up one task and its leaf, and sets the leaf's count. `updates` belong to the warp.
__device__ __forceinline__ void write_leaves(const packed_store& store, const packed_batch& batch, unsigned num_leaves,
                                             bool any_suspects, unsigned epoch, only_update* updates) {
  const unsigned lane = static_cast<unsigned>(lane_id());
  const bool weighted = store.weighted != 0;
  const word warps = static_cast<word>(grid_warps()), turn = min(32ull, (num_leaves + warps - 1) / warps);
  for (word first = static_cast<word>(grid_warp_id()) * turn; first < num_leaves; first += warps * turn) {
    leaf_task task{0, 0, 0, 0};
    word *keys = nullptr, key = 0;
    double weight = 0.0;
    unsigned what = update_nothing;
    bool wanted = lane < turn && first + lane < num_leaves;
    if (wanted) {
      task = batch.tasks[first + lane];
      const stored_leaf leaf(store, task.leaf);
      keys = leaf.keys();
      key = batch.keys[task.begin];
      what = batch.kinds[task.begin];
      if (weighted) weight = batch.weights[task.begin];
      wanted = !any_suspects || store.marks[task.leaf / page_leaves] != epoch || leaf.page.levels()[leaf.within] == 0;
      if (wanted) leaf.count() = static_cast<unsigned short>(count_after(task.counts));
    }
    const bool only = wanted && task.end - task.begin == 1;
    const unsigned kind = what & 3u, slot = what >> 2;
    if (only && kind == update_weight) *weight_of(keys + slot) = weight;
    const bool moves = only && (kind == update_insert || kind == update_delete);
    const unsigned moving = __ballot_sync(full_mask, moves);
    if (moving != 0) {
      only_update* const own = updates + votes_below(moving);
      if (moves) *own = only_update(keys, key, kind, slot, task.counts);
      __syncwarp();
      write_only_updates(updates, static_cast<unsigned>(__popc(moving)));
      if (weighted) {
        __syncwarp();
        if (moves) {
          own->slots = reinterpret_cast<word*>(weight_of(keys));
          own->value = static_cast<word>(__double_as_longlong(weight));
        }
        __syncwarp();
        write_only_updates(updates, static_cast<unsigned>(__popc(moving)));
      }
      __syncwarp();  // the next turn overwrites the updates
    }
    unsigned left = __ballot_sync(full_mask, wanted && !only);
    if (left == 0) continue;
    // The current leaf; the next one is being loaded.
    fetched_leaf next = fetch_leaf(batch, task, keys, __ffs(static_cast<int>(left)) - 1);
#pragma unroll 1
    while (left != 0) {
      const fetched_leaf current = next;
      left &= left - 1;
      if (left != 0) next = fetch_leaf(batch, task, keys, __ffs(static_cast<int>(left)) - 1);
      write_leaf(weighted, batch, current);
    }
  }
}
