// orbits.cpp - which passes give which raw arrays.
#include "graphlode/mining/orbits.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "orbits/passes.hpp"

namespace graphlode::mining::motifs {
namespace {

// Sums over triangles of other arrays.
constexpr raw composed[] = {raw::o52, raw::o59, raw::o65, raw::e39, raw::e45, raw::e52, raw::e53, raw::e59};

enum class kind { of_vertices, of_edges, of_entries };

kind kind_of(raw which) {
  if (which == raw::fans) return kind::of_entries;
  return raw_names[static_cast<std::size_t>(which)].front() == 'o' ? kind::of_vertices : kind::of_edges;
}

}  // namespace

bool is_raw_of(raw which, int size, bool of_edges) {
  if (which == raw::e5 || which == raw::e11) return true;
  const auto first = of_edges ? raw::e7 : raw::o12;
  const auto last = size == 4 ? (of_edges ? raw::fans : raw::o12) : (of_edges ? raw::e67 : raw::o72);
  return which >= first && which <= last;
}

std::int64_t raw_length(raw which, const supported_view& graph) {
  switch (kind_of(which)) {
    case kind::of_vertices:
      return graph.num_vertices;
    case kind::of_edges:
      return graph.num_edges();
    default:
      return graph.num_entries();
  }
}

void raw_arrays::want(raw which, const supported_view& graph) {
  at(which) = buffer<std::int64_t>(static_cast<std::size_t>(raw_length(which, graph)), 0);
  wanted_[static_cast<std::size_t>(which)] = true;
}

void raw_arrays::drop(raw which) {
  at(which).reset();
  wanted_[static_cast<std::size_t>(which)] = false;
}

raw_arrays::raw_arrays(const supported_view& graph, int size, bool of_edges) {
  for (std::size_t i = 0; i < raw_names.size(); ++i)
    if (is_raw_of(static_cast<raw>(i), size, of_edges)) want(static_cast<raw>(i), graph);
}

// What passes have met several times within a row.
namespace {

void divide_met_twice(raw_arrays& found, int size) {
  for (const auto which : {raw::o25, raw::o61}) found.divide(which, 2);
  if (size == 5)
    for (const auto which : {raw::e11, raw::o71, raw::e60, raw::e65}) found.divide(which, 2);
}

}  // namespace

struct orbit_counter::state {
  supported_view view;
  int size;
  bool of_edges;
  raw_arrays found;
  std::optional<motif_graph> graph{};
  std::optional<upper_rows> upper{};
  std::optional<neighborhoods> around{};
  cycle_counts cycles{};
  buffer<std::int64_t> ahead{};    // of each vertex, what lies beyond all its neighbors
  buffer<std::uint8_t> is_done{};  // of each row
  std::int64_t rows_done = 0;

  void prepare(int threads, const control& ctl) {
    if (graph) return;
    const auto n = static_cast<std::size_t>(view.num_vertices);
    is_done = buffer<std::uint8_t>(n, 0);
    ahead = buffer<std::int64_t>(n, 0);
    for (std::int64_t v = 0; v < view.num_vertices; ++v)
      for (const auto w : view.row(v)) ahead[v] += view.degree(w) - 1;
    graph.emplace(view, threads, ctl);
    upper.emplace(view);
    if (size == 5) around.emplace(*graph, view.num_vertices, threads, ctl);
  }

  // One pass tells the progress: that over pairs, which takes longest.
  void count(row_range rows, int threads, const control& ctl) {
    const auto quiet = ctl.without_progress();
    add_triangle_orbits(*graph, ahead, rows, found, threads, quiet);
    if (size == 4) {
      ctl.advance(rows.end - rows.begin);
    } else {
      cycles.add_five_cycles(*graph, rows, threads, quiet);
      add_cliques(*graph, *upper, rows, 5, raw::e67, raw::o72, found, threads, quiet);
      add_pair_orbits(*graph, *around, rows, found, threads, ctl);
    }
    std::fill(is_done.begin() + rows.begin, is_done.begin() + rows.end, std::uint8_t{1});
    rows_done += rows.end - rows.begin;
  }

  // 4-cycles and 4-cliques at edges belong to the rows of their higher ends. They are counted otherwise, but it takes
  // so little that it is done for all rows, whoever has which.
  void add_patterns_of_4(int threads, const control& ctl) {
    const row_range all{0, view.num_vertices};
    add_cliques(*graph, *upper, all, 4, raw::e11, raw::e11, found, threads, ctl);
    cycles.add_squares(*graph, all, threads, ctl);
    const auto& squares = cycles.sum(*graph);
    for (std::int64_t e = 0; e < view.num_edges(); ++e) found.add(raw::e5, e, squares[e]);
    std::int64_t edge = 0;
    for (std::int64_t u = 0; u < view.num_vertices; ++u)
      for (const auto end = edge + view.lower[u]; edge < end; ++edge)
        if (!is_done[u]) found.at(raw::e5)[edge] = found.at(raw::e11)[edge] = 0;
  }

  void add_cycles(const control& ctl) {
    auto& counts = cycles.sum(*graph);
    take_off_triangles(*graph, is_done, counts.data(), ctl);
    for (std::int64_t u = 0; u < view.num_vertices; ++u) {
      std::uint64_t twice = 0;
      for (auto e = view.offsets[u]; e < view.offsets[u + 1]; ++e) twice += counts[view.edges[e]];
      found.add(raw::o34, u, twice);
    }
    for (std::int64_t e = 0; e < view.num_edges(); ++e) found.add(raw::e28, e, counts[e]);
  }
};

orbit_counter::orbit_counter(const supported_view& graph, int size, bool of_edges)
    : state_(new state{graph, size, of_edges, raw_arrays(graph, size, of_edges)}) {
  // Orbits of vertices need the fans of entries on the way.
  if (size == 5 && !of_edges) state_->found.want(raw::fans, graph);
}
orbit_counter::~orbit_counter() = default;

void orbit_counter::count(std::int64_t begin, std::int64_t end, int threads, const control& ctl) {
  ctl.check();
  state_->prepare(threads, ctl.without_progress());
  state_->count({begin, end}, threads, ctl);
}

raw_arrays orbit_counter::take(int threads, const control& ctl) {
  auto& found = state_->found;
  const auto quiet = ctl.without_progress();
  state_->prepare(threads, quiet);
  state_->around.reset();
  if (state_->size == 4)
    state_->add_patterns_of_4(threads, quiet);
  else
    state_->add_cycles(quiet);
  divide_met_twice(found, state_->size);
  if (state_->size == 5 && state_->rows_done == state_->view.num_vertices) {
    add_composed_orbits(*state_->graph, found, threads, quiet);
  } else {
    for (const auto which : composed) found.drop(which);
  }
  if (!state_->of_edges) found.drop(raw::fans);
  return std::move(found);
}

raw_arrays compose_orbits(const supported_view& view, const raw_pointers& given, bool of_edges, int threads,
                          const control& ctl) {
  raw_arrays found;
  const auto copy = [&](raw which) {
    found.want(which, view);
    std::copy_n(given[static_cast<std::size_t>(which)], raw_length(which, view), found.at(which).data());
  };
  copy(raw::e5);
  copy(raw::e11);
  const motif_graph graph(view, threads, ctl);
  if (of_edges) {
    copy(raw::fans);
    copy(raw::e7);
  } else {
    found.want(raw::fans, view);
    found.want(raw::o12, view);
    add_triangle_orbits(graph, {}, {0, view.num_vertices}, found, threads, ctl);
  }
  for (const auto which : composed)
    if (is_raw_of(which, 5, of_edges)) found.want(which, view);
  add_composed_orbits(graph, found, threads, ctl);
  for (const auto which : {raw::e5, raw::e11, raw::fans, raw::e7, raw::o12}) found.drop(which);
  return found;
}

}  // namespace graphlode::mining::motifs
