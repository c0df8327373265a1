// helpers.hpp - threads that wait until somebody needs a hand.
//
// Whoever has work in many parts begins at once and alone, and helpers join as they wake up. At the end only those are
// waited for that have come: one that wakes up late, since its core is busy with something else, costs nothing.
// OpenMP's threads must all arrive before anybody may leave, which takes milliseconds where cores are few or shared.
//
// They begin when they are first needed, but on the cores of the thread that made this object: whoever is first may be
// bound to one core for a while. After a fork the child has none, and begins with others.
#pragma once
#include <sched.h>
#include <sys/types.h>

#include <functional>
#include <memory>

namespace graphlode {

class helpers {
 public:
  helpers();
  ~helpers();
  helpers(const helpers&) = delete;
  helpers& operator=(const helpers&) = delete;

  // Calls work(0) here, and work(1) .. work(team - 1) on helpers, those that come before work(0) is over. One call at a
  // time. The first exception is thrown again when all have left.
  void run(int team, const std::function<void(int)>& work);

 private:
  class crew;

  bool is_forked() const;

  cpu_set_t cores_;
  bool knows_cores_;
  pid_t process_;  // that the crew belongs to
  std::unique_ptr<crew> crew_;
};

}  // namespace graphlode
