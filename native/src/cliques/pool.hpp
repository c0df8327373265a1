// cliques/pool.hpp - branches of a search that busy threads give to idle ones.
//
// A branch is a frame of a search: what is left to do at one node, with everything needed to continue there. No thread
// takes from a running search. An idle thread registers in `wanted`; busy threads read it now and then and give the
// frame nearest to their root. When all threads wait, the pool is finished.
#pragma once
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "cliques/rows.hpp"
#include "cliques/tally.hpp"

namespace graphlode::mining {

// What is left at a node of a search. Pivoting: branches on every candidate in `todo`, then on the pivot (-1: done).
// Enumeration: branches on every candidate in `rest`.
struct node_state {
  int held = 0;
  int passed = 0;
  int pivot = -1;
};

struct branch {
  std::shared_ptr<row_block> rows;
  int width_class = 0;
  std::int64_t root = 0;
  node_state node;
  std::vector<word> sets;       // rest, and for pivoting todo
  std::vector<path_step> path;  // only for counts per vertex or edge
};

class branch_pool {
 public:
  // Only threads that have joined are counted. A thread that joins after the end finds no work.
  void join() {
    const std::lock_guard lock(mutex_);
    ++members_;
  }
  bool wanted() const noexcept { return wanted_.load(std::memory_order_relaxed) > 0; }
  bool aborted() const noexcept { return aborted_.load(std::memory_order_relaxed); }

  void give(branch&& given) {
    {
      const std::lock_guard lock(mutex_);
      waiting_.push_back(std::move(given));
      update_wanted();
    }
    changed_.notify_one();
  }

  // Waits for a branch. Returns false when there will be none.
  bool take(branch& taken) {
    std::unique_lock lock(mutex_);
    ++idle_;
    update_wanted();
    if (idle_ == members_ && waiting_.empty()) {
      finished_ = true;
      changed_.notify_all();
    }
    changed_.wait(lock, [&] { return finished_ || aborted() || !waiting_.empty(); });
    if (aborted() || waiting_.empty()) return false;
    --idle_;
    taken = std::move(waiting_.back());
    waiting_.pop_back();
    update_wanted();
    return true;
  }

  // After an error: lets every thread end.
  void abort() noexcept {
    const std::lock_guard lock(mutex_);
    aborted_.store(true, std::memory_order_relaxed);
    changed_.notify_all();
  }

 private:
  void update_wanted() { wanted_.store(idle_ - static_cast<int>(waiting_.size()), std::memory_order_relaxed); }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<branch> waiting_;
  int members_ = 0, idle_ = 0;
  bool finished_ = false;
  std::atomic<int> wanted_{0};
  std::atomic<bool> aborted_{false};
};

}  // namespace graphlode::mining
