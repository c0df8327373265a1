// block.hpp - runs the threads of one block as fibers of one OS thread, and lets them meet.
//
// A fiber runs until it has to wait for others (a warp collective, a block barrier) or ends; then the next ready fiber
// continues. Whoever arrives last at a meeting computes everybody's result and makes the others ready. If nobody is
// ready and somebody still waits, the kernel can never finish: that is reported, as is every misuse that a
// GPU would answer with a hang or with undefined values. After a fault the fibers of the block are simply abandoned.
#pragma once
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "fault.hpp"
#include "fiber.hpp"

namespace simt {

constexpr unsigned warp_size = 32;
constexpr unsigned char poison = 0xCD;
constexpr std::size_t kept_fibers = 256;  // stacks kept between launches; each costs two memory mappings of the process

enum class operation : unsigned char {
  none,
  syncthreads,
  syncthreads_count,
  syncthreads_and,
  syncthreads_or,
  syncwarp,
  ballot,
  any,
  all,
  shfl,
  shfl_up,
  shfl_down,
  shfl_xor,
  reduce_add,
  reduce_min,
  reduce_max,
  reduce_and,
  reduce_or,
  reduce_xor,
  match_any,
};

inline const char* name(operation op) {
  static constexpr const char* names[] = {
      "nothing",           "__syncthreads",     "__syncthreads_count", "__syncthreads_and", "__syncthreads_or",
      "__syncwarp",        "__ballot_sync",     "__any_sync",          "__all_sync",        "__shfl_sync",
      "__shfl_up_sync",    "__shfl_down_sync",  "__shfl_xor_sync",     "__reduce_add_sync", "__reduce_min_sync",
      "__reduce_max_sync", "__reduce_and_sync", "__reduce_or_sync",    "__reduce_xor_sync", "__match_any_sync",
  };
  return names[static_cast<unsigned>(op)];
}

struct fiber {
  context suspended;
  stack memory;
  uint3 index{};
  unsigned linear = 0;
  bool done = false;
  operation waits_in = operation::none;
  site waits_at{};

  unsigned lane() const { return linear % warp_size; }
  unsigned lane_bit() const { return 1u << lane(); }
};

// What a lane brought to a meeting and what it takes away. Results are stored per lane, because a lane may reach its
// next meeting before its neighbors have picked up what they got from this one.
struct lane_state {
  std::uint64_t value = 0;
  std::uint64_t result = 0;
  int argument = 0;
  unsigned mask = 0;
  unsigned group = 0;  // index of the meeting it waits in, valid while it waits
};

// Lanes with the same mask that wait for the rest of that mask.
struct meeting {
  unsigned arrived = 0;
  operation op = operation::none;
  site where{};
};

struct warp_state {
  lane_state lanes[warp_size];
  meeting meetings[warp_size];  // numbered by the lane that came first
  unsigned existing = 0, waiting = 0, exited = 0;
};

class block_runner {
 public:
  block_runner() = default;
  block_runner(const block_runner&) = delete;

  // Runs one block to its end; false after a fault.
  bool run(launch_state& launch, uint3 block, void (*kernel)(void*), void* arguments);

  // Drops what only unusually large blocks need.
  void trim() {
    if (fibers_.size() > kept_fibers) fibers_.resize(kept_fibers);
  }

  fiber& current() const { return *current_; }
  uint3 block_index() const { return block_; }
  const launch_state& launch() const { return *launch_; }
  char* dynamic_shared() const { return dynamic_shared_.get(); }

  // The lanes of `mask` meet. `resolve(warp, mask)` is run once, by the last to arrive, and sets each lane's result.
  template <class Resolve>
  std::uint64_t meet(operation op, unsigned mask, std::uint64_t value, int argument, site where, Resolve resolve);

  // All threads of the block meet; the number of them that brought a true predicate.
  unsigned barrier(operation op, bool predicate, site where);

  [[noreturn, gnu::noinline, gnu::cold, gnu::format(printf, 2, 3)]] void fault(const char* format, ...);
  void finish_fiber();

 private:
  void prepare(unsigned num_threads);
  void park(operation op, site where);
  void wake(fiber& sleeper);
  void continue_next();
  unsigned join(warp_state& warp, unsigned mask, operation op, site where);
  [[noreturn, gnu::noinline, gnu::cold]] void report_deadlock();
  [[noreturn, gnu::noinline, gnu::cold]] void report_exit(const fiber& gone, const fiber& waits);

  launch_state* launch_ = nullptr;
  uint3 block_{};
  void (*kernel_)(void*) = nullptr;
  void* arguments_ = nullptr;

  std::vector<fiber> fibers_;
  std::vector<warp_state> warps_;
  std::vector<unsigned> ready_;  // ring buffer: every fiber is in it at most once
  unsigned ready_head_ = 0, ready_size_ = 0;
  unsigned num_threads_ = 0, num_done_ = 0;
  fiber* current_ = nullptr;
  context scheduler_;
  bool faulted_ = false;

  unsigned barrier_arrived_ = 0, barrier_count_ = 0, barrier_result_ = 0;
  operation barrier_op_ = operation::none;
  site barrier_site_{};

  struct free_memory {
    void operator()(char* memory) const { std::free(memory); }
  };
  std::unique_ptr<char, free_memory> dynamic_shared_;
  std::size_t dynamic_capacity_ = 0;

  friend void fiber_main();
};

// The block that this OS thread runs. Everything else that is thread-local in a compiled kernel is static shared
// memory.
static thread_local constinit block_runner* active = nullptr;

void poison_static_shared();

inline void fiber_main() {
  active->kernel_(active->arguments_);
  active->finish_fiber();
}

inline void block_runner::prepare(unsigned num_threads) {
  num_threads_ = num_threads;
  num_done_ = 0;
  faulted_ = false;
  barrier_arrived_ = barrier_count_ = 0;
  if (fibers_.size() < num_threads) fibers_.resize(num_threads);
  ready_.resize(num_threads);
  warps_.resize((num_threads + warp_size - 1) / warp_size);
  for (unsigned w = 0; w < warps_.size(); ++w) {
    const unsigned lanes = num_threads - w * warp_size;
    warps_[w].existing = lanes >= warp_size ? ~0u : (1u << lanes) - 1;
    warps_[w].waiting = warps_[w].exited = 0;
  }
  const dim3 shape = launch_->block;
  for (unsigned i = 0; i < num_threads; ++i) {
    fiber& thread = fibers_[i];
    thread.linear = i;
    thread.index = {i % shape.x, i / shape.x % shape.y, i / (shape.x * shape.y)};
    thread.done = false;
    thread.waits_in = operation::none;
    thread.suspended.start(thread.memory, i, fiber_main);
    ready_[i] = i;
  }
  ready_head_ = 0;
  ready_size_ = num_threads;
  if (dynamic_capacity_ < launch_->shared_bytes) {
    dynamic_capacity_ = (launch_->shared_bytes + 127) / 128 * 128;
    dynamic_shared_.reset(static_cast<char*>(std::aligned_alloc(128, dynamic_capacity_)));
    if (!dynamic_shared_) throw std::bad_alloc();
  }
  if (dynamic_capacity_) std::memset(dynamic_shared_.get(), poison, dynamic_capacity_);
}

inline bool block_runner::run(launch_state& launch, uint3 block, void (*kernel)(void*), void* arguments) {
  launch_ = &launch;
  block_ = block;
  kernel_ = kernel;
  arguments_ = arguments;
  active = this;
  prepare(launch.block.x * launch.block.y * launch.block.z);
  poison_static_shared();
  current_ = &fibers_[ready_[0]];
  ready_head_ = 1 % num_threads_;
  --ready_size_;
  scheduler_.switch_to(current_->suspended);
  active = nullptr;
  return !faulted_;
}

inline void block_runner::wake(fiber& sleeper) {
  sleeper.waits_in = operation::none;
  unsigned at = ready_head_ + ready_size_++;
  if (at >= num_threads_) at -= num_threads_;
  ready_[at] = sleeper.linear;
}

[[gnu::always_inline]] inline void block_runner::continue_next() {
  fiber& from = *current_;
  current_ = &fibers_[ready_[ready_head_]];
  if (++ready_head_ == num_threads_) ready_head_ = 0;
  --ready_size_;
  from.suspended.switch_to(current_->suspended);
}

[[gnu::always_inline]] inline void block_runner::park(operation op, site where) {
  current_->waits_in = op;
  current_->waits_at = where;
  if (ready_size_ == 0) report_deadlock();
  continue_next();
}

inline void block_runner::finish_fiber() {
  fiber& me = *current_;
  warp_state& warp = warps_[me.linear / warp_size];
  me.done = true;
  ++num_done_;
  warp.exited |= me.lane_bit();
  for (unsigned left = warp.waiting; left; left &= left - 1) {
    const unsigned lane = static_cast<unsigned>(std::countr_zero(left));
    if (warp.lanes[lane].mask & me.lane_bit()) report_exit(me, fibers_[me.linear - me.lane() + lane]);
  }
  if (barrier_arrived_) {
    for (const fiber& other : fibers_) {
      if (other.linear < num_threads_ && !other.done && other.waits_in == barrier_op_) report_exit(me, other);
    }
  }
  if (ready_size_) continue_next();
  if (num_done_ != num_threads_) report_deadlock();
  me.suspended.switch_to(scheduler_);
}

// The meeting of lanes with this mask that the current fiber joins; faults if those who wait already do something else.
inline unsigned block_runner::join(warp_state& warp, unsigned mask, operation op, site where) {
  fiber& me = *current_;
  if (!(mask & me.lane_bit()))
    fault("%s(0x%08x) at %s:%u: the mask does not name the calling lane", name(op), mask, where.file, where.line);
  mask &= warp.existing;
  if (mask & warp.exited) {
    fault("%s(0x%08x) at %s:%u: the mask names lane %d, which has left the kernel", name(op), mask, where.file,
          where.line, std::countr_zero(mask & warp.exited));
  }
  unsigned group = me.lane();
  for (unsigned left = mask & warp.waiting; left; left &= left - 1) {
    const unsigned lane = static_cast<unsigned>(std::countr_zero(left));
    const lane_state& other = warp.lanes[lane];
    if (other.mask == mask) {
      group = other.group;
      break;
    }
    // A lane that waits for others first may come to this meeting later; one that waits for us never will.
    if (other.mask & me.lane_bit()) {
      const fiber& waits = fibers_[me.linear - me.lane() + lane];
      fault("%s(0x%08x) at %s:%u: lane %u waits for this lane in %s(0x%08x) at %s:%u: the masks differ", name(op), mask,
            where.file, where.line, lane, name(waits.waits_in), other.mask, waits.waits_at.file, waits.waits_at.line);
    }
  }
  meeting& met = warp.meetings[group];
  if (group == me.lane()) {
    met = {0, op, where};
  } else if (met.op != op || (op != operation::syncwarp && met.where.line != where.line)) {
    fault("%s(0x%08x) at %s:%u: other lanes of the mask wait in %s at %s:%u", name(op), mask, where.file, where.line,
          name(met.op), met.where.file, met.where.line);
  }
  met.arrived |= me.lane_bit();
  return group;
}

template <class Resolve>
[[gnu::always_inline]] inline std::uint64_t block_runner::meet(operation op, unsigned mask, std::uint64_t value,
                                                               int argument, site where, Resolve resolve) {
  fiber& me = *current_;
  warp_state& warp = warps_[me.linear / warp_size];
  const unsigned group = join(warp, mask, op, where);
  mask &= warp.existing;
  lane_state& mine = warp.lanes[me.lane()];
  mine.value = value;
  mine.argument = argument;
  mine.mask = mask;
  mine.group = group;
  if (warp.meetings[group].arrived != mask) {
    warp.waiting |= me.lane_bit();
    park(op, where);
    return mine.result;
  }
  resolve(warp, mask);
  const unsigned others = mask & ~me.lane_bit();
  warp.waiting &= ~others;
  for (unsigned left = others; left; left &= left - 1) {
    wake(fibers_[me.linear - me.lane() + static_cast<unsigned>(std::countr_zero(left))]);
  }
  return mine.result;
}

inline unsigned block_runner::barrier(operation op, bool predicate, site where) {
  if (num_done_) {
    fault("%s at %s:%u: %u of the block's %u threads have left the kernel and will never arrive", name(op), where.file,
          where.line, num_done_, num_threads_);
  }
  if (barrier_arrived_ == 0) {
    barrier_op_ = op;
    barrier_site_ = where;
  } else if (barrier_op_ != op || barrier_site_.line != where.line) {
    fault("%s at %s:%u: other threads of the block wait in %s at %s:%u", name(op), where.file, where.line,
          name(barrier_op_), barrier_site_.file, barrier_site_.line);
  }
  barrier_count_ += predicate;
  if (++barrier_arrived_ < num_threads_) {
    park(op, where);
    return barrier_result_;
  }
  barrier_result_ = barrier_count_;
  barrier_arrived_ = barrier_count_ = 0;
  for (unsigned i = 0; i < num_threads_; ++i) {
    if (i != current_->linear) wake(fibers_[i]);
  }
  return barrier_result_;
}

inline void block_runner::fault(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  launch_->fault(block_, current_->index, format, arguments);
  va_end(arguments);
  faulted_ = true;
  current_->suspended.switch_to(scheduler_);
  __builtin_unreachable();
}

inline void block_runner::report_exit(const fiber& gone, const fiber& waits) {
  fault("the thread left the kernel while thread (%u, %u, %u) waits for it in %s at %s:%u", waits.index.x,
        waits.index.y, waits.index.z, name(waits.waits_in), waits.waits_at.file, waits.waits_at.line);
  (void)gone;
}

// Names one waiting thread and, if there is one, another that waits somewhere else.
inline void block_runner::report_deadlock() {
  fiber* first = nullptr;
  for (unsigned i = 0; i < num_threads_; ++i) {
    fiber& thread = fibers_[i];
    if (thread.done || thread.waits_in == operation::none) continue;
    if (!first) {
      first = &thread;
    } else if (thread.waits_in != first->waits_in || thread.waits_at.line != first->waits_at.line) {
      fiber& second = thread;
      current_ = first;
      fault("deadlock: waits in %s at %s:%u, while thread (%u, %u, %u) waits in %s at %s:%u", name(first->waits_in),
            first->waits_at.file, first->waits_at.line, second.index.x, second.index.y, second.index.z,
            name(second.waits_in), second.waits_at.file, second.waits_at.line);
    }
  }
  current_ = first;
  fault("deadlock: waits in %s at %s:%u for lanes that never arrive", name(first->waits_in), first->waits_at.file,
        first->waits_at.line);
}

}  // namespace simt
