// update_plan.hpp - applies a batch in two steps: a plan, which may fail and changes nothing visible, and its commit,
// which cannot fail.
//
// The plan knows where every update belongs and how many entries each leaf, window and page will have, before anything
// is written. This gives three kinds of pages:
// - A page that stays within its bounds is a task. Its leaves, and the windows around leaves that would overflow or run
//   empty, are written in place on commit. If a version still holds the page, a copy of it is written at once.
// - A page that would leave its bounds becomes a group, together with as many neighbors as needed to fill pages well
//   again. Its entries are written into fresh pages at once, and the directory receives them on commit.
// - The other pages do not change, except that some are condensed if deletes have left many gaps.
//
// A merge is one group of all pages. If the batch has at least as many updates as there are entries, it sorts them all
// together instead of looking up each update, which is far faster for the batch that loads a store.
#pragma once
#include <vector>

#include "graphlode/control.hpp"
#include "graphlode/parallel.hpp"
#include "graphlode/store/updates.hpp"

namespace graphlode::packed {

enum class path { in_place, merge, climb };

struct page_task {
  std::int64_t position;
  std::size_t begin, end;  // of its updates
  std::int64_t growth;
  bool respread;           // some leaf would overflow or run empty
  std::int64_t copy = -1;  // the fresh page that replaces a shared one; -1: written in place
};

struct page_group {
  std::int64_t first, last;      // pages at first .. last - 1 become
  std::int64_t num_pages = 0;    // this many
  std::int64_t entries = 0;      // with this many entries
  std::int64_t first_page = 0;   // among the fresh pages
  std::int64_t first_after = 0;  // where the first of them will be

  struct start {
    std::int64_t entries;  // of the group before the page, after the update
    std::size_t updates;   // of the batch before the page
  };
  std::vector<start> starts = {};  // of each page it comes from, and the end
};

constexpr std::int64_t filled_enough = page_slots / 2;  // at least, in the pages of a group

// The number of fresh pages for `entries` entries. The last page of an array may be fuller, so that two do not become
// too empty.
constexpr std::int64_t fresh_pages_for(std::int64_t entries, bool all) {
  if (entries == 0 || (all && entries <= most_in_page)) return 1;
  return (entries + fill_entries - 1) / fill_entries;
}

// What has been written.
struct effort {
  std::int64_t slots = 0, rebalances = 0;
  effort& operator+=(const effort& other) {
    slots += other.slots;
    rebalances += other.rebalances;
    return *this;
  }
};

struct change {
  std::int64_t inserted, deleted, changed;
  effort written;
};

class update_plan {
 public:
  // Throws std::bad_alloc, input_error or cancelled; then nothing has changed.
  update_plan(packed_rows& rows, const batch_view& batch, path by, int threads, const control& ctl);
  ~update_plan();
  update_plan(const update_plan&) = delete;
  update_plan& operator=(const update_plan&) = delete;

  // At most once, and only while the array is as it was when the plan was made; otherwise throws std::logic_error.
  change commit();

 private:
  void plan_from_sort(const batch_view& batch, const control& ctl);
  void plan_pages();
  bool make_tasks(bool only);
  page_task task_from(std::size_t begin, bool only) const;
  void group_pages();
  void condense_pages();
  void drop_grouped_tasks();
  void make_pages(const control& ctl);
  void write_groups(const control& ctl);
  void find_starts();
  void make_directory();
  void make_index_parts();
  template <bool Weighted>
  void write_group_pages(const page_group& group, std::int64_t first, std::int64_t last);
  template <bool Weighted>
  effort write_tasks(bool copies, const control& ctl);
  template <bool Weighted>
  effort climb(bool copies);
  page& target_of(const page_task& task) noexcept;
  std::int64_t entries_after(std::int64_t position) const;
  void commit_directory() noexcept;
  void commit_index() noexcept;
  void name_rows(std::int64_t position) noexcept;

  // f(row) for each row that is marked as empty and gets entries, on one thread for each row; the other paths name
  // all rows again.
  template <class Row>
  void for_each_filled_row(Row&& f) const {
    if (path_ == path::merge) return;
    const auto size = static_cast<std::int64_t>(batch_.size);
    const auto key_at = [&](std::int64_t i) { return batch_.keys[static_cast<std::size_t>(i)]; };
    const auto row_at = [&](std::int64_t i) { return row_of(plain(key_at(i))); };
    parallel_parts(size, worthwhile_threads(size / 2, threads_), [&](int, std::int64_t i, std::int64_t end) {
      while (i > 0 && i < end && row_at(i) == row_at(i - 1)) ++i;  // of the thread before, as are its marks
      for (; i < end; ++i)
        if (growth_of(key_at(i)) > 0 && rows_.is_known_empty(row_at(i))) f(row_at(i));
    });
  }

  packed_rows& rows_;
  const path path_;
  bool sorts_all_;  // a merge that sorts entries and updates together
  const int threads_;
  std::uint64_t stamp_;
  bool committed_ = false;

  updates batch_;
  std::vector<page_task> tasks_;    // by position, none of them in a group
  std::vector<page_group> groups_;  // by position
  bool only_page_ = false;          // after the update there is one page, which has no lower bound
  buffer<block> fresh_;             // pages of groups, then copies
  directory next_;                  // with the pages of groups
  buffer<block> retired_;           // pages that are released on commit
  std::vector<std::size_t> part_numbers_;
  buffer<block> parts_;        // copies of these parts of the row index
  buffer<std::uint8_t> done_;  // for climbing
  condensing condensing_;
  std::vector<effort> written_by_thread_;
  effort written_;
};

}  // namespace graphlode::packed
