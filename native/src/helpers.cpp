#include "graphlode/helpers.hpp"

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <utility>

namespace graphlode {
namespace {

// A helper without work looks for the next call, since loops follow each other within microseconds and to wake a thread
// takes longer than many of them. It keeps its core for a moment only, then leaves it to any other thread.
constexpr std::chrono::microseconds awake_on_core{30};
constexpr std::chrono::microseconds awake_without_work{200};
// A thread that gave its core away for so long shares it. Asleep it is woken sooner than it gets its next turn.
constexpr std::chrono::microseconds yielded_core{20};
// The helper is about to finish, or it has lost its core and needs that of the caller.
constexpr std::chrono::microseconds awake_for_helpers{20};
constexpr std::size_t most_calls = 128;  // under way at a time; further callers work alone
constexpr std::uint32_t calls_between_attempts = 1024;
constexpr int most_parts = 0xffff;
constexpr int looks_per_clock = 16;
constexpr int most_woken = 2;  // by one thread: those that it wakes go on

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Not std::atomic::wait: that yields a few times before it sleeps, and a thread that yields on a busy core gets it back
// milliseconds later, while one that sleeps gets it as soon as it is woken.
void sleep_while(const std::atomic<std::uint32_t>& word, std::uint32_t value) {
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, value, nullptr, nullptr, 0);
}

void wake_sleepers(const std::atomic<std::uint32_t>& word, int most) {
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, most, nullptr, nullptr, 0);
}

struct core_set {
  cpu_set_t cores;
  bool known;

  core_set() : known(sched_getaffinity(0, sizeof cores, &cores) == 0) {}
  int size() const { return known ? CPU_COUNT(&cores) : 0; }
};

const core_set cores_at_load;

// Calls of run_parts that are under way have one of these each. They are never freed, so a helper may look at any.
struct alignas(64) call {
  std::atomic<bool> taken{false};
  std::atomic<bool> caller_sleeps{false};
  std::atomic<std::uint32_t> parts{0};     // next << 16 | end: open while next < end
  std::atomic<std::uint32_t> finished{0};  // parts, by helpers
  void* work = nullptr;
  void (*run)(void*, int) = nullptr;

  void open(int count, void* of, void (*with)(void*, int)) {
    work = of, run = with;
    finished.store(0, std::memory_order_relaxed);
    parts.store(1U << 16 | static_cast<std::uint32_t>(count), std::memory_order_release);
  }

  bool is_open() const {
    const auto seen = parts.load(std::memory_order_relaxed);
    return seen >> 16 < (seen & 0xffff);
  }

  // The next part, or -1. Who gets one may use `work` and `run` until it has counted it as finished.
  int claim() {
    auto seen = parts.load(std::memory_order_relaxed);
    while (seen >> 16 < (seen & 0xffff))
      if (parts.compare_exchange_weak(seen, seen + (1U << 16), std::memory_order_acquire, std::memory_order_relaxed))
        return static_cast<int>(seen >> 16);
    return -1;
  }

  // How many parts were claimed, of those that are not the caller's first.
  std::uint32_t close() { return (parts.exchange(0, std::memory_order_relaxed) >> 16) - 1; }

  void finish() {
    finished.fetch_add(1);
    if (caller_sleeps.load()) wake_sleepers(finished, 1);
  }

  void sleep_until_finished(std::uint32_t helped) {
    caller_sleeps.store(true);
    for (auto seen = finished.load(); seen != helped; seen = finished.load()) sleep_while(finished, seen);
    caller_sleeps.store(false, std::memory_order_relaxed);
  }
};

class crew {
 public:
  void run(int count, unclaimed_parts rest, void* work, void (*run_part)(void*, int));

 private:
  call* take_call();
  void grow(int parts);
  void begin_helper(int parts);
  void help(std::size_t first);
  bool help_somewhere(std::size_t first);
  bool any_open() const;
  void wait_for_call(std::uint32_t seen);
  void wake(int wanted);
  void wait_for_helpers(call& of, std::uint32_t helped) const;
  bool is_forked() const;

  std::array<call, most_calls> calls_;
  std::atomic<std::size_t> calls_used_{0};  // calls below this index were ever used
  alignas(64) std::atomic<std::uint32_t> opened_{0};
  std::atomic<int> awake_{0};               // helpers that look for a call
  std::atomic<int> asleep_{0};              // helpers that must be woken
  alignas(64) std::atomic<int> wanted_{0};  // helpers, by all calls under way
  std::atomic<int> num_helpers_{0};
  std::atomic<std::uint32_t> refused_at_{0};  // value of opened_ when the system refused a thread
  std::mutex growing_;
};

std::atomic<crew*> current{nullptr};

// The child has none of the threads, and its copy may be in any state: it is left as it is.
const int at_fork = pthread_atfork(nullptr, nullptr, [] { current.store(nullptr); });

crew& crew_of_process() {
  if (auto* known = current.load(std::memory_order_acquire)) return *known;
  auto* made = new crew;
  crew* before = nullptr;
  if (current.compare_exchange_strong(before, made)) return *made;
  delete made;
  return *before;
}

bool crew::is_forked() const { return current.load(std::memory_order_relaxed) != this; }

void crew::run(int count, unclaimed_parts rest, void* work, void (*run_part)(void*, int)) {
  call* const mine = count <= most_parts ? take_call() : nullptr;
  if (mine) {
    wanted_.fetch_add(count - 1, std::memory_order_relaxed);
    grow(count);
    mine->open(count, work, run_part);
    opened_.fetch_add(1);
    wake(count - 1);
  }
  run_part(work, 0);
  if (!mine) {
    for (int part = 1; part < count && rest == unclaimed_parts::done_by_caller; ++part) run_part(work, part);
    return;
  }
  std::uint32_t own = 0;
  if (rest == unclaimed_parts::done_by_caller)
    for (int part = mine->claim(); part >= 0; part = mine->claim(), ++own) run_part(work, part);
  const auto helped = mine->close() - own;
  wait_for_helpers(*mine, helped);
  wanted_.fetch_sub(count - 1, std::memory_order_relaxed);
  mine->taken.store(false, std::memory_order_release);
}

call* crew::take_call() {
  for (std::size_t i = 0; i < calls_.size(); ++i) {
    auto& taken = calls_[i].taken;
    if (taken.load(std::memory_order_relaxed) || taken.exchange(true, std::memory_order_acquire)) continue;
    auto used = calls_used_.load(std::memory_order_relaxed);
    while (used <= i && !calls_used_.compare_exchange_weak(used, i + 1)) {
    }
    return &calls_[i];
  }
  return nullptr;
}

// As many helpers as all calls under way want, but no more than there are cores or one call wants.
void crew::grow(int parts) {
  const auto enough = [&] {
    const int most = std::max(parts - 1, cores_at_load.size() - 1);
    return num_helpers_.load(std::memory_order_relaxed) >= std::min(wanted_.load(std::memory_order_relaxed), most);
  };
  if (enough()) return;
  const auto refused_at = refused_at_.load(std::memory_order_relaxed);
  if (refused_at != 0 && opened_.load(std::memory_order_relaxed) - refused_at < calls_between_attempts) return;
  const std::lock_guard lock(growing_);
  try {
    while (!enough()) begin_helper(parts);
  } catch (const std::exception&) {
    // The system has no more threads, or no memory for them: those that are there will do.
    refused_at_.store(std::max(opened_.load(std::memory_order_relaxed), 1U), std::memory_order_relaxed);
  }
}

// On the cores of the caller. A caller with fewer cores than it wants threads is bound to them for a while only.
void crew::begin_helper(int parts) {
  const auto number = static_cast<std::size_t>(num_helpers_.load(std::memory_order_relaxed));
  std::thread thread([this, number] { help(number); });
  num_helpers_.fetch_add(1, std::memory_order_relaxed);
  if (cores_at_load.known && core_set().size() < parts)
    pthread_setaffinity_np(thread.native_handle(), sizeof cores_at_load.cores, &cores_at_load.cores);
  thread.detach();
}

void crew::help(std::size_t first) {
  while (!is_forked()) {
    const auto seen = opened_.load();  // before looking: whatever is opened later changes it
    while (help_somewhere(first) && !is_forked()) {
    }
    wait_for_call(seen);
  }
}

// Helpers begin to look in different places, so that calls of different threads share them.
bool crew::help_somewhere(std::size_t first) {
  const auto used = calls_used_.load(std::memory_order_relaxed);
  for (std::size_t i = 0; i < used; ++i) {
    call& each = calls_[(first + i) % used];
    const int part = each.claim();
    if (part < 0) continue;
    if (any_open()) wake(most_woken);
    each.run(each.work, part);
    each.finish();
    return true;
  }
  return false;
}

bool crew::any_open() const {
  const auto used = calls_used_.load(std::memory_order_relaxed);
  return std::any_of(calls_.begin(), calls_.begin() + static_cast<std::ptrdiff_t>(used),
                     [](const call& each) { return each.is_open(); });
}

void crew::wait_for_call(std::uint32_t seen) {
  awake_.fetch_add(1);
  const auto begin = std::chrono::steady_clock::now();
  auto now = begin;
  for (bool is_alone = true; is_alone && now < begin + awake_without_work;) {
    for (int i = 0; i < looks_per_clock && opened_.load(std::memory_order_relaxed) == seen; ++i) pause();
    if (opened_.load(std::memory_order_relaxed) != seen) break;
    const bool may_yield = now > begin + awake_on_core;
    if (may_yield) std::this_thread::yield();
    const auto before = std::exchange(now, std::chrono::steady_clock::now());
    is_alone = !may_yield || now - before < yielded_core;
  }
  asleep_.fetch_add(1);
  awake_.fetch_sub(1);
  sleep_while(opened_, seen);
  asleep_.fetch_sub(1, std::memory_order_relaxed);
}

// Two callers may count on the same helper that is awake. So a helper that takes a part of one call looks for others.
void crew::wake(int wanted) {
  const int more = wanted - awake_.load();
  if (more > 0 && asleep_.load() > 0) wake_sleepers(opened_, std::min(more, most_woken));
}

void crew::wait_for_helpers(call& of, std::uint32_t helped) const {
  const auto is_finished = [&] { return of.finished.load(std::memory_order_acquire) == helped; };
  if (is_finished()) return;
  if (is_forked()) throw std::runtime_error("the process was forked during parallel work, which has lost its threads");
  const auto until = std::chrono::steady_clock::now() + awake_for_helpers;
  while (std::chrono::steady_clock::now() < until) {
    for (int i = 0; i < looks_per_clock; ++i, pause())
      if (is_finished()) return;
  }
  of.sleep_until_finished(helped);
}

}  // namespace

void run_parts(int parts, unclaimed_parts rest, void* work, void (*run)(void* work, int part)) {
  crew_of_process().run(parts, rest, work, run);
}

}  // namespace graphlode
