// rows.hpp - what a kernel may ask of the rows of a graph, however they are held.
//
// A kernel that walks rows is written once, as a template over `Rows`: compressed rows here, rows on the packed pages
// of a store in packed/row_view.hpp. Such a type has
//
//   vertex                        the integer type of a neighbor
//   num_rows(), num_entries()
//   degree_estimate(row)          about how many neighbors it has
//   known_empty(w, among)         of the rows 64 * w + i of the bits i in `among`, those that have none, as far as that
//                                 is known without a look at them
//   first_neighbor(row)           of a row that is not known to be empty, or -1 where it takes a walk to find it
//   for_each_neighbor(row, f)     calls f(neighbor) in ascending order until f returns false
//   prefetch_index(row), prefetch_row(row)   ask for what finds the row, and later for the row itself
//
// and is cheap to copy.
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
