// pagerank_tiles.hpp - PageRank over tiles: what arrives at a range of destinations is added up within the cache.
//
// Rows of tiles are cut into segments of even work, which threads take in turn; a graph may well have most of its edges
// in one row. The first segment of a row adds to the sums themselves, each further one to an array of its own, and
// whoever finishes the last one of a row adds these up, in their order, and finishes the row while it is in the cache.
// So no sum is written by two threads, and the answer is the same to the last bit on any number of threads.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <vector>

#include "graphlode/graph/tiled.hpp"
#include "graphlode/parallel.hpp"
#include "walks/pagerank_state.hpp"

namespace graphlode::analytics {

// sums[destination] += sent[source] for each edge. Neighboring edges mostly have their source in common and differ in
// their destination: their additions do not wait for each other. What four edges bring is read before the first of them
// is added, since the compiler must take any sum for something that is sent.
inline void send_along(std::span<const graph::tile_edge> edges, const double* sent, double* sums) {
  using graph::destination_of, graph::source_of;
  std::size_t i = 0;
  for (; i + 4 <= edges.size(); i += 4) {
    const graph::tile_edge four[4] = {edges[i], edges[i + 1], edges[i + 2], edges[i + 3]};
    double brought[4];
    for (std::size_t j = 0; j < 4; ++j) brought[j] = sent[source_of(four[j])];
    for (std::size_t j = 0; j < 4; ++j) sums[destination_of(four[j])] += brought[j];
  }
  for (; i < edges.size(); ++i) sums[destination_of(edges[i])] += sent[source_of(edges[i])];
}

template <class Tiles>
class tile_sums {
 public:
  tile_sums(const Tiles& tiles, int threads) : tiles_(tiles), grid_(tiles.grid), threads_(threads) {
    const auto num_rows = grid_.num_rows();
    const auto most = std::max(least_segment, tiles.num_edges() / most_segments);
    std::int64_t extra = 0;
    for (std::int64_t row = 0; row < num_rows; ++row) {
      first_of_rows_.push_back(segments_.size());
      cut_row(row, most);
      const auto num_segments = static_cast<std::int64_t>(segments_.size() - first_of_rows_.back());
      first_extra_.push_back(extra);
      extra += num_segments - 1;
    }
    first_of_rows_.push_back(segments_.size());
    unfinished_ = std::vector<std::atomic<std::int64_t>>(static_cast<std::size_t>(num_rows));
    extra_ = buffer<double>(static_cast<std::size_t>(extra * row_length()));
  }

  // Adds up what arrives if every vertex sends its number of `sent`, and calls finish(row, its sums) for every row of
  // tiles. `sums` has room for all vertices; those of a row are not looked at again once it is finished.
  template <class Finish>
  void run(const double* sent, double* sums, const control& ctl, Finish&& finish) {
    for (std::size_t row = 0; row < unfinished_.size(); ++row)
      unfinished_[row].store(static_cast<std::int64_t>(first_of_rows_[row + 1] - first_of_rows_[row]));
    parallel_chunks(0, static_cast<std::int64_t>(segments_.size()), 1, threads_, ctl,
                    [&](int, std::int64_t at, std::int64_t) {
                      const auto& part = segments_[static_cast<std::size_t>(at)];
                      const auto row = static_cast<std::size_t>(part.row);
                      const auto nth = static_cast<std::size_t>(at) - first_of_rows_[row];
                      add_up(part, sent, nth == 0 ? sums + row_begin(part.row) : extra_sums(part.row, nth));
                      if (unfinished_[row].fetch_sub(1, std::memory_order_acq_rel) > 1) return;
                      join(part.row, sums + row_begin(part.row));
                      finish(part.row, sums + row_begin(part.row));
                    });
  }

 private:
  // A segment costs a pass over the sums of its row beside its edges: these must be many more.
  static constexpr std::int64_t least_segment = 1 << 20;
  static constexpr std::int64_t most_segments = 256;  // beside one for each row: they bound the arrays of their own

  struct segment {
    std::int64_t row, column, first, num_edges;  // begins with edge `first` of the tile at row and column
  };

  std::int64_t row_length() const { return std::int64_t{1} << grid_.row_bits; }
  std::int64_t row_begin(std::int64_t row) const { return row << grid_.row_bits; }
  std::int64_t destinations_in(std::int64_t row) const {
    return std::min(row_length(), grid_.num_vertices - row_begin(row));
  }

  // Every row has at least one segment, be it empty: it is to be finished.
  void cut_row(std::int64_t row, std::int64_t most) {
    std::int64_t in_row = 0;
    for (std::int64_t column = 0; column < grid_.num_columns(); ++column)
      in_row += static_cast<std::int64_t>(tiles_.tile(row, column).size());
    const auto count = std::max<std::int64_t>(1, (in_row + most / 2) / most);
    std::int64_t column = 0, before = 0;  // edges of the row in front of the column
    for (std::int64_t i = 0; i < count; ++i) {
      const auto begin = in_row * i / count, end = in_row * (i + 1) / count;
      for (; column + 1 < grid_.num_columns(); ++column) {
        const auto behind = before + static_cast<std::int64_t>(tiles_.tile(row, column).size());
        if (begin < behind) break;
        before = behind;
      }
      segments_.push_back({row, column, begin - before, end - begin});
    }
  }

  double* extra_sums(std::int64_t row, std::size_t nth) {
    const auto at = first_extra_[static_cast<std::size_t>(row)] + static_cast<std::int64_t>(nth) - 1;
    return extra_.data() + at * row_length();
  }

  void add_up(const segment& part, const double* sent, double* sums) const {
    std::fill_n(sums, destinations_in(part.row), 0.0);
    auto left = static_cast<std::size_t>(part.num_edges), first = static_cast<std::size_t>(part.first);
    for (auto column = part.column; left > 0; ++column, first = 0) {
      const auto tile = tiles_.tile(part.row, column);
      const auto edges = tile.subspan(first, std::min(left, tile.size() - first));
      send_along(edges, sent + (column << graph::column_bits), sums);
      left -= edges.size();
    }
  }

  void join(std::int64_t row, double* sums) {
    const auto count = destinations_in(row);
    const auto at = static_cast<std::size_t>(row);
    for (std::size_t nth = 1; nth < first_of_rows_[at + 1] - first_of_rows_[at]; ++nth) {
      const double* const beside = extra_sums(row, nth);
      for (std::int64_t i = 0; i < count; ++i) sums[i] += beside[i];
    }
  }

  const Tiles& tiles_;
  graph::tile_grid grid_;
  int threads_;
  std::vector<segment> segments_;
  std::vector<std::size_t> first_of_rows_;  // segment of each row, and the number of segments
  std::vector<std::int64_t> first_extra_;   // array of its own of each row's second segment
  std::vector<std::atomic<std::int64_t>> unfinished_;
  buffer<double> extra_;
};

template <class Tiles>
pagerank_values rank_tiles(const Tiles& tiles, const double* out_weights, const pagerank_settings& settings,
                           int threads, const control& ctl, const std::function<void()>& between) {
  pagerank_state state(tiles.grid.num_vertices, out_weights, settings, threads, ctl);
  const auto row_blocks = std::max<std::int64_t>(1, (std::int64_t{1} << tiles.grid.row_bits) / state.block_rows);
  tile_sums<Tiles> sums(tiles, worthwhile_threads(tiles.grid.num_vertices + tiles.num_edges(), threads));
  return state.run(ctl, [&] {
    if (between) between();
    sums.run(state.sent(), state.next_sent(), ctl, [&](std::int64_t row, const double* arriving) {
      const auto first = row * row_blocks, last = std::min(first + row_blocks, state.num_blocks());
      for (auto block = first; block < last; ++block)
        state.finish(block, arriving + (block - first) * state.block_rows);
    });
  });
}

}  // namespace graphlode::analytics
