// column_batch.hpp - sorts steps of different groups, or of different lengths, side by side.
//
// If blocks are shorter than a vector, the steps of one group do not fill the columns of the sorting network. This
// class collects steps, with the places that their edges came from, until there are eight.
#pragma once
#include <algorithm>
#include <array>
#include <limits>
#include <span>

#include "graphlode/locality/block_schedule.hpp"
#include "graphlode/locality/edge_word.hpp"
#include "sorting_network.hpp"

namespace graphlode::locality {

class column_batch {
 public:
  column_batch(std::span<edge_word> edges, const sorting_network& network, int lanes)
      : edges_(edges), network_(network), lanes_(static_cast<std::size_t>(lanes)) {
    std::fill(rows_.begin(), rows_.end(), network_row{});  // unused columns are sorted too
  }

  // Adds a step: the edges at places(0), places(1), .., places(count - 1), which ascend, are to be sorted; count <=
  // lanes.
  template <class Places>
  void add(std::size_t count, Places&& places) {
    auto& column = places_[columns_];
    for (std::size_t i = 0; i < count; ++i) {
      column[i] = places(i);
      rows_[i].words[columns_] = edges_[static_cast<std::size_t>(column[i])];
    }
    for (std::size_t i = count; i < lanes_; ++i) rows_[i].words[columns_] = std::numeric_limits<edge_word>::max();
    counts_[columns_] = count;
    if (++columns_ == network_columns) flush();
  }

  // Whether so few edges are better sorted alone than as a column.
  bool too_few(std::size_t count) const noexcept { return 4 * count < lanes_; }

  void flush() {
    if (columns_ == 0) return;
    network_.sort(rows_.data());
    for (std::size_t column = 0; column < columns_; ++column)
      for (std::size_t i = 0; i < counts_[column]; ++i)
        edges_[static_cast<std::size_t>(places_[column][i])] = rows_[i].words[column];
    columns_ = 0;
  }

 private:
  std::span<edge_word> edges_;
  const sorting_network& network_;
  std::size_t lanes_;
  std::size_t columns_ = 0;
  std::array<network_row, most_lanes> rows_;
  std::array<std::array<std::int64_t, most_lanes>, network_columns> places_;
  std::array<std::size_t, network_columns> counts_;
};

}  // namespace graphlode::locality
