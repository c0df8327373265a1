// row_view.hpp - the rows of a packed array in the form that kernels take (rows.hpp), read in place without a copy.
//
// A store has room for more rows than it has vertices; a view has only the requested number.
#pragma once
#include <algorithm>
#include <cstdint>
#include <span>

#include "graphlode/rows.hpp"
#include "graphlode/store/packed_rows.hpp"

namespace graphlode::packed {

class row_view {
 public:
  using vertex = std::int32_t;

  row_view(const packed_rows& rows, std::int64_t num_rows)
      : rows_(&rows),
        num_rows_(num_rows),
        entries_in_a_leaf_(
            std::min<std::int64_t>(rows.num_entries() / std::max<std::int64_t>(num_rows, 1) + 1, leaf_slots / 2)) {}

  std::int64_t num_rows() const { return num_rows_; }
  std::int64_t num_entries() const { return rows_->num_entries(); }
  std::uint64_t known_empty(std::int64_t w, std::uint64_t among) const { return rows_->known_empty(w) & among; }
  void prefetch_index(std::int64_t row) const { rows_->prefetch_index(row); }
  void prefetch_row(std::int64_t row) const { rows_->prefetch_row(row); }

  // An exact count would need a walk along the row. The number of leaves that it spans is one index lookup.
  std::int64_t degree_estimate(std::int64_t row) const {
    constexpr std::int64_t entries_per_leaf = leaf_slots * 3 / 4;
    return leaves_from(row) * entries_per_leaf + entries_in_a_leaf_;
  }

  vertex first_neighbor(std::int64_t row) const { return rows_->first_neighbor(row); }
  template <class Visit>
  void for_each_neighbor(std::int64_t row, Visit&& visit) const {
    rows_->for_each_neighbor(row, visit);
  }

  // Visits all entries of the rows first .. last - 1 in order, with one index lookup: visit(row, keys) for each run of
  // entries of one row within a leaf.
  template <class Visit>
  void for_each_run(std::int64_t first, std::int64_t last, Visit&& visit) const {
    const key_type end = first_key_of(last);
    for (cursor at = rows_->start_of(first);; at = {at.position + 1, 0, 0}) {
      const page& here = rows_->page_at(at.position);
      for (; at.leaf < page_leaves; ++at.leaf, at.slot = 0) {
        const key_type* from = here.leaf(at.leaf) + at.slot;
        const key_type* const leaf_end = here.leaf(at.leaf) + here.counts[static_cast<std::size_t>(at.leaf)];
        while (from != leaf_end) {
          if (*from >= end) return;
          const auto row = row_of(*from);
          const key_type* to = from + 1;
          for (const key_type next = first_key_of(row + 1); to != leaf_end && *to < next;) ++to;
          visit(row, std::span<const key_type>(from, to));
          from = to;
        }
      }
      if (rows_->end_of_page(at.position) >= end) return;
    }
  }

 private:
  // The number of leaves from the one in which the row begins to that of the next row. Most rows end in the page in
  // which they begin; only the others need the directory.
  std::int64_t leaves_from(std::int64_t row) const {
    if (row + 1 == rows_->num_rows()) return rows_->num_pages() * page_leaves - place_of(rows_->index_of(row));
    const leaf_name here = rows_->index_of(row), next = rows_->index_of(row + 1);
    if (page_number_of(here) == page_number_of(next)) return leaf_of(next) - leaf_of(here);
    return place_of(next) - place_of(here);
  }
  // The rank of a leaf in key order, counted from the first page.
  std::int64_t place_of(leaf_name name) const {
    return rows_->position_of(page_number_of(name)) * page_leaves + leaf_of(name);
  }

  const packed_rows* rows_;
  std::int64_t num_rows_;
  std::int64_t entries_in_a_leaf_;  // estimate for a row that begins and ends in the same leaf
};

static_assert(neighbor_rows<row_view>);

}  // namespace graphlode::packed
