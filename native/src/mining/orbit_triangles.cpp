// orbit_triangles.cpp - sums over the triangles of each vertex or edge.
//
// Every edge is looked at from its higher end with all its common neighbours, so that sums of the edge stay in
// registers. A vertex meets each of its triangles from two edges; its sums are halved in the end.
#include <vector>

#include "graphlode/parallel.hpp"
#include "motif_binomials.hpp"
#include "orbit_passes.hpp"

namespace graphlode::mining::motifs {
namespace {

constexpr std::int64_t grain = 32;

using number = std::uint64_t;  // negative ones wrap around, and back again

// What the triangle v, a, b is to v.
struct corner {
  number da, db, va, vb, ab;  // degrees, and triangles at the edges
};

class corner_sums {
 public:
  void add(const corner& c) {
    const auto opposite = c.ab - 1, one = c.va - 1, other = c.vb - 1;
    o12_ += opposite;
    o25_ += (c.da - 2) * (c.db - 2);
    o40_ += opposite * (c.da + c.db - 6);
    o48_ += one * (c.db - 2) + other * (c.da - 2);
    o54_ += choose2(opposite);
    o60_ += opposite * (one + other);
    o61_ += one * other;
  }
  void give(std::int64_t v, raw_arrays& found) const {
    found.add(raw::o12, v, o12_);
    found.add(raw::o25, v, o25_);
    found.add(raw::o40, v, o40_);
    found.add(raw::o48, v, o48_);
    found.add(raw::o54, v, o54_);
    found.add(raw::o60, v, o60_);
    found.add(raw::o61, v, o61_);
  }

 private:
  number o12_ = 0, o25_ = 0, o40_ = 0, o48_ = 0, o54_ = 0, o60_ = 0, o61_ = 0;
};

void add_corners(const motif_graph& graph, std::int64_t u, std::int32_t* marks, raw_arrays& found) {
  const auto d = [&](std::int64_t v) { return static_cast<number>(graph.degree(v)); };
  const auto t = [&](std::int64_t entry) { return static_cast<number>(graph.triangles_at(entry)); };
  corner_sums at_u;
  visit_triangles(graph, u, marks, [&](std::int64_t i, rank v, const auto& each) {
    corner_sums at_v;
    const auto uv = t(graph.offsets[u] + i);
    each([&](rank w, std::int64_t uw, std::int64_t vw) {
      at_u.add({d(v), d(w), uv, t(uw), t(vw)});
      at_v.add({d(u), d(w), uv, t(vw), t(uw)});
    });
    at_v.give(v, found);
  });
  at_u.give(u, found);
}

void add_edges(const motif_graph& graph, const buffer<std::int64_t>& ahead, std::int64_t u, std::int32_t* marks,
               raw_arrays& found) {
  visit_triangles(graph, u, marks, [&](std::int64_t i, rank v, const auto& each) {
    number e7 = 0, e23 = 0, e26 = 0, e33 = 0, e36 = 0, e47 = 0, e54 = 0, fan_u = 0, fan_v = 0;
    each([&](rank w, std::int64_t uw, std::int64_t vw) {
      const auto d = static_cast<number>(graph.degree(w));
      const auto one = static_cast<number>(graph.triangles_at(uw) - 1);
      const auto other = static_cast<number>(graph.triangles_at(vw) - 1);
      e7 += d - 2;
      e23 += static_cast<number>(ahead[w]);
      e26 += choose2(d - 2);
      e33 += (one + other) * (d - 3);
      e36 += static_cast<number>(graph.triangles_of(w));
      e47 += choose2(one) + choose2(other);
      e54 += one * other;
      fan_u += one;
      fan_v += other;
    });
    const auto edge = graph.edges[graph.offsets[u] + i];
    found.add(raw::e7, edge, e7);
    found.add(raw::e23, edge, e23);
    found.add(raw::e26, edge, e26);
    found.add(raw::e33, edge, e33);
    found.add(raw::e36, edge, e36);
    found.add(raw::e47, edge, e47);
    found.add(raw::e54, edge, e54);
    found.add(raw::fans, graph.offsets[u] + i, fan_u);
    found.add(raw::fans, graph.offsets[v] + graph.places(u)[i], fan_v);
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
  visit_triangles(graph, u, marks, [&](std::int64_t, rank v, const auto& each) {
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
  visit_triangles(graph, u, marks, [&](std::int64_t i, rank, const auto& each) {
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

// Calls work(u, marks) for all rows, long ones first.
template <class Work>
void on_rows(const motif_graph& graph, int threads, const control& ctl, const Work& work) {
  const auto n = graph.num_vertices;
  threads = worthwhile_threads(graph.num_entries(), threads);
  std::vector<buffer<std::int32_t>> marks(static_cast<std::size_t>(threads));
  parallel_chunks(0, n, grain, threads, ctl, [&](int thread, std::int64_t begin, std::int64_t end) {
    auto& mine = marks[static_cast<std::size_t>(thread)];
    if (mine.size() == 0) mine = buffer<std::int32_t>(static_cast<std::size_t>(n), 0);
    for (auto i = begin; i < end; ++i) work(n - 1 - i, mine.data());
  });
}

}  // namespace

void add_triangle_orbits(const motif_graph& graph, raw_arrays& found, int threads, const control& ctl) {
  if (found.wants(raw::o12)) {
    on_rows(graph, threads, ctl, [&](std::int64_t u, std::int32_t* marks) { add_corners(graph, u, marks, found); });
    for (const auto which : {raw::o12, raw::o25, raw::o40, raw::o48, raw::o54, raw::o60, raw::o61})
      found.divide(which, 2);
  }
  if (!found.wants(raw::fans)) return;
  buffer<std::int64_t> ahead(static_cast<std::size_t>(graph.num_vertices), 0);  // what lies beyond all neighbours
  for (std::int64_t v = 0; v < graph.num_vertices; ++v)
    for (const auto w : graph.row(v)) ahead[v] += graph.degree(w) - 1;
  on_rows(graph, threads, ctl, [&](std::int64_t u, std::int32_t* marks) { add_edges(graph, ahead, u, marks, found); });
}

void add_composed_orbits(const motif_graph& graph, raw_arrays& found, int threads, const control& ctl) {
  on_rows(graph, threads, ctl, [&](std::int64_t u, std::int32_t* marks) {
    if (found.wants(raw::o52))
      compose_at_vertices(graph, u, marks, found);
    else
      compose_at_edges(graph, u, marks, found);
  });
  for (const auto which : {raw::o52, raw::o59, raw::o65}) found.divide(which, 2);
}

}  // namespace graphlode::mining::motifs
