// tiled.hpp - the edges of a graph by tiles of the adjacency matrix, four bytes each.
//
// A tile has the edges from a range of 2^16 sources (its column) to a range of up to 2^16 destinations (its row). The
// offsets of both ends in their ranges form one 32-bit word, so words sort by source, then destination. Tiles are
// stored row by row. An algorithm that sums what arrives at destinations needs a cache for the sums of one row of tiles
// only, reads the sources' values from front to back within each tile, and writes nothing that other threads write.
#pragma once
#include <cstdint>
#include <span>

#include "graphlode/control.hpp"
#include "graphlode/csr.hpp"
#include "graphlode/memory.hpp"

namespace graphlode::graph {

using tile_edge = std::uint32_t;  // the source's offset in the upper half, the destination's in the lower half

constexpr int column_bits = 16;
constexpr int most_row_bits = 16;

constexpr tile_edge tile_edge_of(std::int64_t source, std::int64_t destination, int row_bits) noexcept {
  return static_cast<tile_edge>(source & 0xffff) << 16 |
         static_cast<tile_edge>(destination & ((std::int64_t{1} << row_bits) - 1));
}
constexpr std::uint32_t source_of(tile_edge edge) noexcept { return edge >> 16; }
constexpr std::uint32_t destination_of(tile_edge edge) noexcept { return edge & 0xffff; }

struct tile_grid {
  std::int64_t num_vertices;
  int row_bits = most_row_bits;

  std::int64_t num_rows() const { return ranges(row_bits); }
  std::int64_t num_columns() const { return ranges(column_bits); }
  std::int64_t num_tiles() const { return num_rows() * num_columns(); }
  std::int64_t row_of(std::int64_t destination) const { return destination >> row_bits; }
  static std::int64_t column_of(std::int64_t source) { return source >> column_bits; }

 private:
  std::int64_t ranges(int bits) const { return (num_vertices + (std::int64_t{1} << bits) - 1) >> bits; }
};

// Contiguous tiles. `offsets` has the start of each tile, and the end of the last.
struct tiles_view {
  tile_grid grid;
  const std::int64_t* offsets;
  const tile_edge* edges;

  std::int64_t num_edges() const { return offsets[grid.num_tiles()]; }
  std::span<const tile_edge> tile(std::int64_t row, std::int64_t column) const {
    const auto at = row * grid.num_columns() + column;
    return {edges + offsets[at], edges + offsets[at + 1]};
  }
};

struct tiled_edges {
  buffer<std::int64_t> offsets;
  buffer<tile_edge> edges;
};

// Makes each entry an edge from the row's vertex to the neighbor. Rows are sorted, so one stable partition by
// destination sorts every tile: two passes over the entries.
template <class Vertex>
tiled_edges tile_rows(const csr_view<Vertex>& rows, int row_bits, int threads, const control& ctl);

// Makes tiles from edges in any order. The source is in the upper half of each word, the destination in the lower half;
// all are below `num_vertices`. The edges are distributed to their rows, then to their tiles, and radix-sorted there.
tiled_edges tile_list(std::span<const std::int64_t> edges, const tile_grid& grid, int threads, const control& ctl);

// Sorts one tile. `beside` must have as much room as the tile.
void sort_tile(std::span<tile_edge> tile, tile_edge* beside);

}  // namespace graphlode::graph
