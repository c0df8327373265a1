// check_rows.cpp - checks rows in the order in which one check makes the next one safe.
//
// 1. Offsets are compared, never subtracted: a difference can wrap around and look positive.
// 2. Every row must ascend strictly within 0 .. num_vertices - 1, without the vertex itself.
// 3. An undirected graph must be symmetric. Rows are visited in ascending order. As all rows are sorted, the entries
//    below the diagonal of a row v must then arrive in exactly the order in which the row lists them, so one cursor per
//    row finds each entry without a search. Threads share the rows v, not the rows that are visited.
#include "graphlode/graph/check_rows.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <limits>
#include <vector>

#include "graphlode/memory.hpp"
#include "graphlode/parallel.hpp"

namespace graphlode::graph {
namespace {

constexpr std::int64_t rows_per_chunk = 1 << 12;
constexpr std::int64_t rows_between_checks = 1 << 14;
constexpr std::int64_t no_row = std::numeric_limits<std::int64_t>::max();

// The first row with a fault, whichever thread finds it.
class first_row {
 public:
  void report(std::int64_t row) {
    auto seen = row_.load(std::memory_order_relaxed);
    while (row < seen && !row_.compare_exchange_weak(seen, row, std::memory_order_relaxed)) {
    }
  }
  std::int64_t get() const { return row_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::int64_t> row_{no_row};
};

template <class Vertex>
std::int64_t first_falling_offset(const csr_view<Vertex>& rows, std::int64_t num_entries, int threads,
                                  const control& ctl) {
  const auto* offsets = rows.offsets;
  const auto n = rows.num_vertices;
  if (offsets[0] != 0) return 0;
  first_row fault;
  parallel_chunks(0, n, rows_per_chunk, threads, ctl, [&](int, std::int64_t begin, std::int64_t end) {
    for (auto v = begin; v < end; ++v)
      if (offsets[v + 1] < offsets[v]) return fault.report(v);
  });
  if (fault.get() == no_row && offsets[n] != num_entries) return n;
  return fault.get();
}

struct row_faults {
  first_row range, order, self_loop;
};

template <class Vertex>
void check_row(const csr_view<Vertex>& rows, std::int64_t v, row_faults& faults) {
  const auto row = rows.row(v);
  bool inside = true, ascending = true, loop = false;
  for (std::size_t i = 0; i < row.size(); ++i) {
    const auto w = static_cast<std::int64_t>(row[i]);
    inside &= static_cast<std::uint64_t>(w) < static_cast<std::uint64_t>(rows.num_vertices);
    ascending &= i == 0 || row[i - 1] < row[i];
    loop |= w == v;
  }
  if (!inside) faults.range.report(v);
  if (!ascending) faults.order.report(v);
  if (loop) faults.self_loop.report(v);
}

// Visits all rows for the rows [begin, end) that must answer them. Returns the first of these that does not.
template <class Vertex>
std::int64_t first_asymmetric(const csr_view<Vertex>& rows, std::int64_t begin, std::int64_t end, const control& ctl) {
  buffer<std::int64_t> cursors(static_cast<std::size_t>(end - begin));
  std::copy(rows.offsets + begin, rows.offsets + end, cursors.data());
  const auto* neighbors = rows.neighbors;
  auto fault = no_row;
  for (std::int64_t u = 0; u < end; ++u) {
    if (u % rows_between_checks == 0) ctl.check();
    const auto* last = neighbors + rows.offsets[u + 1];
    const auto* entry = neighbors + rows.offsets[u];
    if (u < begin) {
      entry = std::lower_bound(entry, last, static_cast<Vertex>(begin));
    } else {  // all lower vertices had their turn, so only higher ones may be left
      entry = neighbors + cursors[static_cast<std::size_t>(u - begin)];
      if (entry != last && static_cast<std::int64_t>(*entry) < u) return std::min(fault, u);
    }
    for (; entry != last && static_cast<std::int64_t>(*entry) < end; ++entry) {
      const auto v = static_cast<std::int64_t>(*entry);
      auto& cursor = cursors[static_cast<std::size_t>(v - begin)];
      if (cursor == rows.offsets[v + 1] || static_cast<std::int64_t>(neighbors[cursor]) != u)
        fault = std::min(fault, v);
      else
        ++cursor;
    }
    if (fault <= u) return fault;
  }
  return fault;
}

template <class Vertex>
std::int64_t first_asymmetric(const csr_view<Vertex>& rows, int threads, const control& ctl) {
  const auto* offsets = rows.offsets;
  const auto n = rows.num_vertices;
  first_row fault;
  // Parts of as many entries each. A part visits the rows below it, too, so more parts than threads would not pay.
  const auto part_begin = [&](int part) {
    if (part == threads) return n;
    const auto entry = rows.num_entries() / threads * part;
    return static_cast<std::int64_t>(std::lower_bound(offsets, offsets + n, entry) - offsets);
  };
  on_threads(threads, [&](int part) {
    const auto begin = part_begin(part), end = part_begin(part + 1);
    if (begin < end) fault.report(first_asymmetric(rows, begin, end, ctl));
  });
  return fault.get();
}

}  // namespace

template <class Vertex>
row_finding check_rows(const csr_view<Vertex>& rows, std::int64_t num_entries, bool directed, int wanted_threads,
                       const control& ctl) {
  const auto quiet = ctl.without_progress();
  const auto n = rows.num_vertices;
  const int threads = worthwhile_threads(n + num_entries, wanted_threads);
  if (const auto row = first_falling_offset(rows, num_entries, threads, quiet); row != no_row)
    return {row_fault::offsets, row};
  row_faults faults;
  parallel_chunks(0, n, rows_per_chunk, threads, quiet, [&](int, std::int64_t begin, std::int64_t end) {
    for (auto v = begin; v < end; ++v) check_row(rows, v, faults);
  });
  const std::array found{row_finding{row_fault::range, faults.range.get()},
                         row_finding{row_fault::order, faults.order.get()},
                         row_finding{row_fault::self_loop, faults.self_loop.get()}};
  for (const auto& each : found)
    if (each.row != no_row) return each;
  if (!directed)
    if (const auto row = first_asymmetric(rows, threads, quiet); row != no_row) return {row_fault::symmetry, row};
  return {};
}

template row_finding check_rows<std::int32_t>(const csr_view<std::int32_t>&, std::int64_t, bool, int, const control&);
template row_finding check_rows<std::int64_t>(const csr_view<std::int64_t>&, std::int64_t, bool, int, const control&);

}  // namespace graphlode::graph
