// store/condense.cpp - if deletes have made the pages sparse on average, writes some of them into fewer pages.
//
// Runs of pages take turns, independent of the batch. The amount of work is proportional to the number of deletions, so
// that no single batch pays for the gaps of many. If n pages at three quarters become n - 1, about n entries are
// written per deletion.
#include <algorithm>

#include "graphlode/store/update_plan.hpp"

namespace graphlode::packed {
namespace {

constexpr std::int64_t sparse_entries = page_slots * 3 / 4;  // of a page; below this average there are gaps to close
constexpr std::int64_t run_pages = 16;                       // this many pages at three quarters become one less
constexpr std::int64_t entries_per_look = 64;                // entries that are written in the time of examining a page
constexpr std::int64_t entries_per_delete = 24;
constexpr std::int64_t entries_of_run = run_pages * sparse_entries;

}  // namespace

void update_plan::condense_pages() {
  const auto num_pages = rows_.num_pages();
  const auto entries = rows_.num_entries() + batch_.inserted - batch_.deleted;
  auto surplus = num_pages - (entries + sparse_entries - 1) / sparse_entries;
  for (const auto& group : groups_) surplus += group.num_pages - (group.last - group.first);
  auto& [start, credit] = condensing_;
  credit = std::min(credit, entries_of_run) + entries_per_delete * batch_.deleted;
  if (start >= num_pages) start = 0;

  const auto num_groups = groups_.size();  // of pages that leave their bounds
  auto position = start;
  const auto scan = [&](std::int64_t end) {
    for (std::size_t next = 0; position < end && surplus > 0 && credit >= entries_of_run;) {
      while (next < num_groups && groups_[next].last <= position) ++next;
      if (next < num_groups && groups_[next].first <= position) {
        position = groups_[next].last;
        continue;
      }
      const auto limit = next < num_groups ? std::min(end, groups_[next].first) : end;
      page_group run{position, std::min(position + run_pages, limit)};
      for (; position < run.last; ++position) run.entries += entries_after(position);
      run.num_pages = fresh_pages_for(run.entries, false);
      const auto fewer = run.last - run.first - run.num_pages;
      credit -= entries_per_look * (run.last - run.first);
      if (fewer <= 0 || run.entries < filled_enough * run.num_pages) continue;
      groups_.push_back(run);
      surplus -= fewer;
      credit -= run.entries;
    }
  };
  scan(num_pages);
  if (position >= num_pages) {
    const auto first = start;
    position = 0;
    scan(first);
  }
  start = position;
  for (const auto& group : groups_)
    if (group.last <= position) start += group.num_pages - (group.last - group.first);  // positions after the update
  std::sort(groups_.begin(), groups_.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
}

}  // namespace graphlode::packed
