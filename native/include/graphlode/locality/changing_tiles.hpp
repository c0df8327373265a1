// changing_tiles.hpp - tiles of edges that take batches of updates, each tile on its own.
//
// A tile is sorted except for its tail. New edges are appended to the tail, and refine() merges tails into the sorted
// part later, a bounded number of edges at a time, between passes over the tiles. An edge occurs at most once: an
// insert first looks for it, by binary search in the sorted part and by scanning the tail. A tail that makes this
// expensive is merged at once. Deletions close their gaps, because a tile is short; so readers need no test for deleted
// edges.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "graphlode/control.hpp"
#include "graphlode/graph/tiled.hpp"
#include "graphlode/memory.hpp"

namespace graphlode::locality {

using graph::tile_edge;

class changing_tiles {
 public:
  explicit changing_tiles(std::int64_t num_vertices) : grid{num_vertices}, tiles_(size_of(grid)) {}
  explicit changing_tiles(const graph::tiles_view& given);
  changing_tiles(const changing_tiles&) = delete;
  changing_tiles& operator=(const changing_tiles&) = delete;

  // Adds vertices. Existing tiles stay as they are.
  void grow(std::int64_t num_vertices);

  // Edges have the source in the upper half and the destination in the lower half, below the number of vertices. They
  // may be in any order and repeated. Returns the number of edges that were new (insert) or existed (erase).
  std::int64_t insert(std::span<const std::int64_t> edges, int threads, const control& ctl);
  std::int64_t erase(std::span<const std::int64_t> edges, int threads, const control& ctl);

  // Merges tails, one tile after the other, until `budget` edges have been moved. Returns the number of moved edges.
  std::int64_t refine(std::int64_t budget, int threads, const control& ctl);

  std::int64_t num_edges() const;
  std::int64_t num_loose() const;  // edges in tails
  std::span<const tile_edge> tile(std::int64_t row, std::int64_t column) const {
    return tiles_[static_cast<std::size_t>(row * grid.num_columns() + column)].all();
  }

  // All edges as contiguous tiles. Merges the tails first.
  graph::tiled_edges pack(int threads, const control& ctl);

  graph::tile_grid grid;

 private:
  class tile_of_edges {
   public:
    std::span<const tile_edge> all() const { return {edges_.data(), size_}; }
    std::int64_t size() const { return static_cast<std::int64_t>(size_); }
    std::int64_t loose() const { return static_cast<std::int64_t>(size_ - sorted_); }

    void assign(std::span<const tile_edge> sorted);
    void insert(std::span<const tile_edge> sorted);  // equal edges count once
    void erase(std::span<const tile_edge> sorted);
    void refine();

   private:
    void reserve(std::size_t size);

    buffer<tile_edge> edges_;
    std::size_t size_ = 0;
    std::size_t sorted_ = 0;  // number of edges before the tail
  };

  static std::size_t size_of(const graph::tile_grid& grid) { return static_cast<std::size_t>(grid.num_tiles()); }
  template <class Change>
  void apply(std::span<const std::int64_t> edges, int threads, const control& ctl, Change&& change);

  std::vector<tile_of_edges> tiles_;
  std::size_t next_tile_ = 0;  // where refine() continues
};

}  // namespace graphlode::locality
