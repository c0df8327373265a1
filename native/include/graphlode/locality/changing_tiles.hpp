// changing_tiles.hpp - tiles of edges that batches are brought into, each on its own.
//
// A tile is sorted but for its tail: new edges are appended as they come, and refine() sorts tails in later, a bounded
// number of edges at a time, while whoever walks the tiles goes on in between. An edge is there once or not at all:
// what is inserted is looked up first, in the sorted part by bisection and in the tail by going through it; a tail that
// makes this dear is sorted in at once. Deletions close their gaps: a tile is short, and nobody who walks it has to ask
// whether an edge still counts.
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

  // More vertices: tiles stay as they are, and others come beside them.
  void grow(std::int64_t num_vertices);

  // Edges with the source in the upper half and the destination in the lower half, all ends below the number of
  // vertices, in any order, some perhaps several times. Returns how many were new, or were there.
  std::int64_t insert(std::span<const std::int64_t> edges, int threads, const control& ctl);
  std::int64_t erase(std::span<const std::int64_t> edges, int threads, const control& ctl);

  // Sorts tails in, one tile after the other, until that has moved `budget` edges. Returns how many it moved.
  std::int64_t refine(std::int64_t budget, int threads, const control& ctl);

  std::int64_t num_edges() const;
  std::int64_t num_loose() const;  // edges in tails
  std::span<const tile_edge> tile(std::int64_t row, std::int64_t column) const {
    return tiles_[static_cast<std::size_t>(row * grid.num_columns() + column)].all();
  }

  // All edges as contiguous tiles; tails are sorted in first.
  graph::tiled_edges pack(int threads, const control& ctl);

  graph::tile_grid grid;

 private:
  class tile_of_edges {
   public:
    std::span<const tile_edge> all() const { return {edges_.data(), size_}; }
    std::int64_t size() const { return static_cast<std::int64_t>(size_); }
    std::int64_t loose() const { return static_cast<std::int64_t>(size_ - sorted_); }

    void assign(std::span<const tile_edge> sorted);
    void insert(std::span<const tile_edge> sorted);  // equal ones count once
    void erase(std::span<const tile_edge> sorted);
    void refine();

   private:
    void reserve(std::size_t size);

    buffer<tile_edge> edges_;
    std::size_t size_ = 0;
    std::size_t sorted_ = 0;  // edges in front of the tail
  };

  static std::size_t size_of(const graph::tile_grid& grid) { return static_cast<std::size_t>(grid.num_tiles()); }
  template <class Change>
  void apply(std::span<const std::int64_t> edges, int threads, const control& ctl, Change&& change);

  std::vector<tile_of_edges> tiles_;
  std::size_t next_tile_ = 0;  // where refine() goes on
};

}  // namespace graphlode::locality
