// store/rows.cuh - reads the rows of a shard directly from its pages.
//
// A leaf has a number, which says where it is stored, and a place, which is its rank in key order: the position of its
// page in the directory, then the leaf. The entries of a row lie in the leaves from the one that the row's index names
// to the one that the next row's index names, both inclusive. Either of these may contain none of them.
//
// Kernels that need certain rows visit them as rows.cuh does. Kernels that need all entries read leaf after leaf, one
// warp per leaf, without the index: each lane has a slot, and the keys name the rows. So all warps have equal work,
// however the entries are distributed over rows. An entry then costs its 8 bytes and its share of the gaps, about 10 in
// total. Compressed rows cost 4, but would have to be written first.
#pragma once
#include "rows.cuh"
#include "store/store.cuh"

// What a lane knows of its slot in a leaf.
struct leaf_entry {
  bool there;
  word key;
  unsigned leaf;  // its number
  unsigned run;   // the lanes with entries of the same row
  int rank;       // position among them
  __device__ __forceinline__ int row() const { return static_cast<int>(key >> 32); }
  __device__ __forceinline__ int neighbor() const { return static_cast<int>(key & 0xffffffffull); }
};

struct page_rows {
  using vertex = int;
  using first_array = packed_store;
  using second_array = packed_store;  // the same array: one struct names all arrays

  const packed_store store;

  __device__ __forceinline__ page_rows(const packed_store* first, const packed_store*) : store(*first) {}

  __device__ __forceinline__ long long num_places() const {
    return static_cast<long long>(store.num_pages) * page_leaves;
  }
  __device__ __forceinline__ long long place_of(unsigned leaf) const {
    return static_cast<long long>(store.positions[leaf / page_leaves]) * page_leaves + leaf % page_leaves;
  }
  __device__ __forceinline__ unsigned leaf_at(long long place) const {
    return store.pages[place / page_leaves] * page_leaves + static_cast<unsigned>(place % page_leaves);
  }

  // The places of the leaves that contain the entries of a row.
  struct places {
    long long first, last;
  };
  __device__ __forceinline__ places places_of(long long row) const {
    const unsigned first = store.row_leaves[row], last = store.row_leaves[row + 1];
    const long long begin = place_of(first);
    const bool same_page = first / page_leaves == last / page_leaves;
    return {begin, same_page ? begin + last - first : place_of(last)};
  }

  // 32 times the number of further leaves that the row spans. 0 for most short rows, but right on average, and it needs
  // no counting.
  __device__ __forceinline__ long long length(long long row) const {
    const places at = places_of(row);
    return (at.last - at.first) * leaf_slots;
  }

  // An entry is its key.
  __device__ __forceinline__ int neighbor(word key) const { return static_cast<int>(key & 0xffffffffull); }

  template <class Visit>
  __device__ __forceinline__ void visit(int row, long long first, long long step, Visit visit) const {
    const places at = places_of(row);
    for (long long place = at.first + first; place <= at.last; place += step) {
      const stored_leaf leaf(store, leaf_at(place));
      const word slot = leaf.keys()[lane_id()];  // loaded together with the count
      const bool filled = lane_id() < leaf.count();
      const word key = filled ? slot : no_key;
      visit(row, filled && static_cast<int>(key >> 32) == row, key);
    }
  }

  // Called by all lanes of a warp.
  __device__ __forceinline__ leaf_entry read(long long place) const {
    leaf_entry entry;
    entry.leaf = leaf_at(place);
    const stored_leaf leaf(store, entry.leaf);
    const word slot = leaf.keys()[lane_id()];  // loaded together with the count
    entry.there = lane_id() < leaf.count();
    entry.key = entry.there ? slot : no_key;
    const int row = entry.row();
    const int before = __shfl_up_sync(full_mask, row, 1);
    const unsigned begins = __ballot_sync(full_mask, lane_id() == 0 || row != before);
    const unsigned up_to_here = ~0u >> (31 - lane_id());
    const int first = 31 - __clz(static_cast<int>(begins & up_to_here));
    const unsigned behind = begins & ~up_to_here;
    const unsigned before_next = behind == 0 ? ~0u : (behind & (0u - behind)) - 1u;
    entry.run = before_next & (~0u << first);
    entry.rank = lane_id() - first;
    return entry;
  }
};
