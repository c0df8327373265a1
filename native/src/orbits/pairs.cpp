// orbits/pairs.cpp - for each u, what it has in common with every other v, and the consequences for the edges on the
// way.
//
// Unlike the pair pass of motifs, this pass visits every pair from both sides. So everything about u or an edge ux is
// found by one thread, in registers, and added once. A first walk along all u-x-v gives W(u, v), D(u, v) and the sum of
// t(xv); a second walk uses them. c3(x, u, v) comes from the neighborhood of x, in both walks.
//
// If v is adjacent to u around x, xuv is a triangle. Sums over the members b adjacent to v then give what is known of
// 4-cycles and 4-cliques around x at the edges uv and xv.
#include <algorithm>
#include <array>
#include <utility>

#include "graphlode/bits.hpp"
#include "graphlode/parallel.hpp"
#include "motifs/binomials.hpp"
#include "motifs/bits.hpp"
#include "motifs/queue.hpp"
#include "orbits/passes.hpp"

namespace graphlode::mining::motifs {
namespace {

using number = std::uint64_t;  // negative numbers wrap around, and back again

constexpr int joined_shift = 32;  // a cell: W below, 2 D above

// The weights of a member b around x, for a member v that is adjacent to b and to u.
struct weights {
  number rim = 0;       // c3(x, u, b) - 1, added to uv: e63
  number clique = 0;    // the same if b is adjacent to u, added to uv or v: e65, o70
  number square = 0;    // W(u, b) - 2, added to xv: e58
  number opposite = 0;  // t(xb) - 2 if b is adjacent to u, added to uv: e60
};

class pair_thread {
 public:
  pair_thread(const motif_graph& graph, const neighborhoods& around, raw_arrays& found)
      : graph_(graph),
        around_(around),
        found_(found),
        of_edges_(found.wants(raw::e63)),
        first_partner_(graph.first_of_degree(2)),
        cells_(static_cast<std::size_t>(graph.num_vertices), 0),
        far_(static_cast<std::size_t>(graph.num_vertices), 0),
        marks_(static_cast<std::size_t>(graph.num_vertices)),
        touched_(static_cast<std::size_t>(graph.num_vertices) + 1) {
    const auto longest = static_cast<std::size_t>(graph.largest_degree());
    common_ = buffer<number>(longest);
    masks_ = buffer<std::uint64_t>(longest / 64 + 1);
    for (auto& one : weights_) one = buffer<number>(64 * (longest / 64 + 1));
    joined_ = buffer<std::uint32_t>(longest);
  }

  // Every part makes the first walk completely, and then processes its share.
  void search(const row_part& part, const control& ctl) {
    const auto u = part.row;
    if (u < first_partner_) return;
    const auto row = graph_.row(u);
    for (std::size_t i = 0; i < row.size(); ++i) marks_[row[i]] = static_cast<std::int32_t>(i);
    num_touched_ = 0;
    for (std::int64_t i = 0; i < graph_.degree(u); ++i) {
      if ((i & 15) == 0) ctl.check();
      first_walk(u, i);
    }
    const auto share = [&](std::int64_t size, int i) { return size * i / part.parts; };
    for (auto i = share(graph_.degree(u), part.part); i < share(graph_.degree(u), part.part + 1); ++i) {
      if ((i & 15) == 0) ctl.check();
      second_walk(u, i);
    }
    add_pairs(u, share(num_touched_, part.part), share(num_touched_, part.part + 1));
    for (std::int64_t t = 0; t < num_touched_; ++t) cells_[touched_[t]] = far_[touched_[t]] = 0;
  }

 private:
  number wedges(rank v) const { return static_cast<std::uint32_t>(cells_[v]); }
  number edges_between(rank v) const { return cells_[v] >> joined_shift >> 1; }
  number degree(std::int64_t v) const { return static_cast<number>(graph_.degree(v)); }

  // Writes c3(x, u, v) to common_ for all members v; returns false if all are 0. u is at `place` and excluded.
  bool count_common(std::int64_t x, std::int64_t place) {
    if (graph_.supports(x)[place] == 0) return false;
    const auto size = graph_.degree(x);
    switch (around_.kind(x)) {
      case neighborhood_kind::bits: {
        bool first = true;
        for (std::int64_t w = 0; w < neighborhoods::num_words(size); ++w) {
          const auto* const column = around_.column(x, w);
          if (!column[place]) continue;
          (first ? set_common_bits : add_common_bits)(column, column[place], common_.data(), size);
          first = false;
        }
        break;
      }
      case neighborhood_kind::short_lists:
        count_by_lists<std::uint16_t>(x, place);
        break;
      default:
        count_by_lists<std::uint32_t>(x, place);
    }
    common_[place] = 0;
    return true;
  }
  template <class Index>
  void count_by_lists(std::int64_t x, std::int64_t place) {
    std::fill_n(common_.data(), graph_.degree(x), 0);
    for (const auto y : around_.members<Index>(x, place))
      for (const auto j : around_.members<Index>(x, y)) ++common_[j];
  }

  void first_walk(std::int64_t u, std::int64_t i) {
    const auto x = graph_.row(u)[static_cast<std::size_t>(i)];
    const std::int64_t place = graph_.places(u)[i], size = graph_.degree(x);
    const auto* const row = graph_.neighbors + graph_.offsets[x];
    const auto* const supports = graph_.supports(x);
    const bool joined = count_common(x, place);
    for (auto j = graph_.place_of_first(x, first_partner_); j < size; ++j) {
      if (j == place) continue;
      auto& cell = cells_[row[j]];
      touched_[num_touched_] = row[j];
      num_touched_ += cell == 0;
      cell += 1 + (joined ? common_[j] << joined_shift : 0);
      far_[row[j]] += static_cast<number>(supports[j]);
    }
  }

  void second_walk(std::int64_t u, std::int64_t i) {
    const auto x = graph_.row(u)[static_cast<std::size_t>(i)];
    const std::int64_t place = graph_.places(u)[i], size = graph_.degree(x);
    const auto* const row = graph_.neighbors + graph_.offsets[x];
    const auto* const supports = graph_.supports(x);
    const auto edge = graph_.edges[graph_.offsets[u] + i];
    number squares = 0, shared = 0, tails = 0, far = 0, beside = 0, joined = 0;
    for (auto j = graph_.place_of_first(x, first_partner_); j < size; ++j) {
      if (j == place) continue;
      const auto v = row[j];
      const auto others = wedges(v) - 1, t = static_cast<number>(supports[j]);
      squares += others;
      shared += choose2(others);
      joined += edges_between(v);
      if (of_edges_) {
        tails += others * (degree(v) - 2);
        beside += others * t;
        far += far_[v] - t;
      }
    }
    if (x < u) {  // the same from either side
      found_.add(raw::e5, edge, squares);
      found_.add(raw::e43, edge, far);
    }
    found_.add(raw::e42, edge, shared);
    found_.add(raw::o49, x, shared);
    found_.add(raw::e30, edge, tails);
    found_.add(raw::e44, edge, beside);
    found_.add(raw::e56, edge, joined);
    found_.add(raw::o62, x, joined);
    if (count_common(x, place)) add_around(u, i);
  }

  // The terms that depend on c3(x, u, v), which is now in common_.
  void add_around(std::int64_t u, std::int64_t i) {
    const auto x = graph_.row(u)[static_cast<std::size_t>(i)];
    const auto* const row = graph_.neighbors + graph_.offsets[x];
    const auto edge = graph_.edges[graph_.offsets[u] + i];
    number crossed = 0;
    for (std::int64_t j = 0; j < graph_.degree(x); ++j)
      if (common_[j]) crossed += common_[j] * (wedges(row[j]) - 2);
    const auto wheels = sum_choose2(common_.data(), graph_.degree(x));
    found_.add(raw::e57, edge, crossed);
    found_.add(raw::o64, x, crossed);
    found_.add(raw::e64, edge, wheels);
    found_.add(raw::o69, x, wheels);
    found_.add(raw::o68, u, wheels);
    collect_joined(x, graph_.places(u)[i]);
    add_triangles(u, i);
    if (of_edges_)
      add_products_at_edges(u, x, graph_.places(u)[i]);
    else if (x < u)
      add_products_at_vertices(x);
  }

  // Collects the members around x that are adjacent to the one at `place`.
  void collect_joined(std::int64_t x, std::int64_t place) {
    num_joined_ = 0;
    const auto keep = [&](std::int64_t j) { joined_[num_joined_++] = static_cast<std::uint32_t>(j); };
    if (around_.kind(x) == neighborhood_kind::bits)
      for (std::int64_t w = 0; w < neighborhoods::num_words(graph_.degree(x)); ++w)
        for_each_bit(around_.column(x, w)[place], w * 64, keep);
    else if (around_.kind(x) == neighborhood_kind::short_lists)
      for (const auto j : around_.members<std::uint16_t>(x, place)) keep(j);
    else
      for (const auto j : around_.members<std::uint32_t>(x, place)) keep(j);
  }

  // Sums over the triangles xuv and the 4-cliques on them.
  void add_triangles(std::int64_t u, std::int64_t i) {
    const auto x = graph_.row(u)[static_cast<std::size_t>(i)];
    const auto edge = graph_.edges[graph_.offsets[u] + i];
    number cliques = 0, tails = 0, hats = 0, pairs = 0;
    for (std::int64_t k = 0; k < num_joined_; ++k) {
      const auto j = joined_[k];
      const auto v = graph_.neighbors[graph_.offsets[x] + j];
      const auto count = common_[j];
      const auto uv = static_cast<number>(graph_.supports(u)[marks_[v]]);
      cliques += count;
      tails += count * (degree(v) - 3);
      hats += count * (uv - 2);
      pairs += choose2(count);
    }
    found_.add(raw::o66, x, hats);
    found_.add(raw::o71, u, pairs);
    found_.add(raw::e61, edge, hats);
    if (x > u) return;
    found_.add(raw::e11, edge, cliques);
    found_.add(raw::e50, edge, tails);
    found_.add(raw::e66, edge, pairs);
  }

  // The sum of weights_[which] over the members adjacent to member j. masks_ has these if they are kept as bits.
  number weigh(std::size_t which, std::int64_t x, std::int64_t j) const {
    const auto* const weight = weights_[which].data();
    number sum = 0;
    switch (around_.kind(x)) {
      case neighborhood_kind::bits:
        return sum_masked(masks_.data(), neighborhoods::num_words(graph_.degree(x)), weight);
      case neighborhood_kind::short_lists:
        for (const auto b : around_.members<std::uint16_t>(x, j)) sum += weight[b];
        return sum;
      default:
        for (const auto b : around_.members<std::uint32_t>(x, j)) sum += weight[b];
        return sum;
    }
  }
  void load_masks(std::int64_t x, std::int64_t j) {
    if (around_.kind(x) != neighborhood_kind::bits) return;
    for (std::int64_t w = 0; w < neighborhoods::num_words(graph_.degree(x)); ++w) masks_[w] = around_.column(x, w)[j];
  }
  void clear_weights(std::size_t count, std::int64_t size) {
    for (std::size_t k = 0; k < count; ++k) std::fill_n(weights_[k].data(), 64 * neighborhoods::num_words(size), 0);
  }

  // 4-cycles x, u, v, b: adds the term of the triangle b < x < u to v.
  void add_products_at_vertices(std::int64_t x) {
    clear_weights(1, graph_.degree(x));
    for (std::int64_t k = 0; k < num_joined_ && joined_[k] < static_cast<std::uint32_t>(graph_.lower[x]); ++k)
      weights_[0][joined_[k]] = common_[joined_[k]] - 1;
    for (std::int64_t k = 0; k < num_joined_; ++k)
      if (const auto j = joined_[k]; common_[j]) {
        load_masks(x, j);
        found_.add(raw::o70, graph_.neighbors[graph_.offsets[x] + j], weigh(0, x, j));
      }
  }

  void add_products_at_edges(std::int64_t u, std::int64_t x, std::int64_t place) {
    const auto size = graph_.degree(x);
    // Two sums fit one word unless the graph has huge hubs.
    const bool paired = size * std::max(size, graph_.degree(u)) < std::int64_t{1} << 32;
    clear_weights(paired ? 2 : 4, size);
    for (std::int64_t b = 0; b < size; ++b) {
      const auto end = graph_.neighbors[graph_.offsets[x] + b];
      // Only members that have a common neighbor with u around x are ever adjacent to one that is adjacent to u.
      if (b != place && common_[b]) put(b, paired, {.rim = common_[b] - 1, .square = wedges(end) - 2});
    }
    for (std::int64_t k = 0; k < num_joined_; ++k) {
      const auto b = joined_[k];
      const auto opposite = static_cast<number>(graph_.supports(x)[b]) - 2;
      if (common_[b]) put(b, paired, {.clique = common_[b] - 1, .opposite = opposite});
    }
    for (std::int64_t k = 0; k < num_joined_; ++k) add_product(u, x, joined_[k], paired);
  }
  void put(std::int64_t b, bool paired, const weights& w) {
    if (paired) {
      weights_[0][b] += w.rim + (w.clique << 32);
      weights_[1][b] += w.square + (w.opposite << 32);
    } else {
      weights_[0][b] += w.rim;
      weights_[1][b] += w.square;
      weights_[2][b] += w.clique;
      weights_[3][b] += w.opposite;
    }
  }
  void add_product(std::int64_t u, std::int64_t x, std::int64_t j, bool paired) {
    const auto v = graph_.neighbors[graph_.offsets[x] + j];
    const auto uv = graph_.edges[graph_.offsets[u] + marks_[v]], xv = graph_.edges[graph_.offsets[x] + j];
    load_masks(x, j);
    weights sums{.rim = weigh(0, x, j)};
    if (x < v || v < u) sums.square = weigh(1, x, j);
    if (paired) {
      sums.clique = std::exchange(sums.rim, sums.rim & 0xffffffff) >> 32;
      sums.opposite = std::exchange(sums.square, sums.square & 0xffffffff) >> 32;
    } else {
      sums.clique = weigh(2, x, j);
      sums.opposite = weigh(3, x, j);
    }
    found_.add(raw::e65, uv, sums.clique);
    if (x < v) found_.add(raw::e58, xv, sums.square);
    if (v > u) return;
    found_.add(raw::e63, uv, sums.rim);
    found_.add(raw::e60, uv, sums.opposite);
  }

  void add_pairs(std::int64_t u, std::int64_t begin, std::int64_t end) {
    if (of_edges_) return;
    number tails = 0, thirds = 0, houses = 0, hinged = 0, crossed = 0;
    for (auto t = begin; t < end; ++t) {
      const auto v = touched_[t];
      const auto w = wedges(v), d = degree(v) - 2, edges = edges_between(v);
      tails += choose2(w) * d;
      thirds += static_cast<number>(choose3(w));
      houses += (w - 1) * far_[v];
      hinged += edges * d;
      crossed += edges * (w - 2);
    }
    found_.add(raw::o36, u, tails);
    found_.add(raw::o50, u, thirds);
    found_.add(raw::o51, u, houses);
    found_.add(raw::o46, u, hinged);
    found_.add(raw::o63, u, crossed);
  }

  const motif_graph& graph_;
  const neighborhoods& around_;
  raw_arrays& found_;
  const bool of_edges_;
  const std::int64_t first_partner_;  // a vertex with one neighbor has no second common neighbor
  buffer<std::uint64_t> cells_;
  buffer<number> far_;          // of each v: the sum of t(xv)
  buffer<std::int32_t> marks_;  // place of each neighbor of u in the row of u; undefined for others
  buffer<rank> touched_;
  std::int64_t num_touched_ = 0;
  buffer<number> common_;
  buffer<std::uint64_t> masks_;
  std::array<buffer<number>, 4> weights_;  // of the members around x: the four of `weights`, or two in each of two
  buffer<std::uint32_t> joined_;
  std::int64_t num_joined_ = 0;
};

}  // namespace

void add_pair_orbits(const motif_graph& graph, const neighborhoods& around, row_range rows, raw_arrays& found,
                     int threads, const control& ctl) {
  threads = worthwhile_threads(graph.offsets[rows.end] - graph.offsets[rows.begin], threads);
  row_queue queue(rows, threads, ctl, [&](std::int64_t u) {
    std::int64_t steps = 1;
    if (graph.degree(u) < 2) return steps;
    for (const auto x : graph.row(u)) {
      const auto words = around.kind(x) == neighborhood_kind::empty ? 0 : neighborhoods::num_words(graph.degree(x)) / 2;
      steps += graph.degree(x) * (3 + words);
    }
    return steps;
  });
  with_helpers(threads, [&](int) {
    pair_thread mine(graph, around, found);
    while (queue.take(ctl, [&](const row_part& part) { mine.search(part, ctl); })) {
    }
  });
}

}  // namespace graphlode::mining::motifs
