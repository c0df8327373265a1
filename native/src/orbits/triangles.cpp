// orbits/triangles.cpp - sums over the triangles of each vertex or edge.
//
// Every edge uv is looked at from u with all common neighbors, and then from v: sums stay in registers, and row u
// tells u, v or the edge what it alone can tell.
#include <vector>

#include "graphlode/parallel.hpp"
#include "motifs/binomials.hpp"
#include "orbits/passes.hpp"

namespace graphlode::mining::motifs {
namespace {

constexpr std::int64_t grain = 32;

using number = std::uint64_t;  // negative ones wrap around, and back again

// The triangles uvw: to v it is told what lies opposite to it.
void add_corners(const motif_graph& graph, std::int64_t u, std::int32_t* marks, raw_arrays& found) {
  const auto d = static_cast<number>(graph.degree(u));
  number o25 = 0, o48 = 0, o61 = 0;
  visit_triangles(graph, u, graph.degree(u), marks, [&](std::int64_t i, rank v, const auto& each) {
    const auto others = static_cast<number>(graph.supports(u)[i] - 1);
    number fans = 0, tails = 0, books = 0;
    each([&](rank w, std::int64_t uw, std::int64_t) {
      const auto one = static_cast<number>(graph.triangles_at(uw) - 1);
      fans += one;
      books += choose2(one);
      tails += static_cast<number>(graph.degree(w) - 2);
    });
    o25 += tails * static_cast<number>(graph.degree(v) - 2);
    o48 += tails * others;
    o61 += fans * others;
    found.add(raw::o12, v, fans);
    found.add(raw::o40, v, fans * (d - 3));
    found.add(raw::o54, v, books);
    found.add(raw::o60, v, fans * others);
    found.add(raw::fans, graph.offsets[u] + i, fans);
  });
  found.add(raw::o25, u, o25);
  found.add(raw::o48, u, o48);
  found.add(raw::o61, u, o61);
}

void add_edges(const motif_graph& graph, const buffer<std::int64_t>& ahead, std::int64_t u, std::int32_t* marks,
               raw_arrays& found) {
  visit_triangles(graph, u, graph.degree(u), marks, [&](std::int64_t i, rank v, const auto& each) {
    number e7 = 0, e23 = 0, e26 = 0, e33 = 0, e36 = 0, e47 = 0, e54 = 0, fans = 0;
    each([&](rank w, std::int64_t uw, std::int64_t vw) {
      const auto d = static_cast<number>(graph.degree(w));
      const auto one = static_cast<number>(graph.triangles_at(uw) - 1);
      fans += one;
      e33 += one * (d - 3);
      e47 += choose2(one);
      if (v > u) return;
      e7 += d - 2;
      e23 += static_cast<number>(ahead[w]);
      e26 += choose2(d - 2);
      e36 += static_cast<number>(graph.triangles_of(w));
      e54 += one * static_cast<number>(graph.triangles_at(vw) - 1);
    });
    const auto edge = graph.edges[graph.offsets[u] + i];
    found.add(raw::e7, edge, e7);
    found.add(raw::e23, edge, e23);
    found.add(raw::e26, edge, e26);
    found.add(raw::e33, edge, e33);
    found.add(raw::e36, edge, e36);
    found.add(raw::e47, edge, e47);
    found.add(raw::e54, edge, e54);
    found.add(raw::fans, graph.offsets[u] + i, fans);
  });
}

void compose_at_vertices(const motif_graph& graph, std::int64_t u, std::int32_t* marks, raw_arrays& found) {
  const auto value = [&](raw which, std::int64_t entry) {
    return static_cast<number>(found(which, graph.edges[entry]));
  };
  const auto fans = [&](std::int64_t entry) {
    const auto there = graph.offsets[graph.neighbors[entry]] + graph.place_at(entry);
    return static_cast<number>(found(raw::fans, entry)) + static_cast<number>(found(raw::fans, there));
  };
  number squares_u = 0, fans_u = 0, cliques_u = 0;
  visit_triangles(graph, u, graph.lower[u], marks, [&](std::int64_t, rank v, const auto& each) {
    number squares = 0, fans_v = 0, cliques = 0;
    each([&](rank, std::int64_t uw, std::int64_t vw) {
      squares_u += value(raw::e5, vw);
      fans_u += fans(vw);
      cliques_u += value(raw::e11, vw);
      squares += value(raw::e5, uw);
      fans_v += fans(uw);
      cliques += value(raw::e11, uw);
    });
    found.add(raw::o52, v, squares);
    found.add(raw::o59, v, fans_v);
    found.add(raw::o65, v, cliques);
  });
  found.add(raw::o52, u, squares_u);
  found.add(raw::o59, u, fans_u);
  found.add(raw::o65, u, cliques_u);
}

void compose_at_edges(const motif_graph& graph, std::int64_t u, std::int32_t* marks, raw_arrays& found) {
  const auto value = [&](raw which, std::int64_t entry) {
    return static_cast<number>(found(which, graph.edges[entry]));
  };
  const auto fan = [&](std::int64_t entry) { return static_cast<number>(found(raw::fans, entry)); };
  const auto turned = [&](std::int64_t entry) { return graph.offsets[graph.neighbors[entry]] + graph.place_at(entry); };
  visit_triangles(graph, u, graph.lower[u], marks, [&](std::int64_t i, rank, const auto& each) {
    number e39 = 0, e45 = 0, e52 = 0, e53 = 0, e59 = 0;
    each([&](rank, std::int64_t uw, std::int64_t vw) {
      e39 += value(raw::e7, uw) + value(raw::e7, vw);
      e45 += value(raw::e5, uw) + value(raw::e5, vw);
      e52 += fan(turned(uw)) + fan(turned(vw));
      e53 += fan(uw) + fan(vw);
      e59 += value(raw::e11, uw) + value(raw::e11, vw);
    });
    const auto edge = graph.edges[graph.offsets[u] + i];
    found.add(raw::e39, edge, e39);
    found.add(raw::e45, edge, e45);
    found.add(raw::e52, edge, e52);
    found.add(raw::e53, edge, e53);
    found.add(raw::e59, edge, e59);
  });
}

// Calls work(u, marks) for some rows, long ones first.
template <class Work>
void on_rows(const motif_graph& graph, row_range rows, int threads, const control& ctl, const Work& work) {
  threads = worthwhile_threads(graph.offsets[rows.end] - graph.offsets[rows.begin], threads);
  std::vector<buffer<std::int32_t>> marks(static_cast<std::size_t>(threads));
  parallel_chunks(0, rows.end - rows.begin, grain, threads, ctl, [&](int thread, std::int64_t begin, std::int64_t end) {
    auto& mine = marks[static_cast<std::size_t>(thread)];
    if (mine.size() == 0) mine = buffer<std::int32_t>(static_cast<std::size_t>(graph.num_vertices), 0);
    for (auto i = begin; i < end; ++i) work(rows.end - 1 - i, mine.data());
  });
}

}  // namespace

void add_triangle_orbits(const motif_graph& graph, const buffer<std::int64_t>& ahead, row_range rows, raw_arrays& found,
                         int threads, const control& ctl) {
  on_rows(graph, rows, threads, ctl, [&](std::int64_t u, std::int32_t* marks) {
    if (found.wants(raw::o12))
      add_corners(graph, u, marks, found);
    else
      add_edges(graph, ahead, u, marks, found);
  });
}

void add_composed_orbits(const motif_graph& graph, raw_arrays& found, int threads, const control& ctl) {
  on_rows(graph, {0, graph.num_vertices}, threads, ctl, [&](std::int64_t u, std::int32_t* marks) {
    if (found.wants(raw::o52))
      compose_at_vertices(graph, u, marks, found);
    else
      compose_at_edges(graph, u, marks, found);
  });
  for (const auto which : {raw::o52, raw::o59, raw::o65}) found.divide(which, 2);
}

}  // namespace graphlode::mining::motifs
