// block_pool.hpp - blocks of one size with counted references, taken from slabs.
//
// The pages of a packed array, and the parts of its row index, are shared between the array and its versions. Versions
// die in any thread, so references are atomic and the free lists are behind a mutex. The counters lie together, apart
// from the blocks: a fork counts every block once more and should not read a cache line of each for it. A slab whose
// blocks are all free goes back to the system, except one that is kept so that small updates do not fetch and return
// one in turn; where many slabs are half empty, `gather` moves blocks together.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "graphlode/memory.hpp"

namespace graphlode::packed {

struct slab;

struct block_counter {
  std::atomic<std::int32_t> references{0};
  std::uint32_t index = 0;  // within the slab
  slab* owner = nullptr;
};

// One reference to a block; who holds it gives it back. Plain, so that arrays of it are copied and moved like numbers.
struct block {
  void* data = nullptr;
  block_counter* counter = nullptr;

  explicit operator bool() const noexcept { return data != nullptr; }
  // Nobody else holds it. Acquire: what the last other holder read happened before what we write.
  bool exclusive() const noexcept { return counter->references.load(std::memory_order_acquire) == 1; }
  void retain() const noexcept { counter->references.fetch_add(1, std::memory_order_relaxed); }
};

class block_pool {
 public:
  // `together`: blocks that are taken together lie together, as is good for those that are seldom given back.
  block_pool(std::size_t block_bytes, std::uint32_t most_per_slab, bool together);
  ~block_pool();
  block_pool(const block_pool&) = delete;
  block_pool& operator=(const block_pool&) = delete;

  // Fills `blocks` with exclusive, uninitialized blocks: all of them, or it throws std::bad_alloc and takes none.
  void take(std::span<block> blocks);
  // Gives one reference of each back; empty ones are passed over.
  void give_back(std::span<const block> blocks) noexcept;

  // If more than a 32nd of the pool is free, and more than a few blocks: moves up to `most` blocks that nobody else
  // holds out of the emptiest slabs. Little by little, so that no update pays for what many have left behind.
  void gather(std::span<block> blocks, std::size_t most) noexcept;

  std::int64_t bytes() const noexcept;   // of all slabs
  std::int64_t in_use() const noexcept;  // blocks with references

 private:
  void grow(std::size_t missing);
  block take_from(slab& from) noexcept;
  void free_block(block_counter& counter) noexcept;

  const std::size_t block_bytes_;
  const std::uint32_t most_per_slab_;
  const bool together_;
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<slab>> slabs_;
  std::size_t free_ = 0;
  std::size_t total_ = 0;
};

}  // namespace graphlode::packed
