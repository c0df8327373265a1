#include "graphlode/helpers.hpp"

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "graphlode/parallel.hpp"

namespace graphlode {
namespace {

constexpr std::chrono::milliseconds longest_awake{1};

}  // namespace

// All that must be left as it is where threads are gone without having ended.
class helpers::crew {
 public:
  ~crew() {
    {
      const std::lock_guard lock(mutex_);
      closing_ = true;
    }
    ++calls_;
    called_.notify_all();
    for (auto& thread : threads_) thread.join();
  }

  void grow(int wanted, const cpu_set_t* cores) {
    try {
      while (static_cast<int>(threads_.size()) < wanted) {
        threads_.emplace_back([this] { help(); });
        if (cores) pthread_setaffinity_np(threads_.back().native_handle(), sizeof *cores, cores);  // or as they are
      }
    } catch (const std::system_error&) {
      // The system has no more of them: those that are there will do.
    }
  }

  void run(int team, const std::function<void(int)>& work) {
    {
      const std::lock_guard lock(mutex_);
      work_ = &work, next_ = 1, team_ = team;
      wake_one();
    }
    ++calls_;
    work(0);
    std::unique_lock lock(mutex_);
    team_ = 0;
    left_.wait(lock, [this] { return present_ == 0; });
    work_ = nullptr;
  }

 private:
  void help() {
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

  // For a moment awake, since calls often follow each other, but leaving the core to any other thread; then asleep.
  void wait_for_call(std::unique_lock<std::mutex>& lock) {
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

  bool has_call() const { return closing_ || next_ < team_; }

  void wake_one() {
    if (asleep_ > 0 && next_ < team_) called_.notify_one();
  }

  std::mutex mutex_;
  std::condition_variable called_;
  std::condition_variable left_;
  std::vector<std::thread> threads_;
  const std::function<void(int)>* work_ = nullptr;  // which throws nothing
  int next_ = 0;                                    // member to come
  int team_ = 0;                                    // members that may come
  int present_ = 0;
  int asleep_ = 0;
  bool closing_ = false;
  std::atomic<std::uint64_t> calls_{0};
};

helpers::helpers()
    : knows_cores_(sched_getaffinity(0, sizeof cores_, &cores_) == 0),
      process_(getpid()),
      crew_(std::make_unique<crew>()) {}

helpers::~helpers() {
  if (is_forked()) static_cast<void>(crew_.release());  // its threads cannot be waited for, nor its locks be trusted
}

void helpers::run(int team, const std::function<void(int)>& work) {
  if (is_forked()) {
    static_cast<void>(crew_.release());
    crew_ = std::make_unique<crew>();
    process_ = getpid();
  }
  crew_->grow(team - 1, knows_cores_ ? &cores_ : nullptr);
  first_exception error;
  crew_->run(team, [&](int member) { error.guard([&] { work(member); }); });
  error.rethrow();
}

bool helpers::is_forked() const { return getpid() != process_; }

}  // namespace graphlode
