// memory.hpp - the one place where the core takes memory.
//
// Everything large goes through `buffer<T>`: uninitialized, 64-byte aligned, on huge pages when large (first touch of
// 4 KiB pages is a visible share of building a graph), freed when it leaves scope. The counters let benchmarks report
// the core's peak and let tests make the n-th allocation fail and then see that nothing is left behind.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

namespace graphlode {

void* allocate(std::size_t bytes);  // throws std::bad_alloc
void release(void* memory, std::size_t bytes) noexcept;

std::int64_t live_bytes() noexcept;
std::int64_t peak_bytes() noexcept;
void reset_peak_bytes() noexcept;
// The n-th allocation from now on fails (1 is the next one); 0 turns the failing off.
void fail_allocation(std::int64_t n) noexcept;

// Memory straight from the system, on huge pages where it fills them, and straight back: for what lives long. What
// comes from a heap may lie on small pages that somebody has used before, and may stay with the heap when it is
// released.
class system_memory {
 public:
  explicit system_memory(std::size_t bytes);  // throws std::bad_alloc
  ~system_memory();
  system_memory(const system_memory&) = delete;
  system_memory& operator=(const system_memory&) = delete;

  std::byte* data() const noexcept { return data_; }

 private:
  std::span<std::byte> mapped_;
  std::byte* data_ = nullptr;
  std::size_t bytes_;
};

template <class T>
class buffer {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  buffer() = default;
  explicit buffer(std::size_t size) : data_(static_cast<T*>(allocate(bytes_of(size)))), size_(size) {}
  buffer(std::size_t size, T value) : buffer(size) {
    for (std::size_t i = 0; i < size_; ++i) data_[i] = value;
  }
  buffer(buffer&& other) noexcept : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  buffer& operator=(buffer&& other) noexcept {
    if (this != &other) {
      reset();
      data_ = std::exchange(other.data_, nullptr);
      size_ = std::exchange(other.size_, 0);
    }
    return *this;
  }
  ~buffer() { reset(); }

  void reset() noexcept {
    if (data_) release(data_, size_ * sizeof(T));
    data_ = nullptr;
    size_ = 0;
  }
  void zero() noexcept {
    if (size_) std::memset(static_cast<void*>(data_), 0, size_ * sizeof(T));
  }

  T* data() noexcept { return data_; }
  const T* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return size_; }
  T& operator[](std::size_t i) noexcept { return data_[i]; }
  const T& operator[](std::size_t i) const noexcept { return data_[i]; }
  T* begin() noexcept { return data_; }
  T* end() noexcept { return data_ + size_; }
  const T* begin() const noexcept { return data_; }
  const T* end() const noexcept { return data_ + size_; }

 private:
  // Saturates, so that a size that leaves 64 bits is refused like any other that is too large.
  static std::size_t bytes_of(std::size_t size) noexcept {
    return size > SIZE_MAX / sizeof(T) ? SIZE_MAX : size * sizeof(T);
  }

  T* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace graphlode
