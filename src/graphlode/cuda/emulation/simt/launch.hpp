// launch.hpp - distributes the blocks of a grid over OS threads; the C functions with which Python starts a kernel.
#pragma once
#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <thread>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "block.hpp"
#include "shared.hpp"

namespace simt {

// emulation/module.py has the same fields for both structs.
struct launch_request {
  unsigned grid[3];
  unsigned block[3];
  unsigned long long shared_bytes;
  unsigned threads;
};

struct parameter {
  char kind;         // p pointer, i signed, u unsigned, f floating point, c class
  unsigned size;     // bytes of the parameter
  unsigned pointee;  // bytes of the pointee of a pointer; 0: a class, or no pointer
};

// Stacks are expensive to create, so the runners of finished launches wait here for the next one. Only a few are kept:
// every compiled kernel of the process has such a pool, and a process may have only a limited number of memory
// mappings. For the same reason module.py empties the pools of kernels that have not been launched for a while.
constexpr std::size_t kept_runners = 2;

class runner_pool {
 public:
  std::unique_ptr<block_runner> take() {
    const std::lock_guard lock(mutex_);
    if (idle_.empty()) return std::make_unique<block_runner>();
    auto runner = std::move(idle_.back());
    idle_.pop_back();
    return runner;
  }
  void give_back(std::unique_ptr<block_runner> runner) {
    runner->trim();
    const std::lock_guard lock(mutex_);
    if (idle_.size() < kept_runners) idle_.push_back(std::move(runner));
  }

  void clear() {
    const std::lock_guard lock(mutex_);
    idle_.clear();
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<block_runner>> idle_;
};

inline runner_pool pool;

inline void run_blocks(launch_state& launch, void (*kernel)(void*), void* arguments) {
  auto runner = pool.take();
  const unsigned long long columns = launch.grid.x, rows = launch.grid.y, layers = launch.grid.z;
  while (!launch.stop) {
    const unsigned long long i = launch.next_block++;
    if (i >= columns * rows * layers) break;
    const uint3 block = {static_cast<unsigned>(i % columns), static_cast<unsigned>(i / columns % rows),
                         static_cast<unsigned>(i / (columns * rows))};
    if (!runner->run(launch, block, kernel, arguments)) break;
  }
  pool.give_back(std::move(runner));
}

inline int run_grid(const launch_request& request, void (*kernel)(void*), void* arguments, fault_report* report) {
  launch_state launch;
  launch.grid = {request.grid[0], request.grid[1], request.grid[2]};
  launch.block = {request.block[0], request.block[1], request.block[2]};
  launch.shared_bytes = request.shared_bytes;
  launch.report = report;
  // A thread without memory for its stacks ends the launch, because the block that it has drawn would be missing.
  std::atomic<bool> out_of_memory{false};
  const auto work = [&] {
    try {
      run_blocks(launch, kernel, arguments);
    } catch (const std::bad_alloc&) {
      out_of_memory = launch.stop = true;
    }
  };
  std::vector<std::jthread> helpers;
  try {
    for (unsigned i = 1; i < request.threads; ++i) helpers.emplace_back(work);
  } catch (const std::exception&) {
    // No more threads: the existing ones do the work.
  }
  work();
  helpers.clear();
  return report->happened ? 1 : out_of_memory ? -1 : 0;
}

template <class T>
parameter describe() {
  using Value = std::remove_cvref_t<T>;
  if constexpr (std::is_pointer_v<Value>) {
    using Pointee = std::remove_cv_t<std::remove_pointer_t<Value>>;
    if constexpr (std::is_arithmetic_v<Pointee>) return {'p', sizeof(Value), sizeof(Pointee)};
    return {'p', sizeof(Value), 0};
  } else {
    const char kind = std::is_floating_point_v<Value> ? 'f'
                      : !std::is_integral_v<Value>    ? 'c'
                      : std::is_signed_v<Value>       ? 'i'
                                                      : 'u';
    return {kind, sizeof(Value), 0};
  }
}

// Calls a kernel with arguments read through an array of pointers, with the types of its declaration.
template <class... Parameters>
struct entry {
  using kernel_type = void (*)(Parameters...);

  static int launch(kernel_type kernel, const launch_request& request, void** arguments, fault_report* report) {
    std::pair<kernel_type, void**> call{kernel, arguments};
    const auto body = [](void* context) {
      const auto& [function, values] = *static_cast<std::pair<kernel_type, void**>*>(context);
      invoke(function, values, std::index_sequence_for<Parameters...>());
    };
    return run_grid(request, body, &call, report);
  }

  static int parameters(parameter* out, int capacity) {
    const std::vector<parameter> all = {describe<Parameters>()...};
    for (int i = 0; i < capacity && i < static_cast<int>(all.size()); ++i) out[i] = all[static_cast<std::size_t>(i)];
    return static_cast<int>(all.size());
  }

 private:
  template <std::size_t... I>
  static void invoke(kernel_type function, void** values, std::index_sequence<I...>) {
    function(*static_cast<std::remove_cvref_t<Parameters>*>(values[I])...);
  }
};

template <class... Parameters>
entry<Parameters...> entry_of(void (*)(Parameters...));

}  // namespace simt

extern "C" __attribute__((visibility("default"))) void simt_release_stacks() { simt::pool.clear(); }

#define SIMT_ENTRY(KERNEL)                                                                                             \
  extern "C" __attribute__((visibility("default"))) int simt_launch_##KERNEL(                                          \
      const simt::launch_request* request, void** arguments, simt::fault_report* report) {                             \
    return decltype(simt::entry_of(KERNEL))::launch(KERNEL, *request, arguments, report);                              \
  }                                                                                                                    \
  extern "C" __attribute__((visibility("default"))) int simt_parameters_##KERNEL(simt::parameter* out, int capacity) { \
    return decltype(simt::entry_of(KERNEL))::parameters(out, capacity);                                                \
  }
