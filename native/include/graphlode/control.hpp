// control.hpp - how a running kernel receives a stop request and reports progress.
//
// The caller owns two 64-bit words: word 0 becomes nonzero when the kernel should stop, word 1 counts finished units.
// Kernels read word 0 between chunks of work, so a stop takes effect within a fraction of a second.
#pragma once
#include <atomic>
#include <cstdint>
#include <exception>

namespace graphlode {

struct cancelled : std::exception {
  const char* what() const noexcept override { return "stopped by the caller"; }
};

class control {
 public:
  control() = default;
  explicit control(std::int64_t* words) : words_(words) {}

  bool stop_requested() const noexcept {
    return words_ && std::atomic_ref(words_[0]).load(std::memory_order_relaxed) != 0;
  }
  void check() const {
    if (stop_requested()) throw cancelled();
  }
  void advance(std::int64_t units) const noexcept {
    if (words_ && counts_) std::atomic_ref(words_[1]).fetch_add(units, std::memory_order_relaxed);
  }
  // For an intermediate step with units of its own: receives the same stop request but counts no progress.
  control without_progress() const noexcept {
    auto quiet = *this;
    quiet.counts_ = false;
    return quiet;
  }

 private:
  std::int64_t* words_ = nullptr;
  bool counts_ = true;
};

}  // namespace graphlode
