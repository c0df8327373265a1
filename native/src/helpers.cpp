#include "graphlode/helpers.hpp"

#include <chrono>
#include <system_error>

#include "graphlode/parallel.hpp"

namespace graphlode {
namespace {

constexpr std::chrono::milliseconds longest_awake{1};

}  // namespace

helpers::~helpers() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  ++calls_;
  called_.notify_all();
  for (auto& thread : threads_) thread.join();
}

void helpers::run(int team, const std::function<void(int)>& work) {
  first_exception error;
  const std::function<void(int)> guarded = [&](int member) { error.guard([&] { work(member); }); };
  {
    const std::lock_guard lock(mutex_);
    try {
      while (static_cast<int>(threads_.size()) < team - 1) threads_.emplace_back([this] { help(); });
    } catch (const std::system_error&) {
      // The system has no more of them: those that are there will do.
    }
    work_ = &guarded, next_ = 1, team_ = team;
    wake_one();
  }
  ++calls_;
  guarded(0);
  {
    std::unique_lock lock(mutex_);
    team_ = 0;
    left_.wait(lock, [this] { return present_ == 0; });
    work_ = nullptr;
  }
  error.rethrow();
}

void helpers::help() {
  std::unique_lock lock(mutex_);
  for (;;) {
    wait_for_call(lock);
    if (closing_) return;
    const int member = next_++;
    const auto* work = work_;
    ++present_;
    wake_one();  // each wakes the next: the caller has better to do
    lock.unlock();
    (*work)(member);
    lock.lock();
    if (--present_ == 0) left_.notify_one();
  }
}

void helpers::wait_for_call(std::unique_lock<std::mutex>& lock) {
  if (has_call()) return;
  const auto heard = calls_.load();
  lock.unlock();
  const auto until = std::chrono::steady_clock::now() + longest_awake;
  while (calls_.load() == heard && std::chrono::steady_clock::now() < until) std::this_thread::yield();
  lock.lock();
  ++asleep_;
  called_.wait(lock, [this] { return has_call(); });
  --asleep_;
}

void helpers::wake_one() {
  if (asleep_ > 0 && next_ < team_) called_.notify_one();
}

}  // namespace graphlode
