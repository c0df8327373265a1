// parallel.hpp - parallel loops that may throw and may be stopped.
//
// The first exception of any thread is kept and thrown again on the caller's when all have left, and the other threads
// stop at their next chunk.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>

#include "graphlode/control.hpp"
#include "graphlode/helpers.hpp"

namespace graphlode {

// The first exception of several threads. A cancellation counts only if there is no other exception: a failing thread
// stops the others, and these may report their cancellation first.
class first_exception {
 public:
  template <class Work>
  void guard(Work&& work) noexcept {
    if (raised()) return;
    try {
      work();
    } catch (const cancelled&) {
      stopped_.store(true, std::memory_order_relaxed);
    } catch (...) {
      if (!claimed_.test_and_set()) {
        error_ = std::current_exception();
        failed_.store(true, std::memory_order_release);
      }
    }
  }
  bool raised() const noexcept {
    return failed_.load(std::memory_order_relaxed) || stopped_.load(std::memory_order_relaxed);
  }
  // When all threads are done.
  void rethrow() const {
    if (failed_.load(std::memory_order_acquire)) std::rethrow_exception(error_);
    if (stopped_.load(std::memory_order_relaxed)) throw cancelled();
  }

 private:
  std::atomic_flag claimed_;
  std::atomic<bool> failed_{false}, stopped_{false};
  std::exception_ptr error_;
};

// The number of threads worth waking for this number of steps of a few nanoseconds each.
inline int worthwhile_threads(std::int64_t steps, int threads) {
  constexpr std::int64_t steps_per_thread = 1 << 14;
  return static_cast<int>(std::clamp<std::int64_t>(steps / steps_per_thread, 1, threads));
}

template <class Work>
void run_guarded(int threads, unclaimed_parts rest, Work& work) {
  if (threads <= 1) return work(0);
  struct shared {
    Work& work;
    first_exception error;
  } all{work, {}};
  run_parts(threads, rest, &all, [](void* data, int thread) {
    auto& [each, error] = *static_cast<shared*>(data);
    error.guard([&] { each(thread); });
  });
  all.error.rethrow();
}

// Runs work(thread) once for each thread in 0 .. threads - 1, several of them one after the other where fewer threads
// are free. So none may wait for another that has perhaps not begun.
template <class Work>
void on_threads(int threads, Work&& work) {
  run_guarded(threads, unclaimed_parts::done_by_caller, work);
}

// Runs work(0) on this thread, and work(1) .. work(threads - 1) on helpers that join before it ends. For work from a
// shared queue: when work(0) finds the queue empty, no other thread needs to begin.
template <class Work>
void with_helpers(int threads, Work&& work) {
  run_guarded(threads, unclaimed_parts::dropped, work);
}

// Calls work(thread, begin, end) for chunks of `grain` units of [begin, end), handed out dynamically.
template <class Work>
void parallel_chunks(std::int64_t begin, std::int64_t end, std::int64_t grain, int threads, const control& ctl,
                     Work&& work) {
  grain = std::max<std::int64_t>(grain, 1);
  std::atomic<std::int64_t> next{begin};
  const auto chunks = (end - begin) / grain + ((end - begin) % grain != 0);
  with_helpers(static_cast<int>(std::min<std::int64_t>(threads, chunks)), [&](int thread) {
    for (;;) {
      const auto from = next.fetch_add(grain, std::memory_order_relaxed);
      if (from >= end) return;
      if (ctl.stop_requested()) {
        next.store(end, std::memory_order_relaxed);
        throw cancelled();
      }
      try {
        work(thread, from, std::min(end, from + grain));
      } catch (...) {
        next.store(end, std::memory_order_relaxed);  // the result is discarded: the others need not finish
        throw;
      }
    }
  });
}

// Calls work(thread, begin, end) once per thread with even, contiguous parts of [0, size): the same part for the same
// thread in every call with the same arguments, so that a histogram and the scatter after it agree.
template <class Work>
void parallel_parts(std::int64_t size, int threads, Work&& work) {
  on_threads(threads, [&](int thread) { work(thread, size * thread / threads, size * (thread + 1) / threads); });
}

}  // namespace graphlode
