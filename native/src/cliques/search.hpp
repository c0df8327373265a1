// cliques/search.hpp - the state of a thread over all its searches, and the searches by width.
#pragma once
#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>

#include "cliques/leaves.hpp"
#include "cliques/pool.hpp"
#include "cliques/rows.hpp"
#include "cliques/tally.hpp"
#include "graphlode/control.hpp"

namespace graphlode::mining {

// The nodes on the path from the root to the current node: two sets and a state for each.
struct search_stack {
  buffer<word> sets;
  buffer<node_state> nodes;
  buffer<int> path_lengths;  // of the tally: before the node's own step, and after it and its universal vertices

  void reserve(int depth, int words) {
    const auto levels = static_cast<std::size_t>(depth);
    if (sets.size() < 2 * levels * static_cast<std::size_t>(words))
      sets = buffer<word>(2 * levels * static_cast<std::size_t>(words));
    if (nodes.size() < levels) {
      nodes = buffer<node_state>(levels);
      path_lengths = buffer<int>(2 * levels);
    }
  }
};

// Thrown by a trial search that has reached its work limit.
struct over_limit {};

struct search_thread {
  search_goal goal;
  branch_pool& pool;
  const control& ctl;
  leaf_table leaves;
  std::optional<local_tally> tally;
  row_slots slots;
  std::array<search_stack, num_width_classes> stacks;
  std::int64_t root = 0;
  std::int64_t work_done = 0;  // words read in finished stretches
  std::int64_t work_limit = std::numeric_limits<std::int64_t>::max();
  std::int64_t allowance = stretch;

  // The work between two checks for stop requests and waiting threads: some tens of microseconds.
  static constexpr std::int64_t stretch = 1 << 15;

  search_thread(search_goal given_goal, branch_pool& given_pool, const control& given_control, std::int64_t longest,
                std::int64_t held, const local_counts& local)
      : goal(given_goal), pool(given_pool), ctl(given_control), leaves(longest, held) {
    if (local.what != clique_counts::total) tally.emplace(local, longest);
  }

  bool local() const { return tally.has_value(); }
  void look_around() {
    work_done += stretch - allowance;
    allowance = stretch;
    if (ctl.stop_requested() || pool.aborted()) throw cancelled();
    if (work_done > work_limit) throw over_limit();
  }
};

// Where a search starts: below one node. `rows` are the rows of its candidates; `sets` are copied. If `opened`, the
// pivot of `node` has been chosen (sets: rest, todo); otherwise `sets` is a set of candidates that has not been
// examined.
struct search_start {
  const std::shared_ptr<row_block>& rows;
  int width_class;
  node_state node;
  const word* sets;
  bool opened;
};

void search_by_pivot(search_thread& thread, const search_start& start);
void search_by_enumeration(search_thread& thread, const search_start& start);

// The compiled variants: `Words` per row, 0 for any number; `Local` also counts per vertex or edge.
template <int Words, bool Local>
void run_pivot(search_thread& thread, const search_start& start);
template <int Words, bool Local>
void run_enumeration(search_thread& thread, const search_start& start);

}  // namespace graphlode::mining
