// motifs/cycles.cpp - for each i the walks i-x-j below i, and from them 5-cycles and 4-cycles at their highest vertex.
//
// w(j) is the number of walks i-x-j with x, j < i. A 5-cycle i-x-j-k-y is an edge jk with a walk to each end. The cases
// x = k and y = j are subtracted at once, the case x = y by a sum over triangles. Only the upper neighbors k of j are
// visited: every edge once, and in the degree order they are few. A 4-cycle i-x-j-y is a pair of walks to the same j.
// Counting it at its highest vertex avoids all walks whose middle ranks highest, which are nearly all walks on graphs
// with large hubs.
#include <mutex>

#include "graphlode/parallel.hpp"
#include "motifs/binomials.hpp"
#include "motifs/passes.hpp"
#include "motifs/queue.hpp"

namespace graphlode::mining::motifs {
namespace {

struct cycle_pass {
  const motif_graph& graph;
  const cycle_goal goal;
  const std::int64_t first = graph.first_of_degree(2);  // vertices below are on no cycle
  buffer<std::int32_t> first_places{};                  // in each row: the first place that may be on a cycle

  void prepare(int threads, const control& ctl) {
    first_places = buffer<std::int32_t>(static_cast<std::size_t>(graph.num_vertices));
    parallel_chunks(0, graph.num_vertices, 4096, threads, ctl, [&](int, std::int64_t begin, std::int64_t end) {
      for (auto u = begin; u < end; ++u) first_places[u] = static_cast<std::int32_t>(graph.place_of_first(u, first));
    });
  }
  std::int64_t work(std::int64_t i) const {
    std::int64_t steps = 1;
    for (std::int64_t s = first_places[i]; s < graph.lower[i]; ++s) steps += graph.places(i)[s];
    return 8 * steps;  // each j is visited again, with some of its neighbors
  }
};

class cycle_thread {
 public:
  explicit cycle_thread(const cycle_pass& pass)
      : pass_(pass),
        graph_(pass.graph),
        ways_(static_cast<std::size_t>(graph_.num_vertices), 0),
        touched_(static_cast<std::size_t>(graph_.num_vertices) + 1) {}

  // Every part counts all walks of i, and then processes its share of them.
  void search(const row_part& part, const control& ctl) {
    const auto i = part.row;
    if (graph_.lower[i] <= pass_.first_places[i]) return;
    num_touched_ = 0;
    for (std::int64_t s = pass_.first_places[i]; s < graph_.lower[i]; ++s) {
      const auto x = graph_.row(i)[static_cast<std::size_t>(s)];
      const auto* const row = graph_.neighbors + graph_.offsets[x];
      for (std::int64_t j = pass_.first_places[x]; j < graph_.places(i)[s]; ++j) {
        auto& ways = ways_[row[j]];
        touched_[num_touched_] = row[j];
        num_touched_ += ways == 0;
        ++ways;
      }
    }
    if (pass_.goal.squares) add_squares(i, part);
    if (pass_.goal.five_cycles) add_five_cycles(i, part, ctl);
    for (std::int64_t t = 0; t < num_touched_; ++t) ways_[touched_[t]] = 0;
  }

  motif_sums sums;

 private:
  static constexpr std::uint32_t neighbor_bit = std::uint32_t{1}
                                                << 31;  // j is a neighbor of i; w(j) fits the lower bits

  // A walk i-x-j is in one 4-cycle for each other walk to j.
  void add_squares(std::int64_t i, const row_part& part) {
    const std::int64_t begin = pass_.first_places[i], size = graph_.lower[i] - begin;
    for (auto s = begin + size * part.part / part.parts; s < begin + size * (part.part + 1) / part.parts; ++s) {
      const auto x = graph_.row(i)[static_cast<std::size_t>(s)];
      const auto* const row = graph_.neighbors + graph_.offsets[x];
      const auto* const supports = graph_.supports(x);
      std::uint64_t others = 0;
      wide along = 0;
      for (std::int64_t j = pass_.first_places[x]; j < graph_.places(i)[s]; ++j) {
        const std::uint64_t more = ways_[row[j]] - 1;
        others += more;
        along += more * static_cast<std::uint64_t>(supports[j]);
      }
      sums[sum::squares] += others;
      sums[sum::houses] += 2 * (along + product(others, static_cast<std::uint64_t>(graph_.supports(i)[s])));
      sums[sum::tailed_squares] += product(others, static_cast<std::uint64_t>(graph_.degree(x) - 2));
    }
    for (auto t = num_touched_ * part.part / part.parts; t < num_touched_ * (part.part + 1) / part.parts; ++t) {
      const auto pairs = choose2(ways_[touched_[t]]);
      sums[sum::tailed_squares] +=
          product(pairs, static_cast<std::uint64_t>(graph_.degree(i) + graph_.degree(touched_[t]) - 4));
    }
  }

  void add_five_cycles(std::int64_t i, const row_part& part, const control& ctl) {
    const auto row = graph_.row(i);
    for (std::int64_t s = 0; s < graph_.lower[i]; ++s) ways_[row[static_cast<std::size_t>(s)]] |= neighbor_bit;
    const auto begin = num_touched_ * part.part / part.parts, end = num_touched_ * (part.part + 1) / part.parts;
    for (auto t = begin; t < end; ++t) {
      if ((t & 1023) == 0) ctl.check();
      add_from(i, touched_[t]);
    }
    for (std::int64_t s = 0; s < graph_.lower[i]; ++s) ways_[row[static_cast<std::size_t>(s)]] &= ~neighbor_bit;
  }

  // Sums (w(j) - [k ~ i]) (w(k) - [j ~ i]) over k, split so that each k is one lookup. A k without walks adds nothing:
  // then j is not a neighbor of i.
  void add_from(std::int64_t i, rank j) {
    const auto* k = graph_.neighbors + graph_.offsets[j] + graph_.lower[j];
    const auto* const end = graph_.neighbors + graph_.offsets[j + 1];
    std::uint64_t all = 0, at_neighbors = 0, neighbors = 0;
    const auto* const first = k;
    for (; k != end && *k < i; ++k) {
      const auto value = ways_[*k];
      const std::uint64_t ways = value & ~neighbor_bit, is_neighbor = value >> 31;
      all += ways;
      neighbors += is_neighbor;
      at_neighbors += is_neighbor ? ways : 0;
    }
    const std::uint64_t mine = ways_[j] & ~neighbor_bit, joined = ways_[j] >> 31;
    const auto seen = static_cast<std::uint64_t>(k - first);
    sums[sum::five_cycles] += product(mine, all - joined * seen) - at_neighbors + joined * neighbors;
  }

  const cycle_pass& pass_;
  const motif_graph& graph_;
  buffer<std::uint32_t> ways_;
  buffer<rank> touched_;
  std::int64_t num_touched_ = 0;
};

}  // namespace

motif_sums sum_cycles(const motif_graph& graph, row_range rows, cycle_goal goal, int threads, const control& ctl) {
  cycle_pass pass{graph, goal};
  threads = worthwhile_threads(graph.num_entries(), threads);
  pass.prepare(threads, ctl);
  row_queue queue(rows, threads, ctl, [&](std::int64_t i) { return pass.work(i); });
  motif_sums total;
  std::mutex merging;
  with_helpers(threads, [&](int) {
    cycle_thread mine(pass);
    while (queue.take(ctl, [&](const row_part& part) { mine.search(part, ctl); })) {
    }
    const std::lock_guard lock(merging);
    total.add(mine.sums);
  });
  return total;
}

}  // namespace graphlode::mining::motifs
