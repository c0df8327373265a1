// maximal/largest.hpp - the search below one root for a clique larger than the best so far, on bit rows.
//
// Branch and bound with a greedy coloring: a clique has no two vertices of one color, so candidates that can be colored
// with few colors need no search. Bit rows are colored class by class (San Segundo's method). Only candidates whose
// color number could still lead to a larger clique become branches, the highest first. All threads share the size of
// the best clique, so every gain shortens all their searches at once.
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

  // Searches a larger clique that consists of `root` and candidates of the problem.
  void from_root(const std::shared_ptr<const problem>& in, std::int64_t root);
  // Finds one clique with `root`, by repeatedly adding the candidate with the most neighbors among the remaining ones.
  void greedily(const problem& in, std::int64_t root);
  void from_branch(const bound_branch& given);

  struct frame {
    std::int64_t held;
    std::int64_t bits;   // where its candidates lie in `bits`
    std::int64_t order;  // where its branches lie in `order`: candidates by ascending color
    std::int64_t order_end;
  };
  struct colored {
    std::uint32_t vertex;
    std::uint32_t color;
  };

  void descend(const std::shared_ptr<const problem>& in, std::int64_t at);
  void give_away(const std::shared_ptr<const problem>& in, std::int64_t at);
  // Checks for a stop every few milliseconds of work, measured in words read.
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
  problem_slots slots;         // for problems that are built
  problem_slots ordered;       // for problems that are searched

 private:
  // Finds the candidates that can be in a larger clique, those with few neighbors last.
  void reduce(const problem& in);

  std::vector<std::uint32_t> kept_;
  std::vector<std::int64_t> degree_;
  growing<std::uint32_t> numbers_;
  std::int64_t work_left_ = 0;
};

}  // namespace graphlode::mining::maximal
