// maximal/largest.hpp - the search for a clique larger than the best so far below one root, on rows of bits.
//
// Branch and bound with a greedy coloring: no clique has two vertices of one color, so a set of candidates that can
// be colored with few colors needs no search. Coloring is done on rows of bits, class by class (San Segundo's
// method), and only candidates whose color number could still lead to a larger clique become branches, the highest
// first. All threads share the size of the best clique, and every gain shortens all their searches at once.
#pragma once
#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "graphlode/control.hpp"
#include "maximal/pool.hpp"
#include "maximal/problem.hpp"

namespace graphlode::mining::maximal {

// The largest clique that any thread has found.
class best_clique {
 public:
  std::int64_t size() const noexcept { return size_.load(std::memory_order_relaxed); }
  void offer(std::span<const std::int64_t> clique);
  std::vector<std::int64_t> take() { return std::move(members_); }

 private:
  std::atomic<std::int64_t> size_{0};
  std::mutex mutex_;
  std::vector<std::int64_t> members_;
};

// A node of the search that another thread may take.
struct bound_branch {
  std::shared_ptr<const problem> in;
  std::vector<std::int64_t> held;
  std::vector<word> candidates;
};

class bound_search {
 public:
  bound_search(best_clique& so_far, branch_pool<bound_branch>& shared, const control& stop)
      : best(so_far), pool(shared), ctl(stop) {}

  // Looks for a larger clique that has `root` and otherwise candidates of the built problem.
  void from_root(const std::shared_ptr<const problem>& in, std::int64_t root);
  // One clique that has `root`, by always adding the candidate with the most neighbors among those left.
  void greedily(const problem& in, std::int64_t root);
  void from_branch(const bound_branch& given);

  struct frame {
    std::int64_t held;
    std::int64_t bits;   // where its candidates lie in `bits`
    std::int64_t order;  // where its branches lie in `order`: candidates by rising color
    std::int64_t order_end;
  };
  struct colored {
    std::uint32_t vertex;
    std::uint32_t color;
  };

  void descend(const std::shared_ptr<const problem>& in, std::int64_t at);
  void give_away(const std::shared_ptr<const problem>& in, std::int64_t at);
  // Looks for a stop after every few milliseconds of work, in words that were looked at.
  void tick(std::int64_t work) {
    if ((work_left_ -= work) > 0) return;
    work_left_ = std::int64_t{1} << 20;
    ctl.check();
    if (pool.abandoned()) throw cancelled();
  }

  best_clique& best;
  branch_pool<bound_branch>& pool;
  control ctl;
  std::vector<std::int64_t> held;
  std::vector<frame> frames;
  growing<word> bits;
  growing<colored> order;
  std::exception_ptr failure;  // of a cloned search
  problem_slots slots;         // for what is built
  problem_slots ordered;       // for what is searched

 private:
  // The candidates that can be in a larger clique, those with few neighbors last.
  void reduce(const problem& in);

  std::vector<std::uint32_t> kept_;
  std::vector<std::int64_t> degree_;
  growing<std::uint32_t> numbers_;
  std::int64_t work_left_ = 0;
};

}  // namespace graphlode::mining::maximal
