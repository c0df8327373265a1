// store/input.cuh - the input of a batch, in order of time: keys, or pairs of positions that have not been checked.
//
// Pairs are made into keys where they are first read, so a batch on the device or from the host needs no pass of its
// own. A pair of a vertex with itself becomes the deletion of an entry that never exists: it has no effect, and is
// counted.
#pragma once
#include "store/store.cuh"

// The format of a batch. store/batch.py has the same flags.
constexpr unsigned input_pairs = 1;      // tails and heads; otherwise keys with their delete bits
constexpr unsigned input_long = 2;       // pairs of 64-bit integers; otherwise of 32-bit integers
constexpr unsigned input_both = 4;       // every pair is two updates, in both directions
constexpr unsigned input_deletes = 8;    // one byte per pair says whether it is deleted
constexpr unsigned input_all_gone = 16;  // all pairs are deleted
constexpr unsigned input_weights = 32;   // one weight per pair or key

struct packed_input {
  const void* tails;  // or keys
  const void* heads;
  const unsigned char* deletes;
  const double* weights;
  unsigned how;

  // The pair or key that an update belongs to.
  __device__ __forceinline__ unsigned source_of(unsigned t) const { return how & input_both ? t / 2 : t; }
  __device__ __forceinline__ bool has_weights() const { return (how & input_weights) != 0; }
  __device__ __forceinline__ double weight_of_update(unsigned t) const {
    return how & input_weights ? weights[source_of(t)] : 1.0;
  }
};

__device__ __forceinline__ word read_id(const void* ids, unsigned at, bool wide) {
  return wide ? static_cast<const word*>(ids)[at]
              : static_cast<word>(static_cast<long long>(static_cast<const int*>(ids)[at]));
}

// The key of an update, with its delete bit. If `info` is given, refused and useless updates are counted there.
__device__ __forceinline__ word read_update(const packed_input& input, word num_rows, unsigned t, packed_info* info) {
  if (!(input.how & input_pairs)) {
    const word key = static_cast<const word*>(input.tails)[t];
    if ((key & ~delete_bit) >> 32 < num_rows) return key;
    if (info) atomicExch(&info->bad_row, 1u);
    return delete_bit;
  }
  const unsigned pair = input.source_of(t);
  const bool wide = (input.how & input_long) != 0, back = (input.how & input_both) && (t & 1u);
  const word tail = read_id(input.tails, pair, wide), head = read_id(input.heads, pair, wide);
  if (tail >= num_rows || head >= num_rows) {  // negative values become large
    if (info) atomicExch(&info->bad_row, 1u);
    return delete_bit;
  }
  bool gone = (input.how & input_all_gone) != 0;
  if (input.how & input_deletes) gone = input.deletes[pair] != 0;
  if (tail == head) {
    if (info) atomicAdd(&info->self_loops, 1u);
    gone = true;
  }
  const word key = back ? head << 32 | tail : tail << 32 | head;
  return gone ? key | delete_bit : key;
}

// The form of keys during a sort: row above neighbor without the zeros in between, and the delete bit on top.
struct packed_form {
  unsigned neighbor_bits;
  __device__ __forceinline__ word pack(word key) const {
    const word row = (key & ~delete_bit) >> 32, neighbor = key & ((1ull << neighbor_bits) - 1);
    return (key & delete_bit) | row << neighbor_bits | neighbor;
  }
  __device__ __forceinline__ word unpack(word packed) const {
    const word row = (packed & ~delete_bit) >> neighbor_bits, neighbor = packed & ((1ull << neighbor_bits) - 1);
    return (packed & delete_bit) | row << 32 | neighbor;
  }
  // The number of bits of a packed key in a shard with num_rows rows.
  __device__ __forceinline__ unsigned bits(word num_rows) const {
    return neighbor_bits + 64u - static_cast<unsigned>(__clzll(static_cast<long long>((num_rows - 1) | 1)));
  }
};
