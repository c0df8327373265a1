// motifs.cpp - all sums of a range of rows: the pass for each sum, and the tables kept between ranges.
//
// If all rows are counted at once, it does not matter which row a number is added to. Then 4-cycles may be counted at
// their highest vertex instead of at pairs, and hubs may be left out of the walks.
#include "graphlode/mining/motifs.hpp"

#include <chrono>
#include <optional>

#include "motifs/passes.hpp"

namespace graphlode::mining::motifs {

struct motif_counter::tables {
  supported_view view;
  int size;
  std::optional<motif_graph> graph;
  std::optional<hub_classes> hubs;
  std::optional<neighborhoods> around;
  std::vector<pass> passes;

  motif_sums count(row_range rows, int threads, const control& ctl) {
    const auto quiet = ctl.without_progress();  // the last pass reports the progress, because it takes longest
    const auto all = rows.begin == 0 && rows.end == view.num_vertices;
    motif_sums sums;
    add("vertices and edges", sums, [&] { return sum_small(view, rows, threads, quiet); });
    if (size == 3) {
      ctl.advance(rows.end - rows.begin);
      return sums;
    }
    prepare([&] {
      if (!graph) graph.emplace(view, threads, quiet);
    });
    add("vertices and edges", sums, [&] { return sum_degrees(*graph, rows, threads, quiet); });
    if (all && size == 4) {
      add("cliques", sums, [&] { return cliques(rows, sum::cliques4, threads, quiet); });
      add("cycles", sums, [&] { return sum_cycles(*graph, rows, {false, true}, threads, ctl); });
      return sums;
    }
    if (size == 5) {
      add("cliques", sums, [&] { return cliques(rows, sum::cliques5, threads, quiet); });
      add("cycles", sums, [&] { return sum_cycles(*graph, rows, {true, all}, threads, quiet); });
    }
    prepare([&] { find_neighborhoods(all, threads, quiet); });
    if (!hubs->none()) add("hubs", sums, [&] { return sum_hubs(*graph, *hubs, threads, quiet); });
    add("pairs", sums, [&] { return sum_pairs(*graph, *around, *hubs, rows, !all, threads, ctl); });
    return sums;
  }

  template <class Work>
  void add(std::string_view name, motif_sums& sums, Work&& work) {
    const auto begun = std::chrono::steady_clock::now();
    const auto found = work();
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begun;
    passes.push_back({name, seconds.count(), found});
    sums.add(found);
  }

  template <class Work>
  void prepare(Work&& work) {
    motif_sums nothing;
    add("prepare", nothing, [&] {
      work();
      return nothing;
    });
  }

  motif_sums cliques(row_range rows, sum which, int threads, const control& ctl) const {
    motif_sums found;
    found[which] = which == sum::cliques4 ? 4 * count_cliques_of(view, rows, 4, threads, ctl)
                                          : count_cliques_of(view, rows, 5, threads, ctl);
    return found;
  }

  // Hubs are left out only if all rows are counted at once; then this was the only call.
  void find_neighborhoods(bool all, int threads, const control& ctl) {
    if (around && hubs->none()) return;
    hubs.reset();
    around.reset();
    if (all)
      hubs.emplace(*graph, threads, ctl);
    else
      hubs.emplace();
    around.emplace(*graph, hubs->first(*graph), threads, ctl);
  }
};

motif_counter::motif_counter(const supported_view& graph, int size)
    : tables_(new tables{graph, size, {}, {}, {}, {}}) {}
motif_counter::~motif_counter() = default;

motif_sums motif_counter::count(std::int64_t begin, std::int64_t end, int threads, const control& ctl) {
  auto sums = tables_->count({begin, end}, threads, ctl);
  for (auto i = static_cast<std::size_t>(num_sums(tables_->size)); i < sums.values.size(); ++i) sums.values[i] = 0;
  return sums;
}

const std::vector<pass>& motif_counter::passes() const { return tables_->passes; }

}  // namespace graphlode::mining::motifs
