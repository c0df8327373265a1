// cliques/build.hpp - the bit rows of a root's out-neighborhood, and what was counted there back into the graph.
//
// The places of the root's neighbors are marked in a table over all vertices; then each neighbor's row is looked up
// in it. Rows are sorted, so a neighbor's row is left where it passes the root's last neighbor.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <span>

#include "cliques/rows.hpp"
#include "cliques/tally.hpp"
#include "graphlode/csr.hpp"
#include "graphlode/memory.hpp"

namespace graphlode::mining {

enum class row_direction { both, upwards };

// Sets the bits of `block`, a row of bits per member of `row`; `places` holds 1 + place for the members, 0 for others.
template <class Vertex>
void fill_rows(const csr_view<Vertex>& graph, std::span<const Vertex> row, const std::uint8_t* places,
               row_direction direction, row_block& block);  // rows of one word
template <class Vertex>
void fill_rows(const csr_view<Vertex>& graph, std::span<const Vertex> row, const std::int32_t* places,
               row_direction direction, row_block& block);

template <class Vertex>
class row_builder {
 public:
  explicit row_builder(const csr_view<Vertex>& graph) : graph_(graph), short_places_(graph.num_vertices) {
    short_places_.zero();
  }

  // Fills `block` for the row of u; `upwards` leaves out the bits below the diagonal.
  void build(std::int64_t u, row_direction direction, row_width width, bool with_names, row_block& block) {
    const auto row = graph_.row(u);
    const int size = static_cast<int>(row.size());
    block.resize(size, width.words, with_names);
    for (int i = 0; with_names && i < size; ++i) block.names[i] = i;
    if (width.words == 1) {
      mark(row, short_places_);
      fill_rows(graph_, row, short_places_.data(), direction, block);
      return unmark(row, short_places_);
    }
    mark(row);
    fill_rows(graph_, row, places_.data(), direction, block);
    unmark(row);
  }

  // Adds what was counted below u to the counts per rank or per entry; other threads do the same.
  void flush(std::int64_t u, local_tally& tally, std::uint64_t* counts) {
    const auto row = graph_.row(u);
    const int size = static_cast<int>(row.size());
    const int limbs = tally.limbs();
    if (!tally.by_edge()) {
      for (int i = 0; i < size; ++i) add(counts + std::int64_t{row[i]} * limbs, tally.vertex(i), limbs);
      return add(counts + u * limbs, tally.vertex(size), limbs);
    }
    mark(row);
    for (int i = 0; i < size; ++i) {
      add(counts + (graph_.offsets[u] + i) * limbs, tally.pair(i, size), limbs);
      for (auto e = graph_.offsets[row[i]]; e < graph_.offsets[row[i] + 1]; ++e)
        if (const int j = place(graph_.neighbors[e]); j >= 0) add(counts + e * limbs, tally.pair(i, j), limbs);
    }
    unmark(row);
  }

  void mark(std::span<const Vertex> row) {
    if (places_.size() == 0 && graph_.num_vertices > 0) {
      places_ = buffer<std::int32_t>(graph_.num_vertices);
      places_.zero();
    }
    mark(row, places_);
  }
  void unmark(std::span<const Vertex> row) { unmark(row, places_); }
  int place(Vertex v) const { return places_[v] - 1; }

 private:
  template <class Place>
  void mark(std::span<const Vertex> row, buffer<Place>& places) const {
    Place place = 0;
    for (const auto v : row) {
      graph_.prefetch_offset(v);
      places[v] = ++place;
    }
  }
  template <class Place>
  static void unmark(std::span<const Vertex> row, buffer<Place>& places) {
    for (const auto v : row) places[v] = 0;
  }

  static void add(std::uint64_t* to, const std::uint64_t* value, int limbs) {
    std::uint64_t carry = 0;
    for (int i = 0; i < limbs; ++i) {
      const auto term = value[i] + carry;
      const bool wrapped = term < carry;
      if (term == 0) {
        carry = wrapped;
        continue;
      }
      const auto old = std::atomic_ref(to[i]).fetch_add(term, std::memory_order_relaxed);
      carry = old + term < old;
    }
  }

  csr_view<Vertex> graph_;
  // 1 + place in the marked row, 0: not in it. Most rows are short, and a byte per vertex stays in the cache.
  buffer<std::uint8_t> short_places_;
  buffer<std::int32_t> places_;  // taken when first needed
};

}  // namespace graphlode::mining
