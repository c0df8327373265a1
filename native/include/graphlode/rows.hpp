// rows.hpp - the interface of a graph's rows for kernels, independent of their storage.
//
// A kernel over rows is written once, as a template over `Rows`: compressed rows (defined here) or rows on the packed
// pages of a store (store/row_view.hpp). Such a type is cheap to copy and has
//
//   vertex                        the integer type of a neighbor
//   num_rows(), num_entries()
//   degree_estimate(row)          the approximate number of neighbors
//   known_empty(w, among)         of the rows 64 * w + i with bit i in `among`, those known to be empty without reading
//                                 them
//   first_neighbor(row)           for a row not known to be empty; -1 if finding it would take a walk
//   for_each_neighbor(row, f)     calls f(neighbor) in ascending order until f returns false
//   prefetch_index(row), prefetch_row(row)   prefetch what leads to the row, and later the row itself
#pragma once
#include <concepts>
#include <cstdint>

#include "graphlode/bits.hpp"
#include "graphlode/csr.hpp"

namespace graphlode {

template <class Rows>
concept neighbor_rows =
    requires(const Rows& rows, std::int64_t row, std::uint64_t among, bool (*visit)(typename Rows::vertex)) {
      { rows.num_rows() } -> std::convertible_to<std::int64_t>;
      { rows.num_entries() } -> std::convertible_to<std::int64_t>;
      { rows.degree_estimate(row) } -> std::convertible_to<std::int64_t>;
      { rows.known_empty(row, among) } -> std::same_as<std::uint64_t>;
      { rows.first_neighbor(row) } -> std::same_as<typename Rows::vertex>;
      rows.for_each_neighbor(row, visit);
      rows.prefetch_index(row);
      rows.prefetch_row(row);
    };

template <class Vertex>
class csr_rows {
 public:
  using vertex = Vertex;

  explicit csr_rows(const csr_view<Vertex>& graph) : graph_(graph) {}

  std::int64_t num_rows() const { return graph_.num_vertices; }
  std::int64_t num_entries() const { return graph_.num_entries(); }
  std::int64_t degree_estimate(std::int64_t row) const { return graph_.degree(row); }
  std::uint64_t known_empty(std::int64_t w, std::uint64_t among) const {
    std::uint64_t empty = 0;
    for_each_bit(among, 64 * w, [&](std::int64_t v) { empty |= std::uint64_t{graph_.degree(v) == 0} << (v & 63); });
    return empty;
  }
  void prefetch_index(std::int64_t row) const { graph_.prefetch_offset(row); }
  void prefetch_row(std::int64_t row) const { graph_.prefetch_row(row); }

  template <class Visit>
  void for_each_neighbor(std::int64_t row, Visit&& visit) const {
    for (const Vertex neighbor : graph_.row(row))
      if (!visit(neighbor)) return;
  }
  Vertex first_neighbor(std::int64_t row) const { return graph_.neighbors[graph_.offsets[row]]; }
  std::span<const Vertex> row(std::int64_t row) const { return graph_.row(row); }
  std::int64_t first_entry(std::int64_t row) const { return graph_.offsets[row]; }

 private:
  csr_view<Vertex> graph_;
};

static_assert(neighbor_rows<csr_rows<std::int32_t>> && neighbor_rows<csr_rows<std::int64_t>>);

}  // namespace graphlode
