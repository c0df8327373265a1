// store/check.cpp - checks every invariant of a packed array, entry by entry. For tests.
#include <string>
#include <vector>

#include "graphlode/store/packed_rows.hpp"

namespace graphlode::packed {
namespace {

struct page_rules {
  const page& at;
  key_type begin, end;  // keys that belong into the page
  bool only;
  std::string where;

  std::string broken() const {
    if (at.separators[0] != begin) return where + ": the first separator is not that of the directory";
    std::int64_t total = 0;
    for (int l = 0; l < page_leaves; ++l) {
      if (auto what = broken_leaf(l); !what.empty()) return where + ", leaf " + std::to_string(l) + ": " + what;
      total += at.counts[static_cast<std::size_t>(l)];
    }
    if (total != at.count)
      return where + ": the count is " + std::to_string(at.count) + ", not " + std::to_string(total);
    if (total > most_in_page) return where + ": more entries than its upper bound";
    if (!only && total < fewest_in_page) return where + ": fewer entries than its lower bound";
    return {};
  }

 private:
  std::string broken_leaf(int l) const {
    const auto i = static_cast<std::size_t>(l);
    const int count = at.counts[i];
    const key_type lowest = at.separators[i];
    const key_type above = l + 1 < page_leaves ? std::min(at.separators[i + 1], end) : end;
    if (count > leaf_slots) return "more entries than slots";
    if (!only && count < fewest_entries(0)) return "fewer entries than its lower bound";
    if (l > 0 && lowest < at.separators[i - 1]) return "separators are not ascending";
    if (count > 0 && at.leaf(l)[0] < lowest) return "an entry is below the separator";
    for (int s = 0; s < count; ++s) {
      if (s > 0 && at.leaf(l)[s] <= at.leaf(l)[s - 1]) return "entries are not sorted and unique";
      if (at.leaf(l)[s] >= above) return "an entry belongs into a later leaf";
    }
    return {};
  }
};

}  // namespace

std::string packed_rows::check() const {
  std::int64_t total = 0;
  if (num_pages() < 1) return "there is no page";
  if (directory_.separators[0] != 0) return "the first separator of the directory is not 0";
  std::vector<bool> listed(directory_.num_numbers, false), has_entries(static_cast<std::size_t>(num_rows_), false);
  for (std::int64_t position = 0; position < num_pages(); ++position) {
    const auto i = static_cast<std::size_t>(position);
    const auto number = directory_.numbers[i];
    const std::string where = "page " + std::to_string(position);
    if (number >= directory_.num_numbers || !directory_.pages[number]) return where + " has no page behind its number";
    if (directory_.positions[number] != position || listed[number]) return where + ": its number has another position";
    listed[number] = true;
    if (directory_.pages[number].counter->references.load() < 1) return where + " has no reference";
    if (i > 0 && directory_.separators[i] <= directory_.separators[i - 1])
      return where + ": separators of the directory are not ascending";
    const page_rules rules{page_at(position), directory_.separators[i], end_of_page(position), num_pages() == 1, where};
    if (auto what = rules.broken(); !what.empty()) return what;
    total += page_at(position).count;
    for (int l = 0; l < page_leaves; ++l)
      for (int s = 0; s < page_at(position).counts[static_cast<std::size_t>(l)]; ++s)
        if (const auto row = row_of(page_at(position).leaf(l)[s]); row < num_rows_)
          has_entries[static_cast<std::size_t>(row)] = true;
  }
  for (std::uint32_t number = 0; number < directory_.num_numbers; ++number)
    if (directory_.pages[number] && !listed[number]) return "a page is held that the directory does not list";
  if (total != num_entries_)
    return "the pages have " + std::to_string(total) + " entries, not " + std::to_string(num_entries_);
  if (pools_->pages.in_use() < num_pages()) return "fewer pages are in use than the directory lists";

  std::int64_t position = 0;
  for (std::int64_t row = 0; row < num_rows_; ++row) {
    while (end_of_page(position) <= first_key_of(row)) ++position;
    const auto expected =
        name_of(directory_.numbers[static_cast<std::size_t>(position)], page_at(position).find_leaf(first_key_of(row)));
    if (index_of(row) != expected) return "the index of row " + std::to_string(row) + " names another leaf";
    if (is_known_empty(row) && has_entries[static_cast<std::size_t>(row)])
      return "row " + std::to_string(row) + " is marked as empty, but has entries";
  }
  const page& last = page_at(num_pages() - 1);
  for (int l = page_leaves - 1; l >= 0; --l)
    if (const int count = last.counts[static_cast<std::size_t>(l)])
      return row_of(last.leaf(l)[count - 1]) < num_rows_ ? "" : "an entry is of a row that is not there";
  return {};
}

}  // namespace graphlode::packed
