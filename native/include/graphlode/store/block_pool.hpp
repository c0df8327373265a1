// block_pool.hpp - reference-counted blocks of one size, taken from slabs.
//
// The pages of a packed array, and the parts of its row index, are shared between the array and its versions. Versions
// may end in any thread, so reference counts are atomic and the free lists are behind a mutex. The counters are stored
// together, apart from the blocks: a fork increments the count of every block and should not read a cache line of each
// block for that. A slab whose blocks are all free returns to the system. One such slab is kept, so that small updates
// do not take and return a slab in turn. If many slabs are half empty, `gather` moves blocks together.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "graphlode/fork_mutex.hpp"
#include "graphlode/memory.hpp"

namespace graphlode::packed {

struct slab;

struct block_counter {
  std::atomic<std::int32_t> references{0};
  std::uint32_t index = 0;  // within the slab
  slab* owner = nullptr;
};

// One reference to a block; its holder must give it back. A plain struct, so that arrays of it can be copied and moved
// like numbers.
struct block {
  void* data = nullptr;
  block_counter* counter = nullptr;

  explicit operator bool() const noexcept { return data != nullptr; }
  // Whether there is no other holder. Acquire: the last reads of other holders happen before our writes.
  bool exclusive() const noexcept { return counter->references.load(std::memory_order_acquire) == 1; }
  void retain() const noexcept { counter->references.fetch_add(1, std::memory_order_relaxed); }
};

class block_pool {
 public:
  // `together`: blocks that are taken together lie together, which is good for blocks that are rarely given back.
  block_pool(std::size_t block_bytes, std::uint32_t most_per_slab, bool together);
  ~block_pool();
  block_pool(const block_pool&) = delete;
  block_pool& operator=(const block_pool&) = delete;

  // Fills `blocks` with exclusive, uninitialized blocks. Takes all of them, or throws std::bad_alloc and takes none.
  void take(std::span<block> blocks);
  // Gives back one reference of each block. Empty ones are skipped.
  void give_back(std::span<const block> blocks) noexcept;

  // If more than a 32nd of the pool and more than a few blocks are free: moves up to `most` blocks without other
  // holders out of the emptiest slabs. Works in small steps, so that no single update pays for the gaps of many.
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
  mutable fork_mutex mutex_;
  std::vector<std::unique_ptr<slab>> slabs_;
  std::size_t free_ = 0;
  std::size_t total_ = 0;
};

}  // namespace graphlode::packed
