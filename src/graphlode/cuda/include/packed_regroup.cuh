// packed_regroup.cuh - which pages are written into fresh ones together, as packed_groups.py forms groups on the host.
//
// A page that is too full or too empty takes the pages of its group along. Pages that are written only because a
// version holds them stay alone.
#pragma once
#include "packed_spread.cuh"

// A group of pages as packed_regroup sees it: a thread has one.
struct seen_group {
  page_group range;
  unsigned flagged = 0;  // a bit for each page
  bool whole = false;    // all of its pages are written anew, together
  word total = 0;        // the entries of all pages, if it is whole

  __device__ __forceinline__ seen_group(const packed_store& store, unsigned group, unsigned epoch)
      : range(group * group_pages, static_cast<unsigned>(store.num_pages)) {
    for (unsigned first = range.begin; first < range.end; first += group_pages) look_at(store, first, epoch);
    for (unsigned i = range.begin; whole && i < range.end; ++i) total += store.totals[store.pages[i]];
  }
  __device__ __forceinline__ unsigned length() const { return range.end - range.begin; }
  __device__ __forceinline__ unsigned num_jobs() const {
    return whole ? length() : static_cast<unsigned>(__popc(flagged));
  }
  __device__ __forceinline__ unsigned num_fresh() const { return whole ? fresh_pages_for(total) : num_jobs(); }
  __device__ __forceinline__ unsigned new_length() const { return whole ? num_fresh() : length(); }

 private:
  // Several pages of the group. All are read together: nearly none of them is flagged, and waiting for one after the
  // other would take longer than all else.
  __device__ __forceinline__ void look_at(const packed_store& store, unsigned first, unsigned epoch) {
    unsigned pages[group_pages], marks[group_pages];
#pragma unroll
    for (unsigned i = 0; i < group_pages; ++i) pages[i] = store.pages[min(first + i, range.end - 1)];
#pragma unroll
    for (unsigned i = 0; i < group_pages; ++i) marks[i] = store.marks[pages[i]];
#pragma unroll
    for (unsigned i = 0; i < group_pages; ++i) {
      if (marks[i] != epoch || first + i >= range.end || store.levels[pages[i] * page_leaves] <= page_level) continue;
      flagged |= 1u << (first + i - range.begin);
      whole = whole || page_is_outside(store, store.totals[pages[i]]);
    }
  }
};

// Pages of the directory that others take the place of: 32-bit words only, in the order that packed_pages.py knows.
// There is one for each job; those of a group that is written as a whole are told by its first one, and the others are
// empty.
struct replaced_range {
  unsigned position, length, num_fresh;
};

// Where the new directory and the lists of jobs and of fresh pages go on.
struct regroup_places {
  unsigned position, fresh, job;
};

__device__ __forceinline__ void write_group(const packed_store& store, const seen_group& group, regroup_places at,
                                            const unsigned* numbers, unsigned* new_pages, replaced_range* ranges,
                                            page_job* jobs, fresh_page* fresh) {
  const long long first_fresh = at.fresh, count = group.whole ? group.num_fresh() : 1;
  const long long origin = store.pages[group.range.begin];
  word before = 0;
  for (unsigned i = group.range.begin; i < group.range.end; ++i) {
    const unsigned page = store.pages[i];
    const bool flagged = (group.flagged >> (i - group.range.begin) & 1u) != 0;
    if (!group.whole && !flagged) {
      new_pages[at.position++] = page;
      continue;
    }
    const word own = store.totals[page], total = group.whole ? group.total : own;
    jobs[at.job] = page_job{page, flagged, group.whole ? first_fresh : at.fresh, count, before, total, 0};
    replaced_range range{i, 1, 1};
    if (group.whole)
      range = i == group.range.begin ? replaced_range{i, group.length(), group.num_fresh()} : replaced_range{};
    ranges[at.job++] = range;
    if (group.whole) {
      before += own;
    } else {  // the successor is found when the directory is there; until then its place has the page's own position
      fresh[at.fresh] = fresh_page{numbers[at.fresh], 0, 1, own, page, at.position};
      new_pages[at.position++] = numbers[at.fresh++];
    }
  }
  for (long long i = 0; group.whole && i < count; ++i) {
    fresh[at.fresh] = fresh_page{numbers[at.fresh], i, count, group.total, origin, at.position};
    new_pages[at.position++] = numbers[at.fresh++];
  }
}
