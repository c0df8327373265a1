// store/prepare.cpp - the plan of an update: how each page is written, and everything that can be allocated or written
// before it is visible.
#include <algorithm>
#include <atomic>
#include <limits>
#include <utility>

#include "graphlode/parallel.hpp"
#include "graphlode/store/update_plan.hpp"
#include "store/write.hpp"

namespace graphlode::packed {
namespace {

constexpr std::int64_t well_filled = page_slots * 78 / 100;  // a group stops growing when its pages are this full,
constexpr std::int64_t enough_pages = 5;  // or filled_enough, with this many pages that were within their bounds

constexpr std::int64_t pages_per_piece = 16;
constexpr std::int64_t pages_per_look = 64;

bool within_bounds(std::int64_t entries) { return entries >= fewest_in_page && entries <= most_in_page; }

}  // namespace

update_plan::update_plan(packed_rows& rows, const batch_view& batch, path by, int threads, const control& ctl)
    : rows_(rows),
      path_(by),
      sorts_all_(by == path::merge && static_cast<std::int64_t>(batch.keys.size()) >= rows.num_entries()),
      threads_(threads),
      stamp_(rows.stamp_),
      condensing_(rows.condensing_),
      written_by_thread_(static_cast<std::size_t>(threads)) {
  if (sorts_all_) {
    plan_from_sort(batch, ctl);
  } else {
    batch_ = sort_batch(rows, batch, threads, ctl);
    locate(rows, batch_, threads, ctl);
    if (path_ == path::merge && batch_.size > 0)
      groups_.push_back({0, rows.num_pages(), 0, rows.num_entries() + batch_.inserted - batch_.deleted});
    else if (path_ != path::merge)
      plan_pages();
  }
  ctl.check();
  make_pages(ctl);
  ctl.advance(static_cast<std::int64_t>(batch.keys.size()));
}

update_plan::~update_plan() {
  if (committed_) return;
  rows_.pools_->pages.give_back({fresh_.data(), fresh_.size()});
  rows_.pools_->parts.give_back({parts_.data(), parts_.size()});
}

void update_plan::plan_from_sort(const batch_view& batch, const control& ctl) {
  batch_ = sort_together(rows_, batch, threads_, ctl);
  if (batch_.inserted + batch_.deleted + batch_.changed > 0)
    groups_.push_back({0, rows_.num_pages(), 0, static_cast<std::int64_t>(batch_.size)});
}

// Makes a task for each page that has updates. Pages that would leave their bounds start groups.
void update_plan::plan_pages() {
  const bool only = rows_.num_pages() == 1;
  if (!make_tasks(only)) group_pages();
  if (path_ == path::in_place) condense_pages();
  if (!groups_.empty()) drop_grouped_tasks();
  only_page_ = only && groups_.empty();
}

// Each thread makes the tasks of the pages whose first update is in its part. Whether all pages stay within bounds.
bool update_plan::make_tasks(bool only) {
  const auto size = static_cast<std::int64_t>(batch_.size);
  const int threads = worthwhile_threads(2 * size, threads_);
  std::vector<std::vector<page_task>> made(static_cast<std::size_t>(threads));
  std::atomic<bool> all_within{true};
  parallel_parts(size, threads, [&](int thread, std::int64_t first, std::int64_t last) {
    auto& mine = made[static_cast<std::size_t>(thread)];
    bool within = true;
    mine.reserve(static_cast<std::size_t>(std::min(last - first, rows_.num_pages() / threads + 1)));
    const auto page_of = [&](std::size_t update) { return batch_.places[update] >> leaf_bits; };
    auto begin = static_cast<std::size_t>(first);
    const auto end = static_cast<std::size_t>(last);
    while (begin > 0 && begin < end && page_of(begin) == page_of(begin - 1)) ++begin;
    while (begin < end) {
      const auto task = task_from(begin, only);
      begin = task.end;
      const auto after = rows_.page_at(task.position).count + task.growth;
      within &= after <= most_in_page && (only || after >= fewest_in_page);
      mine.push_back(task);
    }
    if (!within) all_within.store(false, std::memory_order_relaxed);
  });
  tasks_ = std::move(made.front());
  for (auto part = made.begin() + 1; part != made.end(); ++part)
    tasks_.insert(tasks_.end(), part->begin(), part->end());
  return all_within.load();
}

// The task of the page whose first update is at `begin`.
page_task update_plan::task_from(std::size_t begin, bool only) const {
  const auto position = static_cast<std::int64_t>(batch_.places[begin] >> leaf_bits);
  const page& at = rows_.page_at(position);
  page_task task{position, begin, begin, 0, false};
  auto& end = task.end;
  while (end < batch_.size && batch_.places[end] >> leaf_bits == position) {
    const auto place = batch_.places[end];
    std::int64_t growth = 0;
    for (; end < batch_.size && batch_.places[end] == place; ++end) growth += growth_of(batch_.keys[end]);
    const auto count = at.counts[static_cast<std::size_t>(leaf_of(place))] + growth;
    task.growth += growth;
    task.respread |= count > most_entries(0) || (!only && count < fewest_entries(0));
  }
  return task;
}

std::int64_t update_plan::entries_after(std::int64_t position) const {
  const auto task = std::lower_bound(tasks_.begin(), tasks_.end(), position,
                                     [](const page_task& one, std::int64_t p) { return one.position < p; });
  const bool updated = task != tasks_.end() && task->position == position;
  return rows_.page_at(position).count + (updated ? task->growth : 0);
}

// A group grows around a page that leaves its bounds, towards the side with more room, until its pages will be well
// filled. Six full pages become seven at 0.72: few enough to be rewritten quickly, many enough to stay dense. Pages
// that leave their bounds themselves are rewritten anyway and do not count.
void update_plan::group_pages() {
  const auto num_pages = rows_.num_pages();
  for (const auto& task : tasks_) {
    const auto free_from = groups_.empty() ? 0 : groups_.back().last;
    if (task.position < free_from) continue;
    const auto after = rows_.page_at(task.position).count + task.growth;
    if (within_bounds(after)) continue;
    page_group group{task.position, task.position + 1, 0, after};
    int drawn_in = 0;  // pages that were within their bounds
    for (auto left_end = free_from;;) {
      const bool all = group.first == 0 && group.last == num_pages;
      group.num_pages = fresh_pages_for(group.entries, all);
      const auto filled = group.entries / group.num_pages;
      if (all || filled >= well_filled) break;
      if (drawn_in >= enough_pages && filled >= filled_enough) break;
      const bool has_left = group.first > left_end, has_right = group.last < num_pages;
      if (!has_left && !has_right) {  // both sides are taken by the previous group: merge with it
        group.first = groups_.back().first;
        group.entries += groups_.back().entries;
        groups_.pop_back();
        left_end = groups_.empty() ? 0 : groups_.back().last;
        continue;
      }
      constexpr auto nowhere = std::numeric_limits<std::int64_t>::max();
      const auto left = has_left ? entries_after(group.first - 1) : nowhere;
      const auto right = has_right ? entries_after(group.last) : nowhere;
      const bool to_left = left <= right;
      group.first -= to_left;
      group.last += !to_left;
      group.entries += to_left ? left : right;
      drawn_in += within_bounds(to_left ? left : right);
    }
    groups_.push_back(group);
  }
}

// Pages that are written with a group need no task.
void update_plan::drop_grouped_tasks() {
  auto group = groups_.begin();
  std::erase_if(tasks_, [&](const page_task& task) {
    while (group != groups_.end() && group->last <= task.position) ++group;
    return group != groups_.end() && group->first <= task.position;
  });
}

// Takes every block that the update needs, and writes everything that is not visible yet.
void update_plan::make_pages(const control& ctl) {
  std::int64_t fresh = 0, retired = 0;
  for (auto& group : groups_) {
    group.num_pages = fresh_pages_for(group.entries, group.first == 0 && group.last == rows_.num_pages());
    group.first_page = fresh;
    group.first_after = group.first + fresh - retired;
    fresh += group.num_pages;
    retired += group.last - group.first;
  }
  for (auto& task : tasks_) {
    const auto number = rows_.directory_.numbers[static_cast<std::size_t>(task.position)];
    if (rows_.directory_.pages[number].exclusive()) continue;
    task.copy = fresh++;
    ++retired;
  }
  retired_ = buffer<block>(static_cast<std::size_t>(retired));
  if (path_ == path::climb) {
    done_ = buffer<std::uint8_t>(batch_.size);
    done_.zero();
  }
  buffer<block> taken(static_cast<std::size_t>(fresh));
  rows_.pools_->pages.take({taken.data(), taken.size()});
  fresh_ = std::move(taken);
  try {
    write_groups(ctl);
    written_ += rows_.weighted() ? write_tasks<true>(true, ctl) : write_tasks<false>(true, ctl);
    if (!groups_.empty()) make_directory();
    make_index_parts();
  } catch (...) {
    rows_.pools_->pages.give_back({fresh_.data(), fresh_.size()});
    throw;
  }
}

void update_plan::write_groups(const control& ctl) {
  struct piece {
    const page_group* group;
    std::int64_t first, last;
  };
  std::vector<piece> pieces;
  std::int64_t entries = 0;
  if (!sorts_all_) find_starts();
  for (const auto& group : groups_) {
    for (std::int64_t first = 0; first < group.num_pages; first += pages_per_piece)
      pieces.push_back({&group, first, std::min(first + pages_per_piece, group.num_pages)});
    entries += group.entries;
    written_ += {group.entries, group.num_pages};
  }
  const int threads = worthwhile_threads(entries / 2, threads_);
  parallel_chunks(0, static_cast<std::int64_t>(pieces.size()), 1, threads, ctl, [&](int, std::int64_t i, std::int64_t) {
    const auto& one = pieces[static_cast<std::size_t>(i)];
    if (rows_.weighted())
      write_group_pages<true>(*one.group, one.first, one.last);
    else
      write_group_pages<false>(*one.group, one.first, one.last);
  });
}

// First the entries and the first update of each page, on several threads; then the sums.
void update_plan::find_starts() {
  if (groups_.empty()) return;
  std::int64_t grouped = 0;
  for (auto& group : groups_) {
    group.starts.resize(static_cast<std::size_t>(group.last - group.first) + 1);
    grouped += group.last - group.first;
  }
  const auto* const places = batch_.places.data();
  const auto first_update = [&](std::int64_t position) {
    const auto place = static_cast<std::uint32_t>(position << leaf_bits);
    return static_cast<std::size_t>(std::lower_bound(places, places + batch_.size, place) - places);
  };
  const auto look_at = [&](page_group& group, std::int64_t first, std::int64_t last) {
    auto update = first_update(first);
    for (auto position = first; position < last; ++position) {
      auto& start = group.starts[static_cast<std::size_t>(position - group.first)];
      start = {rows_.page_at(position).count, update};
      for (; update < batch_.size && places[update] >> leaf_bits == position; ++update)
        start.entries += growth_of(batch_.keys[update]);
    }
    if (last == group.last) group.starts.back().updates = update;
  };
  const int threads = worthwhile_threads(static_cast<std::int64_t>(batch_.size) + 64 * grouped, threads_);
  parallel_chunks(0, rows_.num_pages(), pages_per_look, threads, control(),
                  [&](int, std::int64_t first, std::int64_t last) {
                    auto group = std::partition_point(groups_.begin(), groups_.end(),
                                                      [&](const page_group& one) { return one.last <= first; });
                    for (; group != groups_.end() && group->first < last; ++group)
                      look_at(*group, std::max(first, group->first), std::min(last, group->last));
                  });
  for (auto& group : groups_) {
    std::int64_t entries = 0;
    for (auto& start : group.starts) entries += std::exchange(start.entries, entries);
  }
}

// Writes fresh pages first .. last - 1 of a group.
template <bool Weighted>
void update_plan::write_group_pages(const page_group& group, std::int64_t first, std::int64_t last) {
  const auto begin_of = [&](std::int64_t i) { return group.entries * i / group.num_pages; };
  const auto write = [&](auto&& stream) {
    for (auto i = first; i < last; ++i) {
      page& at = *static_cast<page*>(fresh_[static_cast<std::size_t>(group.first_page + i)].data);
      const key_type separator = i == 0 ? rows_.directory_.separators[static_cast<std::size_t>(group.first)] : no_key;
      write_page<Weighted>(at, begin_of(i + 1) - begin_of(i), separator, stream);
    }
  };
  if (sorts_all_) return write(flat_stream<Weighted>(batch_, static_cast<std::size_t>(begin_of(first))));

  const auto from = std::prev(
      std::upper_bound(group.starts.begin(), group.starts.end() - 1, begin_of(first),
                       [](std::int64_t entry, const page_group::start& start) { return entry < start.entries; }));
  const auto position = group.first + (from - group.starts.begin());
  merged_stream<Weighted> stream(rows_, batch_, position, {from->updates, group.starts.back().updates});
  stream.skip(begin_of(first) - from->entries);
  write(stream);
}

// Makes the directory with the pages of groups in place of the old ones. Old page numbers are reused.
void update_plan::make_directory() {
  const auto& now = rows_.directory_;
  std::int64_t num_pages = now.num_pages;
  std::vector<std::uint32_t> free_numbers;
  for (std::uint32_t number = 0; number < now.num_numbers; ++number)
    if (!now.pages[number]) free_numbers.push_back(number);
  for (const auto& group : groups_) {
    num_pages += group.num_pages - (group.last - group.first);
    for (auto position = group.first; position < group.last; ++position)
      free_numbers.push_back(now.numbers[static_cast<std::size_t>(position)]);
  }
  std::int64_t fresh = 0;
  for (const auto& group : groups_) fresh += group.num_pages;
  const auto missing = std::max<std::int64_t>(0, fresh - static_cast<std::int64_t>(free_numbers.size()));
  next_.num_pages = num_pages;
  next_.num_numbers = now.num_numbers + static_cast<std::uint32_t>(missing);
  next_.separators = buffer<key_type>(static_cast<std::size_t>(num_pages));
  next_.numbers = buffer<std::uint32_t>(static_cast<std::size_t>(num_pages));
  next_.pages = buffer<block>(next_.num_numbers, block{});
  next_.positions = buffer<std::uint32_t>(next_.num_numbers, 0);
  for (auto number = now.num_numbers; number < next_.num_numbers; ++number) free_numbers.push_back(number);

  std::size_t out = 0;
  const auto append = [&](key_type separator, std::uint32_t number, const block& at) {
    next_.separators[out] = separator;
    next_.numbers[out] = number;
    next_.pages[number] = at;
    next_.positions[number] = static_cast<std::uint32_t>(out++);
  };
  const auto keep = [&](std::int64_t from, std::int64_t to) {
    for (auto i = static_cast<std::size_t>(from); i < static_cast<std::size_t>(to); ++i)
      append(now.separators[i], now.numbers[i], now.pages[now.numbers[i]]);
  };
  std::int64_t position = 0;
  for (const auto& group : groups_) {
    keep(position, group.first);
    for (std::int64_t i = 0; i < group.num_pages; ++i) {
      const block& at = fresh_[static_cast<std::size_t>(group.first_page + i)];
      append(static_cast<const page*>(at.data)->separators[0], free_numbers.back(), at);
      free_numbers.pop_back();
    }
    position = group.last;
  }
  keep(position, now.num_pages);
}

// Copies the parts of the row index that will be written and that a version still holds.
void update_plan::make_index_parts() {
  std::vector<std::uint8_t> wanted(rows_.index_.size(), 0);            // not of bits: several threads write
  const auto want_rows = [&](std::int64_t first, std::int64_t last) {  // of the pages at first .. last - 1
    const auto begin = first_row_from(rows_.directory_.separators[static_cast<std::size_t>(first)]);
    const auto end = std::min(rows_.num_rows(), first_row_from(rows_.end_of_page(last - 1)));
    for (auto part = begin >> index_bits; part << index_bits < end; ++part) wanted[static_cast<std::size_t>(part)] = 1;
  };
  for (const auto& group : groups_) want_rows(group.first, group.last);
  for (const auto& task : tasks_)
    if (task.respread) want_rows(task.position, task.position + 1);
  for_each_filled_row([&](std::int64_t row) {
    std::atomic_ref(wanted[static_cast<std::size_t>(row >> index_bits)]).store(1, std::memory_order_relaxed);
  });
  for (std::size_t part = 0; part < wanted.size(); ++part)
    if (wanted[part] && !rows_.index_[part].exclusive()) part_numbers_.push_back(part);
  buffer<block> taken(part_numbers_.size());
  rows_.pools_->parts.take({taken.data(), taken.size()});
  parts_ = std::move(taken);
  for (std::size_t i = 0; i < part_numbers_.size(); ++i)
    std::memcpy(parts_[i].data, rows_.index_[part_numbers_[i]].data, sizeof(index_part));
}

}  // namespace graphlode::packed
