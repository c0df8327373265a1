// row_sums.cpp - a sparse matrix times a narrow dense one, in integers.
//
// The values of a vertex lie side by side, so that one cache line serves all columns of an entry. Sums are kept in 128
// bits, which no row can leave, and looked at once at its end.
#include "graphlode/mining/row_sums.hpp"

#include <atomic>

#include "graphlode/parallel.hpp"

namespace graphlode::mining {
namespace {

__extension__ using wide = __int128;
constexpr std::int64_t rows_at_a_time = 256;

template <int Columns, class Vertex, class Edge>
std::uint32_t sum_rows(const csr_view<Vertex>& graph, const Edge* edges, const std::int64_t* weights,
                       const std::int64_t* values, std::int64_t* sums, std::int64_t begin, std::int64_t end) {
  std::uint32_t overflowed = 0;
  for (auto row = begin; row < end; ++row) {
    wide total[Columns] = {};
    for (auto entry = graph.offsets[row]; entry < graph.offsets[row + 1]; ++entry) {
      const std::int64_t weight = weights ? weights[edges[entry]] : 1;
      const std::int64_t* const own = values + static_cast<std::int64_t>(graph.neighbors[entry]) * Columns;
      for (int c = 0; c < Columns; ++c) total[c] += static_cast<wide>(weight) * own[c];
    }
    for (int c = 0; c < Columns; ++c) {
      const auto narrow = static_cast<std::int64_t>(total[c]);
      if (narrow != total[c]) overflowed |= std::uint32_t{1} << c;
      sums[row * Columns + c] = narrow;
    }
  }
  return overflowed;
}

// Calls the instance for so many columns: the compiler then keeps all sums in registers.
template <int Columns = 1, class... Arguments>
std::uint32_t with_columns(int columns, const Arguments&... arguments) {
  if constexpr (Columns < most_columns)
    if (columns != Columns) return with_columns<Columns + 1>(columns, arguments...);
  return sum_rows<Columns>(arguments...);
}

}  // namespace

template <class Vertex, class Edge>
std::uint32_t row_sums(const csr_view<Vertex>& graph, const Edge* edges, const std::int64_t* weights,
                       const std::int64_t* values, int columns, std::int64_t* sums, int threads, const control& ctl) {
  std::atomic<std::uint32_t> overflowed{0};
  const int useful = worthwhile_threads(graph.num_entries(), threads);
  parallel_chunks(0, graph.num_vertices, rows_at_a_time, useful, ctl, [&](int, std::int64_t begin, std::int64_t end) {
    overflowed |= with_columns(columns, graph, edges, weights, values, sums, begin, end);
  });
  return overflowed;
}

template std::uint32_t row_sums(const csr_view<std::int32_t>&, const std::int32_t*, const std::int64_t*,
                                const std::int64_t*, int, std::int64_t*, int, const control&);
template std::uint32_t row_sums(const csr_view<std::int32_t>&, const std::int64_t*, const std::int64_t*,
                                const std::int64_t*, int, std::int64_t*, int, const control&);
template std::uint32_t row_sums(const csr_view<std::int64_t>&, const std::int64_t*, const std::int64_t*,
                                const std::int64_t*, int, std::int64_t*, int, const control&);

}  // namespace graphlode::mining
