// helpers.hpp - threads that wait until somebody needs a hand.
//
// Whoever has work in many parts begins at once and alone, and helpers join as they wake up. At the end only those are
// waited for that have come: one that wakes up late, since its core is busy with something else, costs nothing.
// OpenMP's threads must all arrive before anybody may leave, which takes milliseconds where cores are few or shared.
#pragma once
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace graphlode {

class helpers {
 public:
  helpers() = default;
  ~helpers();
  helpers(const helpers&) = delete;
  helpers& operator=(const helpers&) = delete;

  // Calls work(0) here, and work(1) .. work(team - 1) on helpers, those that come before work(0) is over. One call at a
  // time. The first exception is thrown again when all have left.
  void run(int team, const std::function<void(int)>& work);

 private:
  void help();
  // For a moment awake, since calls often follow each other, but leaving the core to any other thread; then asleep.
  void wait_for_call(std::unique_lock<std::mutex>& lock);
  bool has_call() const { return closing_ || next_ < team_; }
  void wake_one();

  std::mutex mutex_;
  std::condition_variable called_;
  std::condition_variable left_;
  std::vector<std::thread> threads_;
  const std::function<void(int)>* work_ = nullptr;
  int next_ = 0;  // member to come
  int team_ = 0;  // members that may come
  int present_ = 0;
  int asleep_ = 0;
  bool closing_ = false;
  std::atomic<std::uint64_t> calls_{0};
};

}  // namespace graphlode
