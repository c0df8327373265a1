// helpers_claims.cpp - what test_native_teams.py claims of parallel loops, tried in C++. The first argument is the
// claim.
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "graphlode/parallel.hpp"

using namespace graphlode;

namespace {

void require(bool claim, const char* what) {
  if (claim) return;
  std::fprintf(stderr, "%s\n", what);
  std::_Exit(1);
}

long sum_below(long n) { return n * (n - 1) / 2; }

// By parts that must all run once, and by chunks.
void require_sums(int threads, long n) {
  std::vector<long> sums(static_cast<std::size_t>(threads), 0), runs(sums);
  parallel_parts(n, threads, [&](int thread, long begin, long end) {
    ++runs[static_cast<std::size_t>(thread)];
    for (long i = begin; i < end; ++i) sums[static_cast<std::size_t>(thread)] += i;
  });
  for (const long count : runs) require(count == 1, "a part ran not once");
  require(std::accumulate(sums.begin(), sums.end(), 0L) == sum_below(n), "the parts are not everything");
  std::atomic<long> sum{0};
  parallel_chunks(0, n, 7, threads, control(), [&](int thread, long begin, long end) {
    require(thread >= 0 && thread < threads, "there is no such thread");
    for (long i = begin; i < end; ++i) sum += i;
  });
  require(sum == sum_below(n), "the chunks are not everything");
}

void from_many_threads(const std::function<void(int, int)>& work) {
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 8; ++caller)
    callers.emplace_back([&work, caller] {
      for (int round = 0; round < 300; ++round) work(caller, round);
    });
  for (auto& caller : callers) caller.join();
}

void many_callers() {
  from_many_threads([](int caller, int round) { require_sums(1 + (7 * round + caller) % 17, 100 + round); });
}

void nested() {
  from_many_threads([](int, int round) {
    if (round % 20 == 0) on_threads(4, [](int) { on_threads(3, [](int) { require_sums(5, 90); }); });
  });
}

void more_callers_than_places() {
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 300; ++caller)
    callers.emplace_back([] {
      on_threads(2, [](int) { std::this_thread::sleep_for(std::chrono::milliseconds(2)); });
      require_sums(3, 100);
    });
  for (auto& caller : callers) caller.join();
}

void exceptions() {
  from_many_threads([](int, int round) {
    try {
      on_threads(5, [&](int part) {
        if (part == round % 5) throw part;
      });
      require(false, "an exception was lost");
    } catch (int part) {
      require(part == round % 5, "another exception came");
    }
    require_sums(5, 100);
  });
}

void refused_threads() {
  long pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  rlimit before{};
  getrlimit(RLIMIT_AS, &before);
  rlimit limit = before;
  limit.rlim_cur = static_cast<rlim_t>(pages * sysconf(_SC_PAGESIZE) + (1 << 20));  // a stack needs more
  require(setrlimit(RLIMIT_AS, &limit) == 0, "no limit");
  bool refused = false;
  try {
    std::thread([] {}).join();
  } catch (const std::system_error&) {
    refused = true;
  }
  require(refused, "the limit does not keep threads from beginning");
  for (int i = 0; i < 3000; ++i) require_sums(4, 100);
  setrlimit(RLIMIT_AS, &before);
  std::atomic<bool> helped{false};
  const auto caller = std::this_thread::get_id();
  for (int i = 0; i < 3000 && !helped; ++i)
    on_threads(4, [&](int) {
      std::this_thread::sleep_for(std::chrono::microseconds(100));
      if (std::this_thread::get_id() != caller) helped = true;
    });
  require(helped, "no helper begins when the system has threads again");
}

void require_child(const char* what, pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  require(WIFEXITED(status) && WEXITSTATUS(status) == 0, what);
}

void fork_while_others_work() {
  std::atomic<bool> over{false};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 3; ++caller)
    callers.emplace_back([&] {
      while (!over) require_sums(4, 1000);
    });
  for (int round = 0; round < 40; ++round) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(20);
      for (int i = 0; i < 100; ++i) require_sums(4, 1000);
      std::_Exit(0);
    }
    require_child("a child has not done its work", child);
    require_sums(3, 100);
  }
  over = true;
  for (auto& caller : callers) caller.join();
}

// The child has lost the thread that had begun part 1: it must not wait for it.
void fork_inside_a_part() {
  std::atomic<bool> begun{false}, may_end{false};
  pid_t child = -1;
  try {
    on_threads(2, [&](int part) {
      if (part == 1) {
        begun = true;
        while (!may_end) std::this_thread::yield();
        return;
      }
      while (!begun) std::this_thread::yield();
      child = fork();
      if (child == 0) alarm(20);
      may_end = true;
    });
    require(child != 0, "the child has missed that a part is lost");
  } catch (const std::runtime_error&) {
    require(child == 0, "the parent has lost nothing");
    require_sums(4, 1000);
    std::_Exit(0);
  }
  require_child("the child has not noticed", child);
}

void exit_while_others_work() {
  std::thread([] {
    for (;;) require_sums(4, 1000);
  }).detach();
  require_sums(4, 1000);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  std::exit(0);
}

// A helper that has not come when the caller is done costs nothing, and its part is dropped.
void late_helpers() {
  for (int round = 0; round < 1000; ++round) {
    bool is_over = false;
    std::atomic<int> late{0};
    with_helpers(8, [&](int part) {
      if (part == 0) is_over = true;
      late += part < 0;
    });
    require(is_over && late == 0, "the caller has not done its own part");
  }
}

}  // namespace

int main(int count, char** arguments) {
  const std::map<std::string, void (*)()> claims{{"many_callers", many_callers},
                                                 {"nested", nested},
                                                 {"more_callers_than_places", more_callers_than_places},
                                                 {"exceptions", exceptions},
                                                 {"refused_threads", refused_threads},
                                                 {"fork_while_others_work", fork_while_others_work},
                                                 {"fork_inside_a_part", fork_inside_a_part},
                                                 {"exit_while_others_work", exit_while_others_work},
                                                 {"late_helpers", late_helpers}};
  alarm(100);
  const auto claim = claims.find(count > 1 ? arguments[1] : "");
  require(claim != claims.end(), "there is no such claim");
  claim->second();
}
