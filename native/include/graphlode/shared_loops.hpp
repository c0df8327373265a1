// shared_loops.hpp - many short loops, one after the other, in which threads that happen to be free help.
//
// A parallel region ends when all of its threads have arrived, even those that arrive after the work is done. On a busy
// machine this takes a time slice of some milliseconds: negligible for a long loop, but dominant for hundreds of short
// ones. Here one thread leads. It opens a loop, takes chunks like every other thread, closes the loop when no chunk is
// left, and waits only for the threads that are inside. A thread that arrives late finds the loop closed.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>

#include "graphlode/control.hpp"
#include "graphlode/parallel.hpp"

namespace graphlode {

class shared_loops {
 public:
  // Runs lead(loops) on one thread. Up to threads - 1 others help in its loops until it returns.
  template <class Lead>
  static void run(int threads, Lead&& lead) {
    shared_loops loops;
    on_threads(threads, [&](int thread) {
      if (thread > 0) return loops.help(thread);
      const ending end{loops};
      lead(loops);
    });
  }

  // Calls work(thread, begin, end) for chunks of `grain` units of [0, size). If `alone`, the leading thread does all.
  template <class Work>
  void share(std::int64_t size, std::int64_t grain, bool alone, const control& ctl, Work&& work) {
    std::atomic<std::int64_t> next{0};
    auto take = [&](int thread) {
      for (;;) {
        const auto from = next.fetch_add(grain, std::memory_order_relaxed);
        if (from >= size) return;
        try {
          ctl.check();
          work(thread, from, std::min(size, from + grain));
        } catch (...) {
          next.store(size, std::memory_order_relaxed);  // the others need not finish: the result is discarded
          throw;
        }
      }
    };
    if (alone) return take(0);
    data_ = &take;
    take_ = [](void* data, int thread) { (*static_cast<decltype(take)*>(data))(thread); };
    turn_.fetch_add(1);
    turn_.notify_all();
    error_.guard([&] { take(0); });
    turn_.fetch_add(1);
    while (inside_.load() != 0) std::this_thread::yield();
    error_.rethrow();
  }

 private:
  struct ending {
    shared_loops& loops;
    ~ending() {
      loops.over_.store(true);
      loops.turn_.fetch_add(2);
      loops.turn_.notify_all();
    }
  };

  void help(int thread) {
    for (int seen = 0; !over_.load();) {
      wait_for_change(seen);
      seen = turn_.load();
      if (seen % 2 == 0) continue;
      // Enter first, then check again. The thread that closes the loop uses the opposite order, so one of the two sees
      // the other.
      inside_.fetch_add(1);
      if (turn_.load() == seen) error_.guard([&] { take_(data_, thread); });
      inside_.fetch_sub(1);
    }
  }

  // The next loop often comes within microseconds, which is less than sleeping and waking up takes.
  void wait_for_change(int seen) const {
    constexpr int looks = 100;
    for (int i = 0; i < looks && turn_.load(std::memory_order_relaxed) == seen; ++i) std::this_thread::yield();
    turn_.wait(seen);
  }

  std::atomic<int> turn_{0};  // odd while a loop is open
  std::atomic<int> inside_{0};
  std::atomic<bool> over_{false};
  void* data_ = nullptr;
  void (*take_)(void*, int) = nullptr;
  first_exception error_;
};

}  // namespace graphlode
