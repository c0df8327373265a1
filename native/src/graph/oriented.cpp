// oriented.cpp - orients a symmetric graph by an order and renames its vertices to their ranks.
//
// Two passes over the rows in rank order: count the higher neighbors, then write their ranks and sort each short row.
#include "graphlode/graph/oriented.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>

#include "graphlode/parallel.hpp"

namespace graphlode::graph {
namespace {

constexpr std::int64_t grain = 1024;
constexpr std::int64_t insertion_sort_up_to = 24;

// Sorts rows of ranks. Most entries of a long row are among the highest ranks, the hubs. These are sorted by setting
// and reading back bits, only the others by comparison.
template <class Vertex>
class row_sorter {
 public:
  explicit row_sorter(std::int64_t num_vertices)
      : first_hub_(static_cast<Vertex>(std::max<std::int64_t>(0, num_vertices - num_words * 64))) {}

  void operator()(Vertex* row, std::int64_t size) {
    if (size <= insertion_sort_up_to) return insertion_sort(row, size);
    Vertex* low = row;
    for (std::int64_t i = 0; i < size; ++i) {
      const Vertex rank = row[i];
      if (rank < first_hub_)
        *low++ = rank;
      else
        set(rank - first_hub_);
    }
    std::sort(row, low);
    for (std::size_t s = 0; s < used_.size(); ++s)
      for (; used_[s]; used_[s] &= used_[s] - 1) {
        const auto w = s * 64 + std::countr_zero(used_[s]);
        for (; words_[w]; words_[w] &= words_[w] - 1)
          *low++ = static_cast<Vertex>(first_hub_ + static_cast<Vertex>(w * 64 + std::countr_zero(words_[w])));
      }
  }

 private:
  static constexpr std::int64_t num_words = 128;

  void set(Vertex bit) {
    words_[bit / 64] |= std::uint64_t{1} << (bit % 64);
    used_[bit / 4096] |= std::uint64_t{1} << (bit / 64 % 64);
  }
  static void insertion_sort(Vertex* row, std::int64_t size) {
    for (std::int64_t i = 1; i < size; ++i) {
      const Vertex value = row[i];
      auto j = i;
      for (; j > 0 && row[j - 1] > value; --j) row[j] = row[j - 1];
      row[j] = value;
    }
  }

  Vertex first_hub_;
  std::array<std::uint64_t, num_words> words_{};
  std::array<std::uint64_t, num_words / 64> used_{};  // which words are not empty
};

template <class Vertex>
void look_ahead(const csr_view<Vertex>& graph, const Vertex* order, std::int64_t r, std::int64_t n) {
  constexpr std::int64_t rows_ahead = 4;
  if (r + 2 * rows_ahead < n) graph.prefetch_offset(order[r + 2 * rows_ahead]);
  if (r + rows_ahead < n) graph.prefetch_row(order[r + rows_ahead]);
}

template <class Vertex>
std::int64_t longest_row(const csr_view<Vertex>& graph, const Vertex* order, std::int64_t begin, std::int64_t end) {
  std::int64_t longest = 0;
  for (auto r = begin; r < end; ++r) longest = std::max(longest, graph.degree(order[r]));
  return longest;
}

}  // namespace

template <class Vertex>
csr<Vertex> orient(const csr_view<Vertex>& graph, const Vertex* order, int threads, const control& ctl) {
  const auto n = graph.num_vertices;
  threads = worthwhile_threads(graph.num_entries(), threads);
  buffer<Vertex> rank(n);
  parallel_chunks(0, n, grain, threads, ctl, [&](int, std::int64_t begin, std::int64_t end) {
    for (auto r = begin; r < end; ++r) rank[order[r]] = static_cast<Vertex>(r);
  });
  csr<Vertex> result;
  result.offsets = buffer<std::int64_t>(n + 1);
  result.offsets[0] = 0;
  parallel_chunks(0, n, grain, threads, ctl, [&](int, std::int64_t begin, std::int64_t end) {
    for (auto r = begin; r < end; ++r) {
      look_ahead(graph, order, r, n);
      std::int64_t higher = 0;
      for (const auto v : graph.row(order[r])) higher += rank[v] > r;
      result.offsets[r + 1] = higher;
    }
  });
  std::inclusive_scan(result.offsets.begin(), result.offsets.end(), result.offsets.begin());
  result.neighbors = buffer<Vertex>(result.offsets[n]);
  parallel_chunks(0, n, grain, threads, ctl, [&](int, std::int64_t begin, std::int64_t end) {
    row_sorter<Vertex> sort_row(n);
    buffer<Vertex> higher(longest_row(graph, order, begin, end) + 1);
    for (auto r = begin; r < end; ++r) {
      look_ahead(graph, order, r, n);
      // Write every rank and keep only the higher ones. Which they are is unpredictable, so there is no branch.
      std::int64_t kept = 0;
      for (const auto v : graph.row(order[r])) {
        higher[kept] = rank[v];
        kept += rank[v] > r;
      }
      sort_row(higher.data(), kept);
      std::copy_n(higher.data(), kept, result.neighbors.data() + result.offsets[r]);
    }
  });
  return result;
}

template csr<std::int32_t> orient(const csr_view<std::int32_t>&, const std::int32_t*, int, const control&);
template csr<std::int64_t> orient(const csr_view<std::int64_t>&, const std::int64_t*, int, const control&);

}  // namespace graphlode::graph
