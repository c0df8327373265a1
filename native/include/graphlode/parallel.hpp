// parallel.hpp - OpenMP loops that may throw and may be stopped.
//
// An exception must not leave an OpenMP region, so the first one is kept and thrown again after the region, and the
// other threads stop at their next chunk.
#pragma once
#include <omp.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>

#include "graphlode/control.hpp"

namespace graphlode {

// The first exception of several threads. One that was told to stop counts only if nothing else happened: where a
// thread fails, it is that which makes the others stop, and they may be the first to say so.
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

// How many threads are worth waking for so many steps of a few nanoseconds each.
inline int worthwhile_threads(std::int64_t steps, int threads) {
  constexpr std::int64_t steps_per_thread = 1 << 14;
  return static_cast<int>(std::clamp<std::int64_t>(steps / steps_per_thread, 1, threads));
}

// How many threads a caller's team has. OpenMP ends those that a smaller team leaves over and starts them anew for the
// next larger one, which takes longer than most loops do. So a team stays as large as any of the last loops wanted it,
// and somewhat longer if all want fewer from now on; who is not wanted this time has nothing to do.
class lasting_team {
 public:
  int size_for(int threads) noexcept {
    recently_ = std::max(recently_, threads);
    if (threads > size_ || ++loops_ == loops_remembered) {
      size_ = recently_;
      recently_ = threads;
      loops_ = 0;
    }
    return size_;
  }

 private:
  static constexpr int loops_remembered = 256;
  int size_ = 0, recently_ = 0, loops_ = 0;
};

inline lasting_team& team_of_caller() {
  thread_local lasting_team team;
  return team;
}

// Runs work(thread) once for each thread in 0 .. threads - 1. OpenMP may grant fewer threads than asked for (a thread
// limit, nesting): those that came then run the work of the others, too, so that no part is left out.
template <class Work>
void on_threads(int threads, Work&& work) {
  if (threads <= 1) return work(0);
  first_exception error;
#pragma omp parallel num_threads(team_of_caller().size_for(threads))
  for (int thread = omp_get_thread_num(); thread < threads; thread += omp_get_num_threads())
    error.guard([&] { work(thread); });
  error.rethrow();
}

// Calls work(thread, begin, end) for chunks of `grain` units of [begin, end), handed out dynamically.
template <class Work>
void parallel_chunks(std::int64_t begin, std::int64_t end, std::int64_t grain, int threads, const control& ctl,
                     Work&& work) {
  grain = std::max<std::int64_t>(grain, 1);
  std::atomic<std::int64_t> next{begin};
  on_threads(end - begin <= grain ? 1 : threads, [&](int thread) {
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
        next.store(end, std::memory_order_relaxed);  // the others need not finish what nobody will see
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
