// helpers.hpp - the threads of the process that help in parallel work.
//
// A caller opens a call of several parts, begins with part 0 and takes further parts as long as there are any. Helpers
// that are awake take parts, too. The caller waits only for helpers that have begun a part. A helper that wakes up
// late, because its core is busy with something else, finds the call closed and costs nothing. OpenMP has no such
// calls: all threads of a team must arrive before any may leave, and libgomp's threads spin until then. See
// docs/decisions/threads-of-our-own.md.
//
// Any number of threads may call at the same time, and a part may call again. Parts must not wait for parts that have
// not begun: there may be no thread to begin them. A forked child starts with no helpers and begins new ones when it
// calls. Helpers are never ended: they sleep when the process exits.
#pragma once

namespace graphlode {

// What happens to parts that no helper has begun when the caller has done part 0.
enum class unclaimed_parts { done_by_caller, dropped };

// Calls run(work, part) for the parts 0 .. parts - 1, each at most once; part 0 on this thread. `run` must not throw.
// Throws if the process was forked meanwhile and parts are lost with the threads that had begun them.
void run_parts(int parts, unclaimed_parts rest, void* work, void (*run)(void* work, int part));

}  // namespace graphlode
