// fork_mutex.hpp - a mutex that no thread holds while the process forks.
//
// A forked child has none of the other threads: a mutex that one of them held would be held forever, and what it
// guards would be half changed. So fork() takes all mutexes of this kind first, and parent and child release them. They
// must be held for a short time only, and no thread may lock one while it holds another, or ask for the GIL.
#pragma once
#include <mutex>

namespace graphlode {

class fork_mutex {
 public:
  fork_mutex();
  ~fork_mutex();
  fork_mutex(const fork_mutex&) = delete;
  fork_mutex& operator=(const fork_mutex&) = delete;

  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }

 private:
  friend class fork_registry;

  std::mutex mutex_;
  fork_mutex* before_ = nullptr;
  fork_mutex* after_ = nullptr;
};

}  // namespace graphlode
