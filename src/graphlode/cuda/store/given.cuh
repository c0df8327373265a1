// store/given.cuh - reads several input updates of a batch at a time and makes them into keys for sorting.
//
// Does the same as read_update, for batches so large that instructions matter. The format of the batch is tested once
// for several updates, all their loads are issued before the first is used, and positions are compared as 32-bit words,
// which rows fit.
#pragma once
#include "store/input.cuh"

// What a thread found out about its updates.
struct given_news {
  bool bad_row;
  unsigned self_loops;
  __device__ __forceinline__ void report(unsigned& any_bad_row, unsigned& all_self_loops) const {
    if (bad_row) atomicExch(&any_bad_row, 1u);
    if (self_loops != 0) atomicAdd(&all_self_loops, self_loops);
  }
};

constexpr unsigned gone_bit = static_cast<unsigned>(delete_bit >> 32);

template <unsigned Many>
struct given_updates {
  unsigned rows[Many], neighbors[Many];
  unsigned gone[Many];  // the delete bit of the upper word, or 0

  // A position. A value that does not fit becomes larger than all rows.
  __device__ __forceinline__ static unsigned narrow(word id) { return id >> 32 ? ~0u : static_cast<unsigned>(id); }

  __device__ __forceinline__ void read_keys(const packed_input& input, const unsigned (&at)[Many]) {
    word keys[Many];
#pragma unroll
    for (unsigned k = 0; k < Many; ++k) keys[k] = static_cast<const word*>(input.tails)[at[k]];
#pragma unroll
    for (unsigned k = 0; k < Many; ++k) {
      rows[k] = static_cast<unsigned>((keys[k] & ~delete_bit) >> 32);
      neighbors[k] = static_cast<unsigned>(keys[k]);
      gone[k] = static_cast<unsigned>(keys[k] >> 32) & gone_bit;
    }
  }

  __device__ __forceinline__ void read_pairs(const packed_input& input, const unsigned (&at)[Many]) {
    if (input.how & input_long) {
      word tails[Many], heads[Many];
#pragma unroll
      for (unsigned k = 0; k < Many; ++k) {
        tails[k] = static_cast<const word*>(input.tails)[input.source_of(at[k])];
        heads[k] = static_cast<const word*>(input.heads)[input.source_of(at[k])];
      }
#pragma unroll
      for (unsigned k = 0; k < Many; ++k) rows[k] = narrow(tails[k]), neighbors[k] = narrow(heads[k]);
    } else {  // negative values become large
#pragma unroll
      for (unsigned k = 0; k < Many; ++k) {
        rows[k] = static_cast<const unsigned*>(input.tails)[input.source_of(at[k])];
        neighbors[k] = static_cast<const unsigned*>(input.heads)[input.source_of(at[k])];
      }
    }
#pragma unroll
    for (unsigned k = 0; k < Many; ++k) gone[k] = input.how & input_all_gone ? gone_bit : 0;
    if (input.how & input_deletes) {
#pragma unroll
      for (unsigned k = 0; k < Many; ++k) gone[k] = input.deletes[input.source_of(at[k])] ? gone_bit : 0;
    }
  }
};

// The packed keys of the updates first, first + apart, .... Keys at or beyond n are undefined. Pairs: whether the input
// is pairs. A shard has up to 2^31 rows.
template <bool Pairs, unsigned Many>
__device__ __forceinline__ given_news read_packed(const packed_input& input, packed_form form, unsigned num_rows,
                                                  unsigned first, unsigned apart, unsigned n, word (&keys)[Many]) {
  unsigned at[Many];
#pragma unroll
  for (unsigned k = 0; k < Many; ++k) at[k] = min(first + k * apart, n - 1);
  given_updates<Many> given;
  if constexpr (Pairs) {
    given.read_pairs(input, at);
  } else {
    given.read_keys(input, at);
  }
  given_news news{};
#pragma unroll
  for (unsigned k = 0; k < Many; ++k) {
    unsigned row = given.rows[k], neighbor = given.neighbors[k];
    const bool bad = row >= num_rows || (Pairs && neighbor >= num_rows), loop = Pairs && row == neighbor && !bad;
    news.bad_row |= bad;
    if (loop && first + k * apart < n) ++news.self_loops;
    if (Pairs && (input.how & input_both) && (at[k] & 1u)) row = given.neighbors[k], neighbor = given.rows[k];
    const word packed = static_cast<word>(row) << form.neighbor_bits | (neighbor & ((1ull << form.neighbor_bits) - 1));
    keys[k] = bad ? delete_bit : packed | static_cast<word>(given.gone[k] | (loop ? gone_bit : 0)) << 32;
  }
  return news;
}
