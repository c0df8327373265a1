// store/pool.cpp - slabs of blocks. See store/block_pool.hpp.
#include <algorithm>
#include <cstring>
#include <optional>

#include "graphlode/store/block_pool.hpp"

namespace graphlode::packed {

// Blocks and their counters. The free blocks are a stack of indices.
struct slab {
  slab(std::uint32_t size, std::size_t block_bytes) : counters(std::make_unique<block_counter[]>(size)), free(size) {
    if (size * block_bytes < large_slab) {
      small = buffer<std::byte>(size * block_bytes);
    } else {
      large.emplace(size * block_bytes);
    }
    for (std::uint32_t i = 0; i < size; ++i) {
      counters[i].index = i;
      counters[i].owner = this;
      free[i] = size - 1 - i;
    }
    num_free = size;
  }
  bool unused() const noexcept { return num_free == free.size(); }

  std::unique_ptr<block_counter[]> counters;
  std::vector<std::uint32_t> free;
  std::size_t num_free;
  bool leaving = false;  // it is being emptied

  std::byte* blocks() noexcept { return large ? large->data() : small.data(); }

 private:
  static constexpr std::size_t large_slab = 2 << 20;
  buffer<std::byte> small;  // one of the two is used
  std::optional<system_memory> large;
};

block_pool::block_pool(std::size_t block_bytes, std::uint32_t most_per_slab, bool together)
    : block_bytes_(block_bytes), most_per_slab_(most_per_slab), together_(together) {}

block_pool::~block_pool() = default;

// Slabs grow with the pool, up to the maximum: a small array wastes little, and a large one has few slabs.
void block_pool::grow(std::size_t missing) {
  const auto wanted = together_ ? std::max(missing, total_ / 32) : (total_ + missing) / 32;
  const auto size = static_cast<std::uint32_t>(std::clamp<std::size_t>(wanted, 1, most_per_slab_));
  while (missing > 0) {
    slabs_.push_back(std::make_unique<slab>(size, block_bytes_));
    total_ += size;
    free_ += size;
    missing -= std::min<std::size_t>(missing, size);
  }
}

void block_pool::take(std::span<block> blocks) {
  std::lock_guard lock(mutex_);
  if (free_ < blocks.size()) grow(blocks.size() - free_);
  auto next = blocks.begin();
  for (auto& from : slabs_)
    while (from->num_free > 0 && next != blocks.end()) *next++ = take_from(*from);
}

block block_pool::take_from(slab& from) noexcept {
  const auto index = from.free[--from.num_free];
  auto& counter = from.counters[index];
  counter.references.store(1, std::memory_order_relaxed);
  --free_;
  return {from.blocks() + index * block_bytes_, &counter};
}

void block_pool::give_back(std::span<const block> blocks) noexcept {
  std::unique_lock lock(mutex_, std::defer_lock);
  for (const auto& one : blocks) {
    if (!one || one.counter->references.fetch_sub(1, std::memory_order_acq_rel) != 1) continue;
    if (!lock) lock.lock();
    free_block(*one.counter);
  }
}

void block_pool::free_block(block_counter& counter) noexcept {
  slab* const owner = counter.owner;
  owner->free[owner->num_free++] = counter.index;
  ++free_;
  const bool spare = free_ < 2 * owner->num_free && 48 * owner->num_free <= total_;  // small, and the only one
  if (!owner->unused() || spare) return;
  free_ -= owner->free.size();
  total_ -= owner->free.size();
  std::erase_if(slabs_, [&](const auto& one) { return one.get() == owner; });
}

void block_pool::gather(std::span<block> blocks, std::size_t most) noexcept {
  std::lock_guard lock(mutex_);
  if (free_ <= std::max<std::size_t>(total_ / 32, 16)) return;
  std::sort(slabs_.begin(), slabs_.end(), [](const auto& a, const auto& b) { return a->num_free < b->num_free; });
  std::size_t kept = 0;
  for (auto& one : slabs_) {
    one->leaving = kept >= total_ - free_;
    kept += one->free.size();
  }
  std::size_t to = 0;
  for (auto& one : blocks) {
    if (!one || !one.counter->owner->leaving || !one.exclusive()) continue;
    while (to < slabs_.size() && !slabs_[to]->leaving && slabs_[to]->num_free == 0) ++to;
    if (to == slabs_.size() || slabs_[to]->leaving || most-- == 0) break;
    const block moved = take_from(*slabs_[to]);
    std::memcpy(moved.data, one.data, block_bytes_);
    one.counter->references.store(0, std::memory_order_relaxed);
    free_block(*std::exchange(one, moved).counter);
  }
  for (auto& one : slabs_) one->leaving = false;
}

std::int64_t block_pool::bytes() const noexcept {
  std::lock_guard lock(mutex_);
  return static_cast<std::int64_t>(total_ * block_bytes_);
}

std::int64_t block_pool::in_use() const noexcept {
  std::lock_guard lock(mutex_);
  return static_cast<std::int64_t>(total_ - free_);
}

}  // namespace graphlode::packed
