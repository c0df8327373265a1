// tiled.cpp - tiles from rows and from lists of edges. See tiled.hpp.
#include "graphlode/graph/tiled.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "graphlode/parallel.hpp"
#include "stable_partition.hpp"

namespace graphlode::graph {
namespace {

constexpr std::int64_t least_piece = 1 << 16;  // entries from which on a piece is worth its own counts
constexpr std::int64_t most_piece = 1 << 23;   // entries between two checks for a stop

// The approximate number of entries per piece: several pieces per thread, but no more counts than entries.
std::int64_t piece_size(std::int64_t num_entries, std::int64_t num_buckets, int threads) {
  return std::max({least_piece, 4 * num_buckets, std::min(most_piece, num_entries / (8 * threads))});
}

// Ranges of vertices, each within a column and with about `most` entries.
template <class Vertex>
std::vector<input_piece> cut_columns(const csr_view<Vertex>& rows, const tile_grid& grid, std::int64_t most) {
  std::vector<input_piece> pieces;
  const auto* const offsets = rows.offsets;
  for (std::int64_t column = 0; column < grid.num_columns(); ++column) {
    const auto end = std::min((column + 1) << column_bits, grid.num_vertices);
    for (auto first = column << column_bits; first < end;) {
      const auto* const behind = std::upper_bound(offsets + first + 1, offsets + end, offsets[first] + most);
      const auto last = static_cast<std::int64_t>(behind - offsets);
      pieces.push_back({first, last, column});
      first = last;
    }
  }
  return pieces;
}

void insertion_sort(std::span<tile_edge> edges) {
  for (std::size_t i = 1; i < edges.size(); ++i) {
    const auto edge = edges[i];
    auto at = i;
    for (; at > 0 && edges[at - 1] > edge; --at) edges[at] = edges[at - 1];
    edges[at] = edge;
  }
}

}  // namespace

template <class Vertex>
tiled_edges tile_rows(const csr_view<Vertex>& rows, int row_bits, int threads, const control& ctl) {
  const tile_grid grid{rows.num_vertices, row_bits};
  const auto num_entries = rows.num_entries();
  threads = worthwhile_threads(num_entries, threads);
  const auto pieces = cut_columns(rows, grid, piece_size(num_entries, grid.num_rows(), threads));
  tiled_edges made;
  made.edges = buffer<tile_edge>(static_cast<std::size_t>(num_entries));
  made.offsets =
      stable_partition<tile_edge>(pieces, grid.num_columns(), grid.num_rows(), bucket_order::by_bucket,
                                  made.edges.data(), threads, ctl, [&](const input_piece& piece, auto&& sink) {
                                    for (auto u = piece.begin; u < piece.end; ++u)
                                      for (const auto v : rows.row(u))
                                        sink(v >> row_bits, tile_edge_of(u, v, row_bits));
                                  });
  return made;
}

template tiled_edges tile_rows(const csr_view<std::int32_t>&, int, int, const control&);
template tiled_edges tile_rows(const csr_view<std::int64_t>&, int, int, const control&);

tiled_edges tile_list(std::span<const std::int64_t> edges, const tile_grid& grid, int threads, const control& ctl) {
  const auto num_edges = static_cast<std::int64_t>(edges.size());
  threads = worthwhile_threads(num_edges, threads);
  const auto num_rows = grid.num_rows(), num_columns = grid.num_columns();

  std::vector<input_piece> pieces;
  cut_pieces(0, num_edges, piece_size(num_edges, num_rows, threads), 0, pieces);
  buffer<std::int64_t> in_rows(edges.size());
  const auto row_begins = stable_partition<std::int64_t>(pieces, 1, num_rows, bucket_order::by_group, in_rows.data(),
                                                         threads, ctl, [&](const input_piece& piece, auto&& sink) {
                                                           for (auto i = piece.begin; i < piece.end; ++i) {
                                                             const auto edge = edges[static_cast<std::size_t>(i)];
                                                             sink(grid.row_of(edge & 0xffffffff), edge);
                                                           }
                                                         });

  pieces.clear();
  const auto most = piece_size(num_edges, num_columns, threads);
  for (std::int64_t row = 0; row < num_rows; ++row) cut_pieces(row_begins[row], row_begins[row + 1], most, row, pieces);
  tiled_edges made;
  made.edges = buffer<tile_edge>(edges.size());
  made.offsets = stable_partition<tile_edge>(pieces, num_rows, num_columns, bucket_order::by_group, made.edges.data(),
                                             threads, ctl, [&](const input_piece& piece, auto&& sink) {
                                               for (auto i = piece.begin; i < piece.end; ++i) {
                                                 const auto edge = in_rows[static_cast<std::size_t>(i)];
                                                 const auto source = edge >> 32;
                                                 sink(tile_grid::column_of(source),
                                                      tile_edge_of(source, edge & 0xffffffff, grid.row_bits));
                                               }
                                             });

  auto* const beside = reinterpret_cast<tile_edge*>(in_rows.data());
  parallel_chunks(0, grid.num_tiles(), 16, threads, ctl, [&](int, std::int64_t begin, std::int64_t end) {
    for (auto tile = begin; tile < end; ++tile) {
      const auto first = made.offsets[tile], last = made.offsets[tile + 1];
      sort_tile({made.edges.data() + first, made.edges.data() + last}, beside + first);
    }
  });
  return made;
}

// Four stable passes by one byte each, from the lowest. One pass takes all counts.
void sort_tile(std::span<tile_edge> tile, tile_edge* beside) {
  constexpr std::size_t few = 48;
  if (tile.size() <= few) return insertion_sort(tile);
  std::array<std::array<std::uint32_t, 256>, 4> places{};
  for (const auto edge : tile)
    for (std::size_t digit = 0; digit < 4; ++digit) ++places[digit][edge >> (8 * digit) & 0xff];
  tile_edge *from = tile.data(), *to = beside;
  for (std::size_t digit = 0; digit < 4; ++digit) {
    auto& next = places[digit];
    std::uint32_t sum = 0;
    for (auto& place : next) sum += std::exchange(place, sum);
    for (std::size_t i = 0; i < tile.size(); ++i) to[next[from[i] >> (8 * digit) & 0xff]++] = from[i];
    std::swap(from, to);
  }
}

}  // namespace graphlode::graph
