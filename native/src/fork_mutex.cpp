// fork_mutex.cpp - the list of all mutexes that fork() takes. See fork_mutex.hpp.
#include "graphlode/fork_mutex.hpp"

#include <pthread.h>

namespace graphlode {

class fork_registry {
 public:
  void add(fork_mutex& mutex) {
    const std::lock_guard lock(changing_);
    mutex.after_ = first_;
    if (first_) first_->before_ = &mutex;
    first_ = &mutex;
  }

  void remove(fork_mutex& mutex) {
    const std::lock_guard lock(changing_);
    (mutex.before_ ? mutex.before_->after_ : first_) = mutex.after_;
    if (mutex.after_) mutex.after_->before_ = mutex.before_;
  }

  void lock_all() {
    changing_.lock();
    for (auto* each = first_; each; each = each->after_) each->lock();
  }

  void unlock_all() {
    for (auto* each = first_; each; each = each->after_) each->unlock();
    changing_.unlock();
  }

 private:
  std::mutex changing_;
  fork_mutex* first_ = nullptr;
};

namespace {

// Never destroyed: objects with mutexes may outlive the static ones of this file.
fork_registry& registry() {
  static auto& made = *[] {
    auto* const all = new fork_registry;
    pthread_atfork([] { registry().lock_all(); }, [] { registry().unlock_all(); }, [] { registry().unlock_all(); });
    return all;
  }();
  return made;
}

}  // namespace

fork_mutex::fork_mutex() { registry().add(*this); }
fork_mutex::~fork_mutex() { registry().remove(*this); }

}  // namespace graphlode
