// store/regroup.cuh - which pages are rewritten together, by the same rules as store/groups.py on the host.
//
// A page that is too full or too empty is rewritten with all pages of its group, and a group with too few entries
// together with the next group. Pages that are rewritten only because a version holds them stay alone.
#pragma once
#include "store/spread.cuh"

// A group of pages as packed_regroup sees it. One thread per group.
struct seen_group {
  page_group range;
  unsigned flagged = 0;               // one bit per page
  bool whole = false;                 // all of its pages are rewritten together
  bool first = true;                  // whether it is the first of the groups that are joined with it
  word total = 0;                     // if whole: the entries of all pages that are rewritten together
  word before = 0;                    // the entries of the joined groups before this one
  unsigned begin = 0, all_pages = 0;  // and the pages of all joined groups

  // `joins`: whether any groups are joined.
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
  // The number of fresh pages for all that is rewritten together, or 1 for a flagged page that stays alone.
  __device__ __forceinline__ unsigned fresh_together() const { return whole ? fresh_pages_for(total) : 1; }
  // What this group adds to the lists of fresh pages and of all pages. The first of joined groups adds for all.
  __device__ __forceinline__ unsigned num_fresh() const { return whole ? (first ? fresh_together() : 0) : num_jobs(); }
  __device__ __forceinline__ unsigned new_length() const { return whole ? num_fresh() : length(); }

 private:
  // Reads several pages of the group together: almost none of them is flagged, and reading one after another would take
  // longer than everything else.
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

// Pages of the directory that are replaced. Only 32-bit words; store/pages.py relies on their order. There is one range
// per job. A group that is rewritten as a whole has its range in its first job; its other ranges are empty.
struct replaced_range {
  unsigned position, length, num_fresh;
};

// The positions at which the new directory and the lists of fresh pages and jobs continue.
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
    } else {  // until the directory is complete, `successor` holds the page's own position
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
