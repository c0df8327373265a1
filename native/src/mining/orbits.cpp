// orbits.cpp - which passes give which raw arrays.
#include "graphlode/mining/orbits.hpp"

#include "orbit_passes.hpp"

namespace graphlode::mining::motifs {
namespace {

enum class kind { of_vertices, of_edges, of_entries };

kind kind_of(raw which) {
  if (which == raw::fans) return kind::of_entries;
  return raw_names[static_cast<std::size_t>(which)].front() == 'o' ? kind::of_vertices : kind::of_edges;
}

}  // namespace

void raw_arrays::want(raw which, const supported_view& graph) {
  const auto what = kind_of(which);
  const auto length = what == kind::of_vertices ? graph.num_vertices
                      : what == kind::of_edges  ? graph.num_edges()
                                                : graph.num_entries();
  at(which) = buffer<std::int64_t>(static_cast<std::size_t>(length), 0);
  wanted_[static_cast<std::size_t>(which)] = true;
}

void raw_arrays::drop(raw which) {
  at(which).reset();
  wanted_[static_cast<std::size_t>(which)] = false;
}

raw_arrays::raw_arrays(const supported_view& graph, int size, bool of_edges) {
  want(raw::e5, graph);
  want(raw::e11, graph);
  const auto first = of_edges ? raw::e7 : raw::o12;
  const auto last = size == 4 ? (of_edges ? raw::fans : raw::o12) : (of_edges ? raw::e67 : raw::o72);
  for (int i = static_cast<int>(first); i <= static_cast<int>(last); ++i) want(static_cast<raw>(i), graph);
}

raw_arrays count_orbits(const supported_view& view, int size, bool of_edges, int threads, const control& ctl) {
  raw_arrays found(view, size, of_edges);
  ctl.check();
  const auto quiet = ctl.without_progress();  // one pass tells the progress: that over pairs, which takes longest
  const motif_graph graph(view, threads, quiet);
  if (size == 4) {
    add_triangle_orbits(graph, found, threads, quiet);
    add_cliques(graph, 4, raw::e11, raw::e11, found, threads, quiet);
    add_squares(graph, found, threads, ctl);
    return found;
  }
  // Orbits of vertices need the fans of entries on the way.
  if (!of_edges) found.want(raw::fans, view);
  add_triangle_orbits(graph, found, threads, quiet);
  add_five_cycles(graph, found, threads, quiet);
  add_cliques(graph, 5, raw::e67, raw::o72, found, threads, quiet);
  {
    const neighborhoods around(graph, graph.num_vertices, threads, quiet);
    add_pair_orbits(graph, around, found, threads, ctl);
  }
  add_composed_orbits(graph, found, threads, quiet);
  if (!of_edges) found.drop(raw::fans);
  return found;
}

}  // namespace graphlode::mining::motifs
