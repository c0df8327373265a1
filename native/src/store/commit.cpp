// store/commit.cpp - applies a planned update to pages, directory and row index.
#include <algorithm>
#include <stdexcept>

#include "graphlode/parallel.hpp"
#include "graphlode/store/update_plan.hpp"
#include "store/write.hpp"

namespace graphlode::packed {
namespace {

constexpr std::int64_t tasks_per_chunk = 8;
constexpr std::int64_t pages_per_chunk = 16;

struct window {
  int first, level;
};

// The smallest windows within their bounds around leaves that are not, from left to right. Two windows are disjoint or
// nested, so a larger one replaces those found before inside it.
struct window_list {
  std::array<window, page_leaves> windows;
  int size = 0;

  window_list(const std::array<int, page_leaves>& counts, bool only_page) {
    std::array<int, page_leaves + 1> before;  // entries of the leaves before each
    before[0] = 0;
    for (std::size_t l = 0; l < page_leaves; ++l) before[l + 1] = before[l] + counts[l];
    const auto fits = [&](int first, int level) {
      const int entries =
          before[static_cast<std::size_t>(first + (1 << level))] - before[static_cast<std::size_t>(first)];
      return entries <= most_entries(level) && (only_page || entries >= fewest_entries(level));
    };
    for (int leaf = 0; leaf < page_leaves;) {
      if (fits(leaf, 0)) {
        ++leaf;
        continue;
      }
      window chosen{leaf, 0};
      while (chosen.level < levels - 1 && !fits(chosen.first, chosen.level)) {
        ++chosen.level;
        chosen.first = leaf >> chosen.level << chosen.level;
      }
      while (size > 0 && windows[static_cast<std::size_t>(size - 1)].first >= chosen.first) --size;
      windows[static_cast<std::size_t>(size++)] = chosen;
      leaf = chosen.first + (1 << chosen.level);
    }
  }
};

template <bool Weighted>
effort spread_windows(page& at, const updates& batch, update_range rest, bool only_page) {
  std::array<int, page_leaves> after;
  std::copy(at.counts.begin(), at.counts.end(), after.begin());
  for (auto i = rest.begin; i < rest.end; ++i)
    after[static_cast<std::size_t>(leaf_of(batch.places[i]))] += growth_of(batch.keys[i]);
  const window_list list(after, only_page);
  effort written;
  int next = 0;
  for (int leaf = 0; leaf < page_leaves;) {
    if (next < list.size && list.windows[static_cast<std::size_t>(next)].first == leaf) {
      const int leaves = 1 << list.windows[static_cast<std::size_t>(next++)].level;
      window_entries<Weighted> entries;
      for (int l = leaf; l < leaf + leaves; ++l) entries.gather(at, l, batch, take_leaf(batch, rest, l));
      spread(at, leaf, leaves, entries);
      written += {entries.size, 1};
      leaf += leaves;
    } else {
      const auto mine = take_leaf(batch, rest, leaf);
      if (mine.begin < mine.end) written.slots += write_leaf<Weighted>(at, leaf, batch, mine);
      ++leaf;
    }
  }
  return written;
}

template <bool Weighted>
effort write_task(page& at, const updates& batch, const page_task& task, bool only_page) {
  update_range rest{task.begin, task.end};
  if (task.respread) return spread_windows<Weighted>(at, batch, rest, only_page);
  effort written;
  while (rest.begin < rest.end) {
    const int leaf = leaf_of(batch.places[rest.begin]);
    written.slots += write_leaf<Weighted>(at, leaf, batch, take_leaf(batch, rest, leaf));
  }
  return written;
}

}  // namespace

page& update_plan::target_of(const page_task& task) noexcept {
  if (task.copy >= 0) return *static_cast<page*>(fresh_[static_cast<std::size_t>(task.copy)].data);
  return const_cast<page&>(rows_.page_at(task.position));
}

// Writes the tasks whose pages are copies, or those whose pages are written in place.
template <bool Weighted>
effort update_plan::write_tasks(bool copies, const control& ctl) {
  const auto size = static_cast<std::int64_t>(tasks_.size());
  if (std::none_of(tasks_.begin(), tasks_.end(), [&](const page_task& task) { return (task.copy >= 0) == copies; }))
    return {};
  const int threads = worthwhile_threads(16 * static_cast<std::int64_t>(batch_.size), threads_);
  std::fill(written_by_thread_.begin(), written_by_thread_.end(), effort{});
  parallel_chunks(0, size, threads > 1 ? tasks_per_chunk : size, threads, ctl,
                  [&](int thread, std::int64_t begin, std::int64_t end) {
                    effort sum;
                    for (auto i = begin; i < end; ++i) {
                      const auto& task = tasks_[static_cast<std::size_t>(i)];
                      if ((task.copy >= 0) != copies) continue;
                      page& at = target_of(task);
                      if (copies) std::memcpy(&at, &rows_.page_at(task.position), bytes_of_page(Weighted));
                      if (path_ != path::climb) sum += write_task<Weighted>(at, batch_, task, only_page_);
                    }
                    written_by_thread_[static_cast<std::size_t>(thread)] += sum;
                  });
  if (path_ == path::climb) return climb<Weighted>(copies);
  effort sum;
  for (const auto& one : written_by_thread_) sum += one;
  return sum;
}

template effort update_plan::write_tasks<true>(bool, const control&);
template effort update_plan::write_tasks<false>(bool, const control&);

// The published method, for comparison. Level by level, every window with pending updates is counted again. Windows
// that can take their updates do; the others go up one level.
template <bool Weighted>
effort update_plan::climb(bool copies) {
  effort written;
  for (int level = 0; level < levels; ++level)
    for (const auto& task : tasks_) {
      if ((task.copy >= 0) != copies) continue;
      page& at = target_of(task);
      for (auto begin = task.begin, end = begin; begin < task.end; begin = end) {
        const int first = leaf_of(batch_.places[begin]) >> level << level, last = first + (1 << level);
        std::int64_t entries = 0;
        bool waiting = false;
        for (int l = first; l < last; ++l) entries += at.counts[static_cast<std::size_t>(l)];
        for (; end < task.end && leaf_of(batch_.places[end]) < last; ++end)
          if (!done_[end]) {
            entries += growth_of(batch_.keys[end]);
            waiting = true;
          }
        const bool fits = entries <= most_entries(level) && (only_page_ || entries >= fewest_entries(level));
        if (!waiting || (!fits && level < levels - 1)) continue;
        update_range rest{begin, end};
        if (level == 0) {
          written.slots += write_leaf<Weighted>(at, first, batch_, rest);
        } else {
          window_entries<Weighted> gathered;
          for (int l = first; l < last; ++l) {
            auto mine = take_leaf(batch_, rest, l);
            if (mine.begin < mine.end && done_[mine.begin]) mine.end = mine.begin;
            gathered.gather(at, l, batch_, mine);
          }
          spread(at, first, last - first, gathered);
          written += {gathered.size, 1};
        }
        std::fill(done_.data() + begin, done_.data() + end, std::uint8_t{1});
      }
    }
  return written;
}

change update_plan::commit() {
  if (committed_ || rows_.stamp_ != stamp_) throw std::logic_error("the plan is for another state of the array");
  written_ += rows_.weighted() ? write_tasks<true>(false, control()) : write_tasks<false>(false, control());
  commit_directory();
  commit_index();
  rows_.num_entries_ += batch_.inserted - batch_.deleted;
  rows_.condensing_ = condensing_;
  rows_.stamp_.fetch_add(1, std::memory_order_relaxed);
  committed_ = true;
  rows_.pools_->pages.give_back({retired_.data(), retired_.size()});
  rows_.pools_->pages.gather({rows_.directory_.pages.data(), rows_.directory_.num_numbers},
                             2 + retired_.size() + batch_.size / 16);
  return {batch_.inserted, batch_.deleted, batch_.changed, written_};
}

void update_plan::commit_directory() noexcept {
  std::size_t out = 0;
  auto& now = rows_.directory_;
  for (const auto& group : groups_)
    for (auto i = static_cast<std::size_t>(group.first); i < static_cast<std::size_t>(group.last); ++i)
      retired_[out++] = now.pages[now.numbers[i]];
  if (!groups_.empty()) std::swap(now, next_);
  const auto& before = groups_.empty() ? now : next_;
  for (const auto& task : tasks_)
    if (task.copy >= 0) {
      block& at = now.pages[before.numbers[static_cast<std::size_t>(task.position)]];
      retired_[out++] = std::exchange(at, fresh_[static_cast<std::size_t>(task.copy)]);
    }
}

// Writes the new leaf names of rows whose leaf may have changed: rows on the pages of groups, and on pages with spread
// windows.
void update_plan::commit_index() noexcept {
  for (std::size_t i = 0; i < part_numbers_.size(); ++i) std::swap(rows_.index_[part_numbers_[i]], parts_[i]);
  for_each_filled_row([&](std::int64_t row) {
    static_cast<index_part*>(rows_.index_[static_cast<std::size_t>(row >> index_bits)].data)->unmark(row);
  });
  rows_.pools_->parts.give_back({parts_.data(), parts_.size()});
  const auto grouped = groups_.empty() ? 0 : groups_.back().first_page + groups_.back().num_pages;
  parallel_chunks(0, grouped, pages_per_chunk, worthwhile_threads(grouped * 256, threads_), control(),
                  [&](int, std::int64_t begin, std::int64_t end) {
                    auto group = std::prev(std::upper_bound(
                        groups_.begin(), groups_.end(), begin,
                        [](std::int64_t fresh, const page_group& one) { return fresh < one.first_page; }));
                    for (auto i = begin; i < end; ++i) {
                      while (i >= group->first_page + group->num_pages) ++group;
                      name_rows(group->first_after + i - group->first_page);
                    }
                  });
  const auto& before = groups_.empty() ? rows_.directory_ : next_;
  const auto tasks = static_cast<std::int64_t>(tasks_.size());
  parallel_chunks(0, tasks, pages_per_chunk, worthwhile_threads(tasks * 16, threads_), control(),
                  [&](int, std::int64_t begin, std::int64_t end) {
                    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
                      const auto number = before.numbers[static_cast<std::size_t>(tasks_[i].position)];
                      if (tasks_[i].respread) name_rows(rows_.position_of(number));
                    }
                  });
}

void update_plan::name_rows(std::int64_t position) noexcept {
  const page& at = rows_.page_at(position);
  const auto number = rows_.directory_.numbers[static_cast<std::size_t>(position)];
  const auto end = std::min(rows_.num_rows(), first_row_from(rows_.end_of_page(position)));
  auto row = first_row_from(at.separators[0]);
  for (int l = 0; l < page_leaves; ++l) {
    const int count = at.counts[static_cast<std::size_t>(l)];
    const auto above =
        l + 1 < page_leaves ? at.separators[static_cast<std::size_t>(l) + 1] : rows_.end_of_page(position);
    const auto next = std::min(end, first_row_from(above));
    for (int slot = 0; row < next; ++row) {
      slot = at.rank_near(l, first_key_of(row), slot);
      auto* part = static_cast<index_part*>(rows_.index_[static_cast<std::size_t>(row >> index_bits)].data);
      // Behind the last entry of the leaf, only the row of the next separator can have entries, in the next leaf.
      const bool empty = slot < count ? row_of(at.leaf(l)[slot]) != row : row < row_of(above);
      part->set(row, name_of(number, l), empty ? index_part::known_empty : slot);
    }
  }
}

}  // namespace graphlode::packed
