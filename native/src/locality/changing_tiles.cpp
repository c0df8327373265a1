// changing_tiles.cpp - applies batches to tiles, and merges their tails. See changing_tiles.hpp.
#include "graphlode/locality/changing_tiles.hpp"

#include <algorithm>
#include <cstring>

#include "graphlode/parallel.hpp"

namespace graphlode::locality {

void changing_tiles::tile_of_edges::reserve(std::size_t size) {
  if (size <= edges_.size()) return;
  buffer<tile_edge> larger(std::max(size, size_ + size_ / 4 + 16));
  if (size_) std::memcpy(larger.data(), edges_.data(), size_ * sizeof(tile_edge));
  edges_ = std::move(larger);
}

void changing_tiles::tile_of_edges::assign(std::span<const tile_edge> sorted) {
  reserve(sorted.size());
  if (!sorted.empty()) std::memcpy(edges_.data(), sorted.data(), sorted.size_bytes());
  size_ = sorted_ = sorted.size();
}

void changing_tiles::tile_of_edges::insert(std::span<const tile_edge> sorted) {
  // Scanning the tail takes a sixteenth of a step per edge; merging it takes some steps per edge of the tile.
  if (sorted.size() * (size_ - sorted_) / 16 > 4 * size_) refine();
  reserve(size_ + sorted.size());
  const auto tail = size_;  // edges of this batch need no scan, because they are sorted
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    if (i > 0 && sorted[i] == sorted[i - 1]) continue;
    const auto *const begin = edges_.data(), *const loose = begin + sorted_;
    if (std::binary_search(begin, loose, sorted[i]) || std::find(loose, begin + tail, sorted[i]) != begin + tail)
      continue;
    edges_[size_++] = sorted[i];
  }
}

void changing_tiles::tile_of_edges::erase(std::span<const tile_edge> sorted) {
  tile_edge* const begin = edges_.data();
  tile_edge* const end = begin + size_;
  tile_edge* const loose = begin + sorted_;
  // In the sorted part, everything between two removed edges is moved as a whole.
  tile_edge *kept = begin, *from = begin;
  for (const auto edge : sorted) {
    tile_edge* const at = std::lower_bound(from, loose, edge);
    if (at == loose || *at != edge) continue;
    kept = std::copy(from, at, kept);
    from = at + 1;
  }
  if (from == begin) {
    kept = loose;
  } else {
    kept = std::copy(from, loose, kept);
  }
  sorted_ = static_cast<std::size_t>(kept - begin);
  for (tile_edge* at = loose; at < end; ++at)
    if (!std::binary_search(sorted.begin(), sorted.end(), *at)) *kept++ = *at;
  size_ = static_cast<std::size_t>(kept - begin);
}

// The tail is sorted separately, then both parts are merged from the back.
void changing_tiles::tile_of_edges::refine() {
  const auto count = size_ - sorted_;
  if (count == 0) return;
  buffer<tile_edge> aside(2 * count);
  std::memcpy(aside.data(), edges_.data() + sorted_, count * sizeof(tile_edge));
  graph::sort_tile({aside.data(), count}, aside.data() + count);
  tile_edge* to = edges_.data() + size_;
  const tile_edge *const begin = edges_.data(), *front = begin + sorted_, *tail = aside.data() + count;
  while (tail > aside.data()) *--to = front > begin && front[-1] > tail[-1] ? *--front : *--tail;
  sorted_ = size_;
}

changing_tiles::changing_tiles(const graph::tiles_view& given) : grid(given.grid), tiles_(size_of(given.grid)) {
  for (std::int64_t row = 0; row < grid.num_rows(); ++row)
    for (std::int64_t column = 0; column < grid.num_columns(); ++column)
      tiles_[static_cast<std::size_t>(row * grid.num_columns() + column)].assign(given.tile(row, column));
}

void changing_tiles::grow(std::int64_t num_vertices) {
  const graph::tile_grid larger{std::max(num_vertices, grid.num_vertices), grid.row_bits};
  if (larger.num_tiles() != grid.num_tiles()) {
    std::vector<tile_of_edges> moved(size_of(larger));
    const auto place = [&](std::int64_t tile) {
      return tile / grid.num_columns() * larger.num_columns() + tile % grid.num_columns();
    };
    for (std::size_t tile = 0; tile < tiles_.size(); ++tile)
      moved[static_cast<std::size_t>(place(static_cast<std::int64_t>(tile)))] = std::move(tiles_[tile]);
    next_tile_ = 0;
    tiles_ = std::move(moved);
  }
  grid = larger;
}

// Distributes the edges to their tiles, sorted, and calls change(tile, edges) for each tile that gets some.
template <class Change>
void changing_tiles::apply(std::span<const std::int64_t> edges, int threads, const control& ctl, Change&& change) {
  const auto batch = graph::tile_list(edges, grid, threads, ctl);
  std::vector<std::int64_t> touched;
  for (std::int64_t tile = 0; tile < grid.num_tiles(); ++tile)
    if (batch.offsets[tile] < batch.offsets[tile + 1]) touched.push_back(tile);
  // From here on `ctl` is not checked: a batch is applied as a whole.
  parallel_chunks(0, static_cast<std::int64_t>(touched.size()), 16,
                  worthwhile_threads(static_cast<std::int64_t>(edges.size()), threads), control(),
                  [&](int, std::int64_t begin, std::int64_t end) {
                    for (auto i = begin; i < end; ++i) {
                      const auto tile = touched[static_cast<std::size_t>(i)];
                      change(tiles_[static_cast<std::size_t>(tile)],
                             std::span<const tile_edge>(batch.edges.data() + batch.offsets[tile],
                                                        batch.edges.data() + batch.offsets[tile + 1]));
                    }
                  });
}

std::int64_t changing_tiles::num_edges() const {
  std::int64_t count = 0;
  for (const auto& tile : tiles_) count += tile.size();
  return count;
}

std::int64_t changing_tiles::num_loose() const {
  std::int64_t count = 0;
  for (const auto& tile : tiles_) count += tile.loose();
  return count;
}

std::int64_t changing_tiles::insert(std::span<const std::int64_t> edges, int threads, const control& ctl) {
  const auto before = num_edges();
  apply(edges, threads, ctl, [](tile_of_edges& tile, std::span<const tile_edge> batch) { tile.insert(batch); });
  return num_edges() - before;
}

std::int64_t changing_tiles::erase(std::span<const std::int64_t> edges, int threads, const control& ctl) {
  const auto before = num_edges();
  apply(edges, threads, ctl, [](tile_of_edges& tile, std::span<const tile_edge> batch) { tile.erase(batch); });
  return before - num_edges();
}

std::int64_t changing_tiles::refine(std::int64_t budget, int threads, const control& ctl) {
  // Continues where the last call ended, so that every tile gets its turn.
  std::vector<std::size_t> chosen;
  std::int64_t moved = 0;
  for (std::size_t seen = 0; seen < tiles_.size() && moved < budget; ++seen) {
    const auto tile = next_tile_ < tiles_.size() ? next_tile_ : 0;
    next_tile_ = tile + 1;
    if (tiles_[tile].loose() == 0) continue;
    chosen.push_back(tile);
    moved += tiles_[tile].size();
  }
  parallel_chunks(0, static_cast<std::int64_t>(chosen.size()), 4, worthwhile_threads(moved, threads), ctl,
                  [&](int, std::int64_t begin, std::int64_t end) {
                    for (auto i = begin; i < end; ++i) tiles_[chosen[static_cast<std::size_t>(i)]].refine();
                  });
  return moved;
}

graph::tiled_edges changing_tiles::pack(int threads, const control& ctl) {
  refine(INT64_MAX, threads, ctl);
  graph::tiled_edges packed;
  packed.offsets = buffer<std::int64_t>(tiles_.size() + 1, 0);
  for (std::size_t tile = 0; tile < tiles_.size(); ++tile)
    packed.offsets[tile + 1] = packed.offsets[tile] + tiles_[tile].size();
  packed.edges = buffer<tile_edge>(static_cast<std::size_t>(packed.offsets[tiles_.size()]));
  parallel_chunks(0, static_cast<std::int64_t>(tiles_.size()), 16,
                  worthwhile_threads(packed.offsets[tiles_.size()], threads), ctl,
                  [&](int, std::int64_t begin, std::int64_t end) {
                    for (auto tile = static_cast<std::size_t>(begin); tile < static_cast<std::size_t>(end); ++tile) {
                      const auto edges = tiles_[tile].all();
                      std::copy(edges.begin(), edges.end(), packed.edges.data() + packed.offsets[tile]);
                    }
                  });
  return packed;
}

}  // namespace graphlode::locality
