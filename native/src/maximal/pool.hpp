// maximal/pool.hpp - how threads share a search whose parts differ by many orders of magnitude.
//
// Threads take roots while there are any. A thread that finds none waits here for a branch that another thread gives
// away. While a thread waits, every searching thread gives its next larger branch away instead of descending. So one
// heavy root is split as deeply as needed, and nothing is copied while all threads are busy.
#pragma once
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <utility>

#include "graphlode/control.hpp"
#include "graphlode/parallel.hpp"

namespace graphlode::mining::maximal {

template <class Branch>
class branch_pool {
 public:
  // Whether a branch should be given away. Cheap enough to be called at every branch.
  bool wanted() const noexcept { return missing_.load(std::memory_order_relaxed) > 0; }

  // Whether some thread has failed. Further results of the others are then discarded.
  bool abandoned() const noexcept { return abandoned_.load(std::memory_order_relaxed); }

  void give(Branch&& branch) {
    {
      const std::lock_guard lock(mutex_);
      given_.push_back(std::move(branch));
      missing_.fetch_sub(1, std::memory_order_relaxed);
    }
    changed_.notify_one();
  }

  // A thread joins before its first root. It leaves when `take` returns false, or by `abandon`.
  void join() {
    const std::lock_guard lock(mutex_);
    ++working_;
  }

  // Waits for a branch. Returns false when there will be none, because no thread is working.
  bool take(Branch& branch) {
    std::unique_lock lock(mutex_);
    --working_;
    missing_.fetch_add(1, std::memory_order_relaxed);
    if (working_ == 0 && given_.empty()) changed_.notify_all();
    changed_.wait(lock, [&] { return abandoned() || !given_.empty() || working_ == 0; });
    if (abandoned() || given_.empty()) return false;
    branch = std::move(given_.front());
    given_.pop_front();
    ++working_;
    return true;
  }

  // After an error: all waiting threads leave.
  void abandon() {
    {
      const std::lock_guard lock(mutex_);
      abandoned_.store(true, std::memory_order_relaxed);
    }
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Branch> given_;
  int working_ = 0;
  std::atomic<bool> abandoned_{false};
  std::atomic<int> missing_{0};  // waiting threads minus the branches available to them
};

// Searches the roots begin .. end on all threads, from the highest rank down: there the graph is densest, and heavy
// roots should start early. make_searcher() makes a thread's searcher, which has root(u), branch(given) and finish().
template <class Branch, class MakeSearcher>
void search_shared(std::int64_t begin, std::int64_t end, int threads, const control& ctl, branch_pool<Branch>& pool,
                   MakeSearcher&& make_searcher) {
  constexpr std::int64_t grain = 32;
  std::atomic<std::int64_t> next{end};
  with_helpers(end - begin <= 1 ? 1 : threads, [&](int) {
    pool.join();
    try {
      auto searcher = make_searcher();
      for (auto to = next.fetch_sub(grain); to > begin; to = next.fetch_sub(grain)) {
        const auto from = std::max(begin, to - grain);
        for (auto u = to; u-- > from;) {
          ctl.check();
          searcher.root(u);
        }
        ctl.advance(to - from);
      }
      Branch given;
      while (pool.take(given)) {
        ctl.check();
        searcher.branch(given);
        given = Branch();
      }
      searcher.finish();
    } catch (...) {
      next.store(begin);
      pool.abandon();
      throw;
    }
  });
}

}  // namespace graphlode::mining::maximal
