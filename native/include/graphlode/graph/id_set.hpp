// id_set.hpp - the set of ids that occur in an edge list, and the rank of each id in it.
//
// Two forms. `dense_ids`: a bitmap over [first, last] with running counts, for ids from a range that is not much larger
// than the list; a rank is two loads and a popcount, and the bitmap stays in cache. `rank_sparse_ids`: a
// sort, for ids scattered over 64 bits. `rank_ids` chooses between them.
#pragma once
#include <bit>
#include <cstdint>
#include <span>

#include "graphlode/control.hpp"
#include "graphlode/memory.hpp"

namespace graphlode::graph {

// The last steps of SplitMix64: every bit of an id changes every bit of its hash, so that multiples of any number are
// spread evenly over a table.
inline std::uint64_t mixed(std::uint64_t id) noexcept {
  id = (id ^ id >> 30) * 0xBF58476D1CE4E5B9ull;
  id = (id ^ id >> 27) * 0x94D049BB133111EBull;
  return id ^ id >> 31;
}

template <class Id>
struct id_range {
  Id first = 0;
  Id last = -1;  // last < first: no ids
  // Number of ids in the range; saturates at 2^63 - 1.
  std::int64_t width() const {
    if (last < first) return 0;
    const auto span = static_cast<std::uint64_t>(last) - static_cast<std::uint64_t>(first);
    return span >= (std::uint64_t{1} << 63) - 1 ? INT64_MAX : static_cast<std::int64_t>(span + 1);
  }
};

template <class Id>
id_range<Id> find_range(std::span<const Id> a, std::span<const Id> b, int threads);

// Ids are given as distances from the first id of the range.
class dense_ids {
 public:
  explicit dense_ids(std::int64_t width);

  // Threads may insert at the same time. Looking first keeps the line shared when the bit is set already.
  void insert(std::int64_t id) noexcept {
    auto& word = words_[static_cast<std::size_t>(id >> 6)];
    const std::uint64_t bit = std::uint64_t{1} << (id & 63);
    if (!(std::atomic_ref(word).load(std::memory_order_relaxed) & bit))
      std::atomic_ref(word).fetch_or(bit, std::memory_order_relaxed);
  }
  std::int64_t count();  // finishes the set: number of ids; ranks are valid from here on
  bool contains(std::int64_t id) const noexcept { return words_[static_cast<std::size_t>(id >> 6)] >> (id & 63) & 1; }
  std::int64_t rank(std::int64_t id) const noexcept {
    const auto word = static_cast<std::size_t>(id >> 6);
    return before_[word] + std::popcount(words_[word] & ((std::uint64_t{1} << (id & 63)) - 1));
  }
  // Calls visit(id) in ascending order.
  template <class Visit>
  void each(Visit&& visit) const {
    for (std::size_t w = 0; w < words_.size(); ++w)
      for (auto bits = words_[w]; bits; bits &= bits - 1)
        visit(static_cast<std::int64_t>(w) * 64 + std::countr_zero(bits));
  }

 private:
  buffer<std::uint64_t> words_;
  buffer<std::int64_t> before_;
};

// Replaces scattered ids by their ranks. Returns the ascending ids; ranks are written to the two outputs.
template <class Vertex>
buffer<std::int64_t> rank_sparse_ids(std::span<const std::int64_t> a, std::span<const std::int64_t> b, Vertex* ranks_a,
                                     Vertex* ranks_b, int threads, const control& ctl);

// Replaces ids by their ranks, whatever their range. Returns the ascending ids.
buffer<std::int64_t> rank_ids(std::span<const std::int64_t> ids, std::int32_t* ranks, int threads, const control& ctl);

}  // namespace graphlode::graph
