#include "graphlode/graph/id_set.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include "graphlode/parallel.hpp"

namespace graphlode::graph {
namespace {

constexpr std::int64_t grain = 1 << 16;

std::uint64_t mix(std::uint64_t x) {
  x ^= x >> 32;
  x *= 0x9E3779B97F4A7C15ull;
  x ^= x >> 29;
  return x;
}

// Keys are stored plus one bit of bookkeeping: a separate byte per slot says whether it is taken, since every 64-bit
// value is a legal id.
class id_table {
 public:
  explicit id_table(std::size_t capacity)
      : keys_(capacity), ranks_(capacity), state_(capacity, std::uint8_t{0}), mask_(capacity - 1) {}

  void insert(std::int64_t id) {
    for (auto slot = mix(static_cast<std::uint64_t>(id)) & mask_;; slot = (slot + 1) & mask_) {
      std::atomic_ref state(state_[slot]);
      auto seen = state.load(std::memory_order_acquire);
      if (seen == empty && state.compare_exchange_strong(seen, writing, std::memory_order_acquire)) {
        keys_[slot] = id;
        state.store(full, std::memory_order_release);
        return;
      }
      while (seen == writing) seen = state.load(std::memory_order_acquire);
      if (keys_[slot] == id) return;
    }
  }
  std::size_t find(std::int64_t id) const {
    auto slot = mix(static_cast<std::uint64_t>(id)) & mask_;
    while (keys_[slot] != id || state_[slot] != full) slot = (slot + 1) & mask_;
    return slot;
  }
  std::size_t capacity() const { return state_.size(); }
  bool taken(std::size_t slot) const { return state_[slot] == full; }
  std::int64_t key(std::size_t slot) const { return keys_[slot]; }
  std::int64_t& rank(std::size_t slot) { return ranks_[slot]; }
  std::int64_t rank(std::size_t slot) const { return ranks_[slot]; }

 private:
  static constexpr std::uint8_t empty = 0, writing = 1, full = 2;
  buffer<std::int64_t> keys_;
  buffer<std::int64_t> ranks_;
  buffer<std::uint8_t> state_;
  std::size_t mask_;
};

}  // namespace

template <class Id>
id_range<Id> find_range(std::span<const Id> a, std::span<const Id> b, int threads) {
  id_range<Id> all{std::numeric_limits<Id>::max(), std::numeric_limits<Id>::min()};
  if (a.empty() && b.empty()) return {};
  for (auto list : {a, b}) {
    std::vector<id_range<Id>> parts(static_cast<std::size_t>(threads), all);
    parallel_parts(static_cast<std::int64_t>(list.size()), threads,
                   [&](int thread, std::int64_t begin, std::int64_t end) {
                     auto part = all;
                     for (auto i = begin; i < end; ++i) {
                       part.first = std::min(part.first, list[static_cast<std::size_t>(i)]);
                       part.last = std::max(part.last, list[static_cast<std::size_t>(i)]);
                     }
                     parts[static_cast<std::size_t>(thread)] = part;
                   });
    for (const auto& part : parts) {
      all.first = std::min(all.first, part.first);
      all.last = std::max(all.last, part.last);
    }
  }
  return all;
}

template id_range<std::int32_t> find_range(std::span<const std::int32_t>, std::span<const std::int32_t>, int);
template id_range<std::int64_t> find_range(std::span<const std::int64_t>, std::span<const std::int64_t>, int);

dense_ids::dense_ids(std::int64_t width)
    : words_(static_cast<std::size_t>((width + 63) / 64)), before_(static_cast<std::size_t>((width + 63) / 64)) {
  words_.zero();
}

std::int64_t dense_ids::count() {
  std::int64_t total = 0;
  for (std::size_t w = 0; w < words_.size(); ++w) {
    before_[w] = total;
    total += std::popcount(words_[w]);
  }
  return total;
}

template <class Vertex>
buffer<std::int64_t> rank_sparse_ids(std::span<const std::int64_t> a, std::span<const std::int64_t> b, Vertex* ranks_a,
                                     Vertex* ranks_b, int threads, const control& ctl) {
  const auto entries = a.size() + b.size();
  id_table table(std::bit_ceil(std::max<std::size_t>(entries + entries / 2, 16)));
  for (auto list : {a, b})
    parallel_chunks(0, static_cast<std::int64_t>(list.size()), grain, threads, ctl, [&](int, auto begin, auto end) {
      for (auto i = begin; i < end; ++i) table.insert(list[static_cast<std::size_t>(i)]);
    });

  std::size_t count = 0;
  for (std::size_t slot = 0; slot < table.capacity(); ++slot) count += table.taken(slot);
  buffer<std::int64_t> ids(count);
  count = 0;
  for (std::size_t slot = 0; slot < table.capacity(); ++slot)
    if (table.taken(slot)) ids[count++] = table.key(slot);
  std::sort(ids.begin(), ids.end());
  parallel_chunks(0, static_cast<std::int64_t>(count), grain, threads, ctl, [&](int, auto begin, auto end) {
    for (auto i = begin; i < end; ++i) table.rank(table.find(ids[static_cast<std::size_t>(i)])) = i;
  });

  const auto translate = [&](std::span<const std::int64_t> list, Vertex* ranks) {
    parallel_chunks(0, static_cast<std::int64_t>(list.size()), grain, threads, ctl, [&](int, auto begin, auto end) {
      for (auto i = begin; i < end; ++i)
        ranks[i] = static_cast<Vertex>(table.rank(table.find(list[static_cast<std::size_t>(i)])));
    });
  };
  translate(a, ranks_a);
  translate(b, ranks_b);
  return ids;
}

template buffer<std::int64_t> rank_sparse_ids(std::span<const std::int64_t>, std::span<const std::int64_t>,
                                              std::int32_t*, std::int32_t*, int, const control&);
template buffer<std::int64_t> rank_sparse_ids(std::span<const std::int64_t>, std::span<const std::int64_t>,
                                              std::int64_t*, std::int64_t*, int, const control&);

}  // namespace graphlode::graph
