#include "graphlode/memory.hpp"

#include <sys/mman.h>

#include <atomic>
#include <cstdlib>
#include <new>

namespace graphlode {
namespace {

constexpr std::size_t cache_line = 64;
constexpr std::size_t huge_page = std::size_t{2} << 20;

std::atomic<std::int64_t> live{0};
std::atomic<std::int64_t> peak{0};
std::atomic<std::int64_t> countdown{0};  // 0: never fails

void count(std::size_t bytes) noexcept {
  const auto now =
      live.fetch_add(static_cast<std::int64_t>(bytes), std::memory_order_relaxed) + static_cast<std::int64_t>(bytes);
  auto seen = peak.load(std::memory_order_relaxed);
  while (seen < now && !peak.compare_exchange_weak(seen, now, std::memory_order_relaxed)) {
  }
}

bool must_fail() noexcept {
  if (countdown.load(std::memory_order_relaxed) == 0) return false;
  return countdown.fetch_sub(1, std::memory_order_relaxed) == 1;
}

}  // namespace

void* allocate(std::size_t bytes) {
  if (bytes > (std::size_t{1} << 62) || must_fail()) throw std::bad_alloc();
  const std::size_t alignment = bytes >= huge_page ? huge_page : cache_line;
  const std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
  void* memory = std::aligned_alloc(alignment, rounded ? rounded : alignment);
  if (!memory) throw std::bad_alloc();
  // A refusal of this advice costs only speed. The partial page at the end is excluded, because most of it may never be
  // used.
  if (bytes >= huge_page) madvise(memory, bytes / huge_page * huge_page, MADV_HUGEPAGE);
  count(bytes);
  return memory;
}

void release(void* memory, std::size_t bytes) noexcept {
  std::free(memory);
  live.fetch_sub(static_cast<std::int64_t>(bytes), std::memory_order_relaxed);
}

system_memory::system_memory(std::size_t bytes) : bytes_(bytes) {
  if (must_fail()) throw std::bad_alloc();
  const std::size_t wanted = bytes + huge_page;  // enough that a huge page can start inside
  void* const found = mmap(nullptr, wanted, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (found == MAP_FAILED) throw std::bad_alloc();
  auto* const begin = static_cast<std::byte*>(found);
  const std::size_t before = (huge_page - reinterpret_cast<std::uintptr_t>(begin) % huge_page) % huge_page;
  mapped_ = {begin, wanted};
  data_ = begin + before;
  madvise(data_, bytes / huge_page * huge_page, MADV_HUGEPAGE);  // as in `allocate`
  count(bytes);
}

system_memory::~system_memory() {
  munmap(mapped_.data(), mapped_.size());
  live.fetch_sub(static_cast<std::int64_t>(bytes_), std::memory_order_relaxed);
}

std::int64_t live_bytes() noexcept { return live.load(std::memory_order_relaxed); }
std::int64_t peak_bytes() noexcept { return peak.load(std::memory_order_relaxed); }
void reset_peak_bytes() noexcept { peak.store(live_bytes(), std::memory_order_relaxed); }
void fail_allocation(std::int64_t n) noexcept { countdown.store(n, std::memory_order_relaxed); }

}  // namespace graphlode
