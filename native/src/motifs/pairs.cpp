// motifs/pairs.cpp - for each u, what it has in common with every v < u: the walks u-x-v, and the diamonds on them.
//
// A cell per v counts W, the common neighbors x, and twice D, the edges among them. For each x, the latter comes from
// the neighborhood of x: c3(x, u, v) is the number of members adjacent to both u and v, computed for all v at once. The
// same numbers give the wheels with hub x and, if v is adjacent to u, the 4-cliques at the triangle xuv; triangles are
// visited from their lowest vertex x. Vertices with fewer than three neighbors are not involved.
//
// If hubs are left out as middles, D counts the edges with one end that is not a hub from that end: twice if the other
// end is a hub, because it will not be visited from there.
#include <algorithm>
#include <mutex>
#include <utility>

#include "graphlode/bits.hpp"
#include "graphlode/parallel.hpp"
#include "motifs/binomials.hpp"
#include "motifs/bits.hpp"
#include "motifs/passes.hpp"
#include "motifs/queue.hpp"
#include "motifs/triangle.hpp"

namespace graphlode::mining::motifs {
namespace {

constexpr int joined_shift = 32;  // a cell: W below, 2 D above; both are below 2^32 in a graph of 2^31 edges

// The data that all threads of the pass share.
struct pair_pass {
  const motif_graph& graph;
  const neighborhoods& around;
  const hub_classes& hubs;
  const bool squares;
  const std::int64_t first_hub = hubs.first(graph);
  const std::int64_t first_partner = graph.first_of_degree(squares ? 2 : 3);
  buffer<std::int32_t> partner_places{};  // in each row: the first place with enough neighbors
  buffer<std::int32_t> hub_places{};      // in each row: the first hub

  void prepare(int threads, const control& ctl) {
    const auto n = static_cast<std::size_t>(graph.num_vertices);
    partner_places = buffer<std::int32_t>(n);
    hub_places = buffer<std::int32_t>(n);
    parallel_chunks(0, graph.num_vertices, 4096, threads, ctl, [&](int, std::int64_t begin, std::int64_t end) {
      for (auto u = begin; u < end; ++u) {
        partner_places[u] = static_cast<std::int32_t>(graph.place_of_first(u, first_partner));
        hub_places[u] = static_cast<std::int32_t>(hubs.none() ? graph.degree(u) : graph.place_of_first(u, first_hub));
      }
    });
  }
  std::int64_t work(std::int64_t u) const {
    if (u < first_partner) return 1;
    std::int64_t steps = graph.degree(u);
    for (std::int64_t i = 0; i < hub_places[u]; ++i) {
      const auto x = graph.row(u)[static_cast<std::size_t>(i)];
      const std::int64_t ahead = graph.places(u)[i] - std::min(partner_places[x], graph.places(u)[i]);
      const auto kind = graph.supports(u)[i] ? around.kind(x) : neighborhood_kind::empty;
      steps += ahead * (kind == neighborhood_kind::empty ? 1 : 1 + neighborhoods::num_words(graph.degree(x)) / 4);
    }
    return steps;
  }
};

class pair_thread {
 public:
  // `most_work` bounds the walks from one vertex, and so the number of its partners.
  pair_thread(const pair_pass& pass, std::int64_t most_work)
      : pass_(pass),
        graph_(pass.graph),
        cells_(static_cast<std::size_t>(graph_.num_vertices), 0),
        marks_(static_cast<std::size_t>(graph_.num_vertices), 0),
        touched_(static_cast<std::size_t>(std::min(graph_.num_vertices, most_work)) + 1),
        common_(static_cast<std::size_t>(graph_.largest_degree())),
        with_hubs_(static_cast<std::size_t>(pass.hubs.none() ? 0 : graph_.largest_degree())) {}

  void search(const row_part& part, const control& ctl) {
    const auto u = part.row;
    if (u < pass_.first_partner) return;
    begin_ = first_of_part(u, part.part, part.parts);
    end_ = first_of_part(u, part.part + 1, part.parts);
    const auto row = graph_.row(u);
    for (std::size_t i = 0; i < row.size(); ++i) marks_[row[i]] = static_cast<std::int32_t>(i);
    num_touched_ = 0;
    for (std::int64_t i = 0; i < pass_.hub_places[u]; ++i) {
      if ((i & 63) == 0) ctl.check();
      walk(u, i, part.parts > 1);
    }
    if (pass_.squares) add_squares(u, part.parts > 1);
    if (pass_.hubs.none())
      evaluate();
    else
      evaluate_with_hubs(u);
  }

  motif_sums sums;

 private:
  struct places {
    std::int64_t begin, from, to;  // of v in row x: start of the part, start of the partners of u, end of both
  };

  // Parts are ranges of v with about the same number of entries, because high ranks occur more often.
  std::int64_t first_of_part(std::int64_t u, int part, int parts) const {
    if (part == 0) return 0;
    if (part == parts) return u;
    const auto goal = graph_.offsets[u] / parts * part;
    return std::lower_bound(graph_.offsets, graph_.offsets + u, goal) - graph_.offsets;
  }
  places range_in(std::int64_t x, std::int64_t place_of_u, bool split) const {
    const auto begin = split ? graph_.place_of_first(x, begin_) : 0;
    const auto to = split ? std::min(place_of_u, graph_.place_of_first(x, end_)) : place_of_u;
    return {begin, std::max<std::int64_t>(begin, pass_.partner_places[x]), to};
  }

  // The walks u-x-v where x is neighbor i of u.
  void walk(std::int64_t u, std::int64_t i, bool split) {
    const auto x = graph_.row(u)[static_cast<std::size_t>(i)];
    const std::int64_t place = graph_.places(u)[i];
    const auto range = range_in(x, place, split);
    const auto* const row = graph_.neighbors + graph_.offsets[x];
    const auto kind = graph_.supports(u)[i] ? pass_.around.kind(x) : neighborhood_kind::empty;
    if (kind == neighborhood_kind::empty) {
      for (auto j = range.from; j < range.to; ++j) touch(row[j], 1);
      return;
    }
    const auto triangles_from = x < u ? std::max<std::int64_t>(range.begin, graph_.lower[x]) : range.to;
    const auto first = std::min(range.from, triangles_from);
    if (first >= range.to) return;
    const std::uint64_t* joined = nullptr;
    switch (kind) {
      case neighborhood_kind::bits:
        joined = count_by_bits(x, place, first, range.to);
        break;
      case neighborhood_kind::short_lists:
        joined = count_by_lists<std::uint16_t>(x, place, first, range.to);
        break;
      default:
        joined = count_by_lists<std::uint32_t>(x, place, first, range.to);
    }
    if (range.from < range.to) sums[sum::wheels] += sum_choose2(common_.data() + range.from, range.to - range.from);
    for (auto j = range.from; j < range.to; ++j) touch(row[j], 1 + (joined[j] << joined_shift));
    if (kind == neighborhood_kind::bits)
      add_triangles_by_bits(u, i, triangles_from, range.to);
    else if (kind == neighborhood_kind::short_lists)
      add_triangles_by_lists<std::uint16_t>(u, i, triangles_from, range.to);
    else
      add_triangles_by_lists<std::uint32_t>(u, i, triangles_from, range.to);
  }

  void touch(rank v, std::uint64_t value) {
    auto& cell = cells_[v];
    touched_[num_touched_] = v;
    num_touched_ += cell == 0;  // no branch: it would be unpredictable
    cell += value;
  }

  // Writes c3(x, u, v) to common_ for the v at places from .. to of row x, where u is at `place`. Returns the
  // contributions to D: the same, with hubs counted twice.
  const std::uint64_t* count_by_bits(std::int64_t x, std::int64_t place, std::int64_t from, std::int64_t to) {
    const auto words = neighborhoods::num_words(graph_.degree(x));
    bool first = true;
    for (std::int64_t w = 0; w < words; ++w) {
      const auto* const column = pass_.around.column(x, w);
      if (!column[place]) continue;
      (first ? set_common_bits : add_common_bits)(column + from, column[place], common_.data() + from, to - from);
      first = false;
    }
    const std::int64_t first_hub = pass_.hub_places[x];
    if (first_hub == graph_.degree(x)) return common_.data();
    std::copy(common_.data() + from, common_.data() + to, with_hubs_.data() + from);
    for (auto w = first_hub / 64; w < words; ++w) {
      const auto* const column = pass_.around.column(x, w);
      const auto mask = w == first_hub / 64 ? ~std::uint64_t{0} << (first_hub % 64) : ~std::uint64_t{0};
      if (column[place] & mask)
        add_common_bits(column + from, column[place] & mask, with_hubs_.data() + from, to - from);
    }
    return with_hubs_.data();
  }

  template <class Index>
  const std::uint64_t* count_by_lists(std::int64_t x, std::int64_t place, std::int64_t from, std::int64_t to) {
    const std::int64_t first_hub = pass_.hub_places[x];
    const bool hubs_here = first_hub < graph_.degree(x);
    std::fill(common_.data() + from, common_.data() + to, 0);
    if (hubs_here) std::fill(with_hubs_.data() + from, with_hubs_.data() + to, 0);
    for (const auto y : pass_.around.members<Index>(x, place))
      for (const auto j : pass_.around.members<Index>(x, y)) {
        if (j >= to) break;
        if (j < from) continue;
        ++common_[j];
        if (hubs_here) with_hubs_[j] += 1 + (y >= first_hub);
      }
    return hubs_here ? with_hubs_.data() : common_.data();
  }

  // The triangles x < v < u with v at places from .. to of row x.
  void add_triangles_by_bits(std::int64_t u, std::int64_t i, std::int64_t from, std::int64_t to) {
    if (from >= to) return;
    const auto x = graph_.row(u)[static_cast<std::size_t>(i)];
    const auto place = graph_.places(u)[i];
    for (auto w = from / 64; w * 64 < to; ++w) {
      auto word = pass_.around.column(x, w)[place];
      if (w == from / 64) word &= ~std::uint64_t{0} << (from % 64);
      if (to - w * 64 < 64) word &= (std::uint64_t{1} << (to - w * 64)) - 1;
      for_each_bit(word, w * 64, [&](std::int64_t j) { add_triangle(u, i, x, j); });
    }
  }
  template <class Index>
  void add_triangles_by_lists(std::int64_t u, std::int64_t i, std::int64_t from, std::int64_t to) {
    const auto x = graph_.row(u)[static_cast<std::size_t>(i)];
    for (const auto j : pass_.around.members<Index>(x, graph_.places(u)[i])) {
      if (j >= to) break;
      if (j >= from) add_triangle(u, i, x, j);
    }
  }
  void add_triangle(std::int64_t u, std::int64_t i, std::int64_t x, std::int64_t j) {
    const auto v = graph_.row(x)[static_cast<std::size_t>(j)];
    const auto v_place = marks_[v];  // in the row of u
    add_triangle_sums(
        {.degrees = {graph_.degree(x), graph_.degree(v), graph_.degree(u)},
         .opposite = {graph_.supports(u)[v_place], graph_.supports(u)[i], graph_.supports(x)[j]},
         .above = (graph_.degree(x) - graph_.places(u)[i] - 1) + (graph_.degree(v) - graph_.places(u)[v_place] - 1) +
                  (graph_.degree(u) - graph_.lower[u]),
         .cliques = common_[j]},
        sums);
  }

  // squares, tailed_squares and houses, from the W of all middles. houses also needs the triangles along each walk
  // again.
  void add_squares(std::int64_t u, bool split) {
    for (std::int64_t i = 0; i < graph_.degree(u); ++i) {
      const auto x = graph_.row(u)[static_cast<std::size_t>(i)];
      const auto range = range_in(x, graph_.places(u)[i], split);
      std::uint64_t others = 0;
      wide along = 0;
      for (auto j = range.from; j < range.to; ++j) {
        const auto more = static_cast<std::uint32_t>(cells_[graph_.row(x)[static_cast<std::size_t>(j)]]) - 1;
        others += more;
        along += std::uint64_t{more} * static_cast<std::uint64_t>(graph_.supports(x)[j]);
      }
      sums[sum::houses] += along + product(others, static_cast<std::uint64_t>(graph_.supports(u)[i]));
    }
    for (std::int64_t i = 0; i < num_touched_; ++i) {
      const auto pairs = choose2(static_cast<std::uint32_t>(cells_[touched_[i]]));
      sums[sum::squares] += pairs;
      sums[sum::tailed_squares] +=
          pairs ? product(pairs, static_cast<std::uint64_t>(graph_.degree(u) + graph_.degree(touched_[i]) - 4)) : 0;
    }
  }

  // D (W - 2) is not negative: an edge among common neighbors has two of them.
  void evaluate() {
    for (std::int64_t i = 0; i < num_touched_; ++i) {
      const auto cell = std::exchange(cells_[touched_[i]], 0);
      const std::uint64_t wedges = static_cast<std::uint32_t>(cell), joined = cell >> joined_shift;
      if (wedges < 3) continue;
      sums[sum::k23] += choose3(wedges);
      sums[sum::wedge_diamonds] += joined / 2 * (wedges - 2);
    }
  }
  // What the pair has beyond its common hubs, which are summed over classes.
  void evaluate_with_hubs(std::int64_t u) {
    const auto* const common = pass_.hubs.common(pass_.hubs.class_of(u));
    for (std::int64_t i = 0; i < num_touched_; ++i) {
      const auto v = touched_[i];
      const auto cell = std::exchange(cells_[v], 0);
      const auto [hubs, edges] = common[pass_.hubs.class_of(v)];
      const std::uint64_t wedges = static_cast<std::uint32_t>(cell) + std::uint64_t{hubs};
      const std::uint64_t joined = (cell >> joined_shift) / 2 + edges;
      if (wedges < 3) continue;
      sums[sum::k23] += choose3(wedges) - choose3(hubs);
      sums[sum::wedge_diamonds] += product(joined, wedges - 2) - (hubs < 2 ? 0 : product(edges, hubs - 2));
    }
  }

  const pair_pass& pass_;
  const motif_graph& graph_;
  buffer<std::uint64_t> cells_;
  buffer<std::int32_t> marks_;  // place of each neighbor of u in the row of u; undefined for others
  buffer<rank> touched_;
  std::int64_t num_touched_ = 0;
  buffer<std::uint64_t> common_, with_hubs_;
  std::int64_t begin_ = 0, end_ = 0;  // the v of the part
};

}  // namespace

motif_sums sum_pairs(const motif_graph& graph, const neighborhoods& around, const hub_classes& hubs, row_range rows,
                     bool squares, int threads, const control& ctl) {
  pair_pass pass{graph, around, hubs, squares};
  threads = worthwhile_threads(graph.num_entries(), threads);
  pass.prepare(threads, ctl);
  row_queue queue(rows, threads, ctl, [&](std::int64_t u) { return pass.work(u); });
  motif_sums total;
  std::mutex merging;
  with_helpers(threads, [&](int) {
    pair_thread mine(pass, queue.most_work());
    while (queue.take(ctl, [&](const row_part& part) { mine.search(part, ctl); })) {
    }
    const std::lock_guard lock(merging);
    total.add(mine.sums);
  });
  return total;
}

}  // namespace graphlode::mining::motifs
