// maximal/problem.hpp - the neighborhood of a root as bit rows.
//
// Candidates are numbered 0 .. n - 1, and every row has one bit per candidate. Rows 0 .. n - 1 are those of the
// candidates. Further rows belong to excluded vertices: they are adjacent to the root but may not be added, because
// cliques with them have been found from an earlier root. Only the bits of an excluded vertex matter. Rows are 1, 2, 4
// or 8 words wide, so that searches can be compiled for each width, or any number of words beyond.
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "graphlode/csr.hpp"
#include "graphlode/memory.hpp"

namespace graphlode::mining::maximal {

using word = std::uint64_t;

inline constexpr int num_widths = 5;  // 1, 2, 4, 8, any

inline std::int64_t words_for(std::int64_t num_candidates) {
  const auto words = std::max<std::int64_t>((num_candidates + 63) / 64, 1);
  return words <= 8 ? static_cast<std::int64_t>(std::bit_ceil(static_cast<word>(words))) : words;
}
inline int width_of(std::int64_t words) {
  return words > 8 ? num_widths - 1 : std::countr_zero(static_cast<word>(words));
}

// Calls visit(i) for every set bit, in ascending order.
template <class Visit>
[[gnu::always_inline]] inline void for_each_bit(const word* bits, std::int64_t words, Visit&& visit) {
  for (std::int64_t k = 0; k < words; ++k)
    for (word left = bits[k]; left; left &= left - 1) visit(64 * k + std::countr_zero(left));
}

inline void set_bit(word* bits, std::int64_t i) { bits[i / 64] |= word{1} << (i % 64); }
inline void clear_bit(word* bits, std::int64_t i) { bits[i / 64] &= ~(word{1} << (i % 64)); }
inline bool has_bit(const word* bits, std::int64_t i) { return bits[i / 64] >> (i % 64) & 1; }

// An array that grows and keeps its contents. It never shrinks, because the next root may need as much.
template <class T>
class growing {
 public:
  T* data() noexcept { return memory_.data(); }
  const T* data() const noexcept { return memory_.data(); }
  T& operator[](std::int64_t i) noexcept { return memory_[static_cast<std::size_t>(i)]; }
  const T& operator[](std::int64_t i) const noexcept { return memory_[static_cast<std::size_t>(i)]; }
  void reserve(std::int64_t size) {
    if (static_cast<std::size_t>(size) <= memory_.size()) return;
    buffer<T> larger(std::max<std::size_t>(static_cast<std::size_t>(size), 2 * memory_.size()));
    if (memory_.size()) std::memcpy(larger.data(), memory_.data(), memory_.size() * sizeof(T));
    memory_ = std::move(larger);
  }

 private:
  buffer<T> memory_;
};

struct problem {
  std::int64_t words = 1;
  std::int64_t num_candidates = 0;
  std::int64_t num_rows = 0;
  growing<word> rows;
  growing<std::int64_t> names;  // names of the candidates in the result

  word* row(std::int64_t i) { return rows.data() + i * words; }
  const word* row(std::int64_t i) const { return rows.data() + i * words; }

  // Starts with zero rows for this number of candidates.
  void start(std::int64_t candidates) {
    words = words_for(candidates);
    num_candidates = num_rows = candidates;
    names.reserve(candidates);
    rows.reserve(candidates * words);
    std::fill_n(rows.data(), candidates * words, word{0});
  }
  // Row `num_rows`, cleared. It becomes part of the problem when `num_rows` is increased.
  word* spare_row() {
    rows.reserve((num_rows + 1) * words);
    std::memset(row(num_rows), 0, static_cast<std::size_t>(words) * sizeof(word));
    return row(num_rows);
  }
};

// One problem per width, reused. If a branch in another thread still needs a problem, that thread keeps it and a new
// one is made.
class problem_slots {
 public:
  std::shared_ptr<problem> free_slot(std::int64_t num_candidates) {
    auto& slot = slots_[static_cast<std::size_t>(width_of(words_for(num_candidates)))];
    if (!slot || slot.use_count() > 1) slot = std::make_shared<problem>();
    return slot;
  }

 private:
  std::array<std::shared_ptr<problem>, num_widths> slots_;
};

// Maps each rank to its number in the problem that a thread builds. Cleared after each root.
template <class Vertex>
class problem_builder {
 public:
  explicit problem_builder(const csr_view<Vertex>& oriented) : graph_(oriented), number_(oriented.num_vertices) {
    number_.zero();
  }

  // Builds the rows among the later neighbors of u. `excluded` are its earlier neighbors; those adjacent to no
  // candidate are dropped. Returns false, with `into` undefined, if one of them is adjacent to every candidate: then
  // nothing below this root is maximal.
  bool build(problem& into, std::int64_t u, std::span<const Vertex> excluded, const std::int64_t* names) {
    const auto candidates = graph_.row(u);
    const auto size = static_cast<std::int64_t>(candidates.size());
    into.start(size);
    for (std::int64_t i = 0; i < size; ++i) {
      graph_.prefetch_offset(candidates[i]);
      number_[candidates[i]] = static_cast<std::int32_t>(i + 1);
      into.names[i] = names ? names[candidates[i]] : candidates[i];
    }
    bool open = true;
    for (std::size_t i = 0; i < excluded.size() && open; ++i) {
      if (i + 4 < excluded.size()) graph_.prefetch_offset(excluded[i + 4]);
      if (i + 2 < excluded.size()) graph_.prefetch_row(excluded[i + 2]);
      open = add_excluded(into, u, excluded[i]);
    }
    if (open) add_candidates(into, candidates);
    for (const auto v : candidates) number_[v] = 0;
    return open;
  }

 private:
  bool add_excluded(problem& into, std::int64_t u, Vertex x) {
    word* bits = into.spare_row();
    std::int64_t touched = 0;
    const auto row = graph_.row(x);
    for (auto v = row.rbegin(); v != row.rend() && *v > u; ++v) {
      if (const auto number = number_[*v]) {
        set_bit(bits, number - 1);
        ++touched;
      }
    }
    into.num_rows += touched > 0;
    return touched < into.num_candidates;
  }

  void add_candidates(problem& into, std::span<const Vertex> candidates) {
    for (const auto v : candidates) graph_.prefetch_row(v);
    for (std::int64_t i = 0; i < into.num_candidates; ++i) {
      for (const auto w : graph_.row(candidates[i])) {
        if (const auto number = number_[w]) {
          set_bit(into.row(i), number - 1);
          set_bit(into.row(number - 1), i);
        }
      }
    }
  }

  csr_view<Vertex> graph_;
  buffer<std::int32_t> number_;
};

// Copies the remaining part of a problem into narrower rows. `kept` are candidates in their new order, `excluded` are
// rows of `from`; `numbers` is scratch of at least from.num_candidates entries.
inline void narrow(problem& into, const problem& from, std::span<const std::uint32_t> kept,
                   std::span<const std::uint32_t> excluded, growing<std::uint32_t>& numbers) {
  into.start(static_cast<std::int64_t>(kept.size()));
  numbers.reserve(from.num_candidates);
  std::vector<word> mask(static_cast<std::size_t>(from.words), 0);
  for (std::size_t i = 0; i < kept.size(); ++i) {
    numbers[kept[i]] = static_cast<std::uint32_t>(i);
    into.names[static_cast<std::int64_t>(i)] = from.names[kept[i]];
    set_bit(mask.data(), kept[i]);
  }
  const auto copy = [&](word* bits, const word* row) {
    for (std::int64_t k = 0; k < from.words; ++k)
      for (word left = row[k] & mask[static_cast<std::size_t>(k)]; left; left &= left - 1)
        set_bit(bits, numbers[64 * k + std::countr_zero(left)]);
  };
  for (std::size_t i = 0; i < kept.size(); ++i) copy(into.row(static_cast<std::int64_t>(i)), from.row(kept[i]));
  for (const auto x : excluded) {
    copy(into.spare_row(), from.row(x));
    ++into.num_rows;
  }
}

}  // namespace graphlode::mining::maximal
