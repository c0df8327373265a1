// label_tally.hpp - the most frequent label of the neighbors. Among equals, the vertex's own label wins if it is one of
// them, otherwise the lowest.
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <span>

#include "graphlode/memory.hpp"

namespace graphlode::analytics {

template <class Vertex>
class label_tally {
 public:
  // Room for rows of up to `longest` entries.
  explicit label_tally(std::int64_t longest) {
    if (longest <= few) return;
    const auto slots = std::bit_ceil(static_cast<std::size_t>(2 * longest));
    keys_ = buffer<Vertex>(slots);
    counts_ = buffer<Vertex>(slots);
  }

  // A vertex without neighbors keeps its label.
  Vertex winner(std::span<const Vertex> row, const Vertex* labels, Vertex own) {
    best_ = {own, 0, 0};
    if (static_cast<std::int64_t>(row.size()) <= few)
      by_sorting(row, labels, own);
    else
      by_table(row, labels, own);
    return best_.own_count == best_.count ? own : best_.label;
  }

 private:
  static constexpr std::int64_t few = 32;  // up to this many entries, sorting is faster than a table

  void offer(Vertex label, Vertex count, Vertex own) {
    if (count > best_.count || (count == best_.count && label < best_.label)) {
      best_.label = label;
      best_.count = count;
    }
    if (label == own) best_.own_count = count;
  }

  void by_sorting(std::span<const Vertex> row, const Vertex* labels, Vertex own) {
    std::array<Vertex, few> seen;
    std::transform(row.begin(), row.end(), seen.begin(), [&](Vertex v) { return labels[v]; });
    const auto end = seen.begin() + static_cast<std::ptrdiff_t>(row.size());
    std::sort(seen.begin(), end);
    for (auto from = seen.begin(); from != end;) {
      const auto to = std::find_if(from, end, [&](Vertex label) { return label != *from; });
      offer(*from, static_cast<Vertex>(to - from), own);
      from = to;
    }
  }

  void by_table(std::span<const Vertex> row, const Vertex* labels, Vertex own) {
    const auto slots = std::bit_ceil(2 * row.size());
    const int shift = 64 - std::countr_zero(slots);
    std::fill_n(keys_.begin(), slots, Vertex{-1});
    for (const Vertex v : row) {
      const Vertex label = labels[v];
      auto at = static_cast<std::size_t>((static_cast<std::uint64_t>(label) * 0x9E3779B97F4A7C15) >> shift);
      while (keys_[at] != label && keys_[at] != -1) at = (at + 1) & (slots - 1);
      counts_[at] = keys_[at] == label ? counts_[at] + 1 : 1;
      keys_[at] = label;
    }
    for (std::size_t at = 0; at < slots; ++at)
      if (keys_[at] != -1) offer(keys_[at], counts_[at], own);
  }

  struct {
    Vertex label, count, own_count;
  } best_{};
  buffer<Vertex> keys_, counts_;
};

}  // namespace graphlode::analytics
