// store/regroup.cuh - which pages are written into fresh ones together, as store/groups.py forms groups on the host.
//
// A page that is too full or too empty takes the pages of its group along, and a group with too few entries the next
// group. Pages that are written only because a version holds them stay alone.
#pragma once
#include "store/spread.cuh"

// A group of pages as packed_regroup sees it: a thread has one.
struct seen_group {
  page_group range;
  unsigned flagged = 0;               // a bit for each page
  bool whole = false;                 // all of its pages are written anew, together
  bool first = true;                  // of those that it is joined with, if any
  word total = 0;                     // if it is whole: the entries of all that are written together,
  word before = 0;                    // those of the groups before this one
  unsigned begin = 0, all_pages = 0;  // and where they are

  // `joins`: whether there are groups that are joined at all.
  __device__ __forceinline__ seen_group(const packed_store& store, unsigned group, unsigned epoch, bool joins)
      : range(group * group_pages, static_cast<unsigned>(store.num_pages)), begin(range.begin), all_pages(length()) {
    for (unsigned page = range.begin; page < range.end; page += group_pages) look_at(store, page, epoch);
    if (joins) {
      const joined_groups joined(store, group);
      first = group == joined.first;
      begin = joined.begin();
      all_pages = joined.length();
      total = joined.total;
      before = joined.before;
      whole = whole || !joined.is_one();
    } else if (whole) {
#pragma unroll 8
      for (unsigned i = range.begin; i < range.end; ++i) total += store.totals[store.pages[i]];
    }
  }
  __device__ __forceinline__ unsigned length() const { return range.length(); }
  __device__ __forceinline__ unsigned num_jobs() const {
    return whole ? length() : static_cast<unsigned>(__popc(flagged));
  }
  // Pages that all of those come to that are written together, or a flagged one that is not.
  __device__ __forceinline__ unsigned fresh_together() const { return whole ? fresh_pages_for(total) : 1; }
  // What this group adds to the lists of fresh pages and of all pages: the first one speaks for those joined with it.
  __device__ __forceinline__ unsigned num_fresh() const { return whole ? (first ? fresh_together() : 0) : num_jobs(); }
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
      if (marks[i] != epoch || first + i >= range.end) continue;
      if (*stored_page(store, pages[i]).levels() <= page_level) continue;
      flagged |= 1u << (first + i - range.begin);
      whole = whole || page_is_outside(store, store.totals[pages[i]]);
    }
  }
};

// Pages of the directory that others take the place of: 32-bit words only, in the order that store/pages.py knows.
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
  const unsigned count = group.fresh_together();
  const long long first_fresh = group.first ? at.fresh : at.fresh - count;
  const long long origin = store.pages[group.begin];
  word before = group.before;
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
    if (group.whole) range = i == group.begin ? replaced_range{i, group.all_pages, count} : replaced_range{};
    ranges[at.job++] = range;
    if (group.whole) {
      before += own;
    } else {  // the successor is found when the directory is there; until then its place has the page's own position
      fresh[at.fresh] = fresh_page{numbers[at.fresh], 0, 1, own, page, at.position};
      new_pages[at.position++] = numbers[at.fresh++];
      before = 0;
    }
  }
  for (long long i = 0; group.whole && group.first && i < count; ++i) {
    fresh[at.fresh] = fresh_page{numbers[at.fresh], i, count, group.total, origin, at.position};
    new_pages[at.position++] = numbers[at.fresh++];
  }
}
