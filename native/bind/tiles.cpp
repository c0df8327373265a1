// tiles.cpp - binding of tiles: building them, and PageRank over them.
#include <nanobind/stl/optional.h>

#include <algorithm>
#include <optional>
#include <span>

#include "arrays.hpp"
#include "graphlode/analytics/pagerank.hpp"
#include "graphlode/graph/linked.hpp"
#include "graphlode/graph/tiled.hpp"
#include "graphlode/locality/changing_tiles.hpp"

namespace graphlode::bind {
namespace {

using graph::tile_edge;

// A row of tiles has at least one block of PageRank's vertices, and at most 2^16, which an edge can represent.
void check_row_bits(int row_bits) {
  if (row_bits < 10 || row_bits > graph::most_row_bits) throw nb::value_error("row_bits must be 10 .. 16");
}

nb::tuple as_tuple(graph::tiled_edges&& made) {
  return nb::make_tuple(to_numpy(std::move(made.offsets)), to_numpy(std::move(made.edges)));
}

template <class Vertex>
void bind_rows(nb::module_& m) {
  m.def(
      "graph_tile_rows",
      [](const in<std::int64_t>& offsets, const in<Vertex>& neighbors, int row_bits, int threads,
         const control_words& words) {
        check_row_bits(row_bits);
        const auto rows = as_csr(offsets, neighbors);
        const auto ctl = as_control(words);
        graph::tiled_edges made;
        {
          nb::gil_scoped_release nogil;
          made = graph::tile_rows(rows, row_bits, threads, ctl);
        }
        return as_tuple(std::move(made));
      },
      nb::arg("offsets").noconvert(), nb::arg("neighbors").noconvert(), nb::arg("row_bits"), nb::arg("threads"),
      nb::arg("control").noconvert());
}

std::span<const std::int64_t> as_list(const in<std::int64_t>& edges, std::int64_t num_vertices) {
  const std::span<const std::int64_t> list(edges.data(), edges.size());
  std::uint32_t most = 0;
  for (const auto edge : list)
    most = std::max({most, static_cast<std::uint32_t>(edge), static_cast<std::uint32_t>(edge >> 32)});
  if (!list.empty() && most >= num_vertices) throw nb::value_error("an edge ends outside the vertices");
  return list;
}

nb::tuple tile_list(const in<std::int64_t>& edges, std::int64_t num_vertices, int row_bits, int threads,
                    const control_words& words) {
  check_row_bits(row_bits);
  const auto list = as_list(edges, num_vertices);
  const auto ctl = as_control(words);
  graph::tiled_edges made;
  {
    nb::gil_scoped_release nogil;
    made = graph::tile_list(list, {num_vertices, row_bits}, threads, ctl);
  }
  return as_tuple(std::move(made));
}

graph::tiles_view as_tiles(const in<std::int64_t>& tile_offsets, const in<tile_edge>& edges, int row_bits,
                           std::int64_t num_vertices) {
  check_row_bits(row_bits);
  const graph::tiles_view tiles{{num_vertices, row_bits}, tile_offsets.data(), edges.data()};
  if (static_cast<std::int64_t>(tile_offsets.size()) != tiles.grid.num_tiles() + 1)
    throw nb::value_error("tile_offsets has the wrong length");
  if (tiles.num_edges() != static_cast<std::int64_t>(edges.size()))
    throw nb::value_error("tile_offsets must end at the number of edges");
  return tiles;
}

nb::tuple rank_tiles(const in<std::int64_t>& tile_offsets, const in<tile_edge>& edges, int row_bits,
                     const in<double>& out_weights, double damping, double tolerance, std::int64_t max_iterations,
                     const std::optional<in<double>>& restart, std::int64_t num_isolated, int threads,
                     const control_words& words) {
  const auto tiles = as_tiles(tile_offsets, edges, row_bits, static_cast<std::int64_t>(out_weights.size()));
  if (restart && restart->size() != out_weights.size()) throw nb::value_error("restart has the wrong length");
  if (num_isolated < 0 || (restart && num_isolated > 0))
    throw nb::value_error("isolated vertices must not be less than none, and are alike");
  const analytics::pagerank_settings settings{
      damping, tolerance, max_iterations, nullptr, restart ? restart->data() : nullptr, num_isolated};
  const auto ctl = as_control(words);
  analytics::pagerank_values found;
  {
    nb::gil_scoped_release nogil;
    found = analytics::rank_tiles(tiles, out_weights.data(), settings, threads, ctl);
  }
  return nb::make_tuple(to_numpy(std::move(found.values)), found.iterations, found.converged, found.isolated_value);
}

template <class Vertex>
void bind_linked(nb::module_& m) {
  m.def(
      "graph_link_rows",
      [](const in<std::int64_t>& offsets, const in<Vertex>& neighbors, bool symmetric, int threads,
         const control_words& words) {
        const auto rows = as_csr(offsets, neighbors);
        const auto ctl = as_control(words);
        graph::linked_rows<Vertex> made;
        {
          nb::gil_scoped_release nogil;
          made = graph::link_rows(rows, symmetric, threads, ctl);
        }
        return nb::make_tuple(to_numpy(std::move(made.rows.offsets)), to_numpy(std::move(made.rows.neighbors)),
                              to_numpy(std::move(made.vertices)));
      },
      nb::arg("offsets").noconvert(), nb::arg("neighbors").noconvert(), nb::arg("symmetric"), nb::arg("threads"),
      nb::arg("control").noconvert(),
      "Rows of the vertices that have an edge, with new vertex numbers, and these vertices.");
}

using locality::changing_tiles;

nb::tuple rank_changing(changing_tiles& tiles, const in<double>& out_weights, double damping, double tolerance,
                        std::int64_t max_iterations, std::int64_t budget, int threads, const control_words& words) {
  if (static_cast<std::int64_t>(out_weights.size()) != tiles.grid.num_vertices)
    throw nb::value_error("out_weights has the wrong length");
  const analytics::pagerank_settings settings{damping, tolerance, max_iterations, nullptr, nullptr};
  const auto ctl = as_control(words);
  analytics::pagerank_values found;
  {
    nb::gil_scoped_release nogil;
    found = analytics::rank_tiles(tiles, out_weights.data(), settings, threads, ctl,
                                  [&] { tiles.refine(budget, threads, ctl); });
  }
  return nb::make_tuple(to_numpy(std::move(found.values)), found.iterations, found.converged);
}

void bind_changing(nb::module_& m) {
  nb::class_<changing_tiles>(m, "ChangingTiles")
      .def(nb::init<std::int64_t>(), nb::arg("num_vertices"))
      .def(
          "__init__",
          [](changing_tiles* at, const in<std::int64_t>& tile_offsets, const in<tile_edge>& edges,
             std::int64_t num_vertices) {
            new (at) changing_tiles(as_tiles(tile_offsets, edges, graph::most_row_bits, num_vertices));
          },
          nb::arg("tile_offsets").noconvert(), nb::arg("edges").noconvert(), nb::arg("num_vertices"))
      .def_prop_ro("num_edges", &changing_tiles::num_edges)
      .def_prop_ro("num_loose", &changing_tiles::num_loose)
      .def("grow", &changing_tiles::grow, nb::arg("num_vertices"))
      .def(
          "insert",
          [](changing_tiles& tiles, const in<std::int64_t>& edges, int threads, const control_words& words) {
            const auto list = as_list(edges, tiles.grid.num_vertices);
            const auto ctl = as_control(words);
            nb::gil_scoped_release nogil;
            return tiles.insert(list, threads, ctl);
          },
          nb::arg("edges").noconvert(), nb::arg("threads"), nb::arg("control").noconvert())
      .def(
          "erase",
          [](changing_tiles& tiles, const in<std::int64_t>& edges, int threads, const control_words& words) {
            const auto list = as_list(edges, tiles.grid.num_vertices);
            const auto ctl = as_control(words);
            nb::gil_scoped_release nogil;
            return tiles.erase(list, threads, ctl);
          },
          nb::arg("edges").noconvert(), nb::arg("threads"), nb::arg("control").noconvert())
      .def(
          "refine",
          [](changing_tiles& tiles, std::int64_t budget, int threads, const control_words& words) {
            const auto ctl = as_control(words);
            nb::gil_scoped_release nogil;
            return tiles.refine(budget, threads, ctl);
          },
          nb::arg("budget"), nb::arg("threads"), nb::arg("control").noconvert())
      .def(
          "pack",
          [](changing_tiles& tiles, int threads, const control_words& words) {
            const auto ctl = as_control(words);
            graph::tiled_edges packed;
            {
              nb::gil_scoped_release nogil;
              packed = tiles.pack(threads, ctl);
            }
            return as_tuple(std::move(packed));
          },
          nb::arg("threads"), nb::arg("control").noconvert())
      .def("pagerank", &rank_changing, nb::arg("out_weights").noconvert(), nb::arg("damping"), nb::arg("tolerance"),
           nb::arg("max_iterations"), nb::arg("budget"), nb::arg("threads"), nb::arg("control").noconvert());
}

}  // namespace

void bind_tiles(nb::module_& m) {
  bind_changing(m);
  bind_rows<std::int32_t>(m);
  bind_rows<std::int64_t>(m);
  bind_linked<std::int32_t>(m);
  bind_linked<std::int64_t>(m);
  m.def("graph_tile_list", &tile_list, nb::arg("edges").noconvert(), nb::arg("num_vertices"), nb::arg("row_bits"),
        nb::arg("threads"), nb::arg("control").noconvert());
  m.def("analytics_pagerank_tiles", &rank_tiles, nb::arg("tile_offsets").noconvert(), nb::arg("edges").noconvert(),
        nb::arg("row_bits"), nb::arg("out_weights").noconvert(), nb::arg("damping"), nb::arg("tolerance"),
        nb::arg("max_iterations"), nb::arg("restart").noconvert().none(), nb::arg("num_isolated"), nb::arg("threads"),
        nb::arg("control").noconvert());
}

}  // namespace graphlode::bind
