// progressive_pass.hpp - the steps of a pass, eight side by side, with something to be done to the edges on the way.
//
// Steps of a group are independent of each other, and so are groups: a pass is cut into units of up to a few thousand
// steps of one group, which may run in any order on any thread.
#pragma once
#include <algorithm>
#include <cstring>
#include <span>

#include "column_batch.hpp"
#include "graphlode/locality/block_schedule.hpp"
#include "graphlode/locality/edge_word.hpp"
#include "sorting_network.hpp"

namespace graphlode::locality {

class progressive_pass {
 public:
  progressive_pass(std::span<edge_word> edges, int lanes, int level)
      : edges_(edges),
        schedule_(static_cast<std::int64_t>(edges.size()), lanes, level),
        network_(lanes),
        units_per_group_(std::max<std::int64_t>(1, (schedule_.full_steps() + unit_steps - 1) / unit_steps)) {}

  bool settled() const noexcept { return schedule_.num_groups() == 0; }
  std::int64_t num_units() const noexcept { return schedule_.num_groups() * units_per_group_; }
  // Units that make a piece of work worth handing out.
  std::int64_t grain() const noexcept {
    const auto edges_per_unit = static_cast<std::int64_t>(edges_.size()) / num_units() + 1;
    return std::max<std::int64_t>(1, (std::int64_t{1} << 16) / edges_per_unit);
  }

  // Sorts the steps of the units begin .. end - 1 and returns how many edges they have. process(first, count) sees
  // every edge before it is moved: runs of neighboring edges of a block, not quite in the order of the steps.
  template <class Process>
  std::int64_t run(std::int64_t begin, std::int64_t end, Process&& process) const {
    column_batch batch(edges_, network_, schedule_.lanes());
    block_schedule::block_starts starts;
    std::int64_t done = 0;
    for (auto unit = begin; unit < end; ++unit) {
      if (schedule_.full_steps() == 0) {
        done += sort_group(schedule_.start_of(unit), schedule_.start_of(unit + 1), batch, process);
      } else {
        schedule_.find_starts(unit / units_per_group_, starts);
        done += run_unit(starts, unit % units_per_group_, batch, process);
      }
    }
    batch.flush();
    return done;
  }

 private:
  static constexpr std::int64_t unit_steps = 2048;
  using block_starts = block_schedule::block_starts;

  std::size_t lanes() const noexcept { return static_cast<std::size_t>(schedule_.lanes()); }

  template <class Process>
  std::int64_t run_unit(const block_starts& starts, std::int64_t part, column_batch& batch, Process&& process) const {
    const auto first = part * unit_steps, last = std::min(first + unit_steps, schedule_.full_steps());
    auto step = first;
    for (; step + network_columns <= last; step += network_columns) sort_columns(starts, step, process);
    for (; step < last; ++step) {
      for (std::size_t lane = 0; lane < lanes(); ++lane) process(edges_.data() + starts[lane] + step, 1);
      batch.add(lanes(), [&](std::size_t lane) { return starts[lane] + step; });
    }
    const auto done = (last - first) * schedule_.lanes();
    return part == units_per_group_ - 1 ? done + sort_last_step(starts, batch, process) : done;
  }

  // Eight steps, whose edges are neighbors in each block.
  template <class Process>
  void sort_columns(const block_starts& starts, std::int64_t step, Process&& process) const {
    network_row rows[most_lanes];
    for (std::size_t lane = 0; lane < lanes(); ++lane) {
      const edge_word* const from = edges_.data() + starts[lane] + step;
      process(from, network_columns);
      std::memcpy(rows[lane].words, from, sizeof(network_row));
    }
    network_.sort(rows);
    for (std::size_t lane = 0; lane < lanes(); ++lane)
      std::memcpy(edges_.data() + starts[lane] + step, rows[lane].words, sizeof(network_row));
  }

  // A group of fewer edges than lanes: blocks hold one edge or none, and the only step takes all of them.
  template <class Process>
  std::int64_t sort_group(std::int64_t begin, std::int64_t end, column_batch& batch, Process&& process) const {
    const auto count = end - begin;
    edge_word* const first = edges_.data() + begin;
    process(first, count);
    if (batch.too_few(static_cast<std::size_t>(count)))
      std::sort(first, first + count);
    else
      batch.add(static_cast<std::size_t>(count), [&](std::size_t i) { return begin + static_cast<std::int64_t>(i); });
    return count;
  }

  // The step that only the longer blocks take part in.
  template <class Process>
  std::int64_t sort_last_step(const block_starts& starts, column_batch& batch, Process&& process) const {
    std::array<std::int64_t, most_lanes> places;
    std::size_t count = 0;
    for (std::size_t lane = 0; lane < lanes(); ++lane) {
      places[count] = starts[lane] + schedule_.full_steps();
      count += places[count] < starts[lane + 1];
    }
    for (std::size_t i = 0; i < count; ++i) process(edges_.data() + places[i], 1);
    batch.add(count, [&](std::size_t i) { return places[i]; });
    return static_cast<std::int64_t>(count);
  }

  std::span<edge_word> edges_;
  block_schedule schedule_;
  sorting_network network_;
  std::int64_t units_per_group_;
};

}  // namespace graphlode::locality
