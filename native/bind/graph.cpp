// graph.cpp - binding of the stage graph: rows from edges, orders, orientation.
#include <nanobind/stl/string.h>

#include "arrays.hpp"
#include "graphlode/errors.hpp"
#include "graphlode/graph/build.hpp"
#include "graphlode/graph/check_rows.hpp"
#include "graphlode/graph/order.hpp"
#include "graphlode/graph/oriented.hpp"

namespace graphlode::bind {
namespace {

template <class Id, class Vertex>
nb::tuple build(const in<Id>& src, const in<Id>& dst, std::int64_t num_vertices, bool directed, bool keep_positions,
                int threads, const control_words& words) {
  if (src.size() != dst.size()) throw nb::value_error("src and dst must have the same length");
  const auto ctl = as_control(words);
  graph::build_result<Vertex> result;
  {
    nb::gil_scoped_release nogil;
    result = graph::build<Id, Vertex>({src.data(), src.size()}, {dst.data(), dst.size()},
                                      {num_vertices, directed, keep_positions, threads}, ctl);
  }
  const bool has_ids = result.ids.size() > 0;
  return nb::make_tuple(to_numpy(std::move(result.graph.offsets)), to_numpy(std::move(result.graph.neighbors)),
                        has_ids ? nb::cast(to_numpy(std::move(result.ids))) : nb::none(),
                        keep_positions ? nb::cast(to_numpy(std::move(result.positions))) : nb::none(), result.num_edges,
                        result.self_loops, result.duplicates);
}

// Takes any sizes: unlike as_csr, it checks whether they fit.
template <class Vertex>
nb::tuple check_rows(const in<std::int64_t>& offsets, const in<Vertex>& neighbors, bool directed, int threads,
                     const control_words& words) {
  if (offsets.size() == 0) throw nb::value_error("offsets must have at least one entry");
  const csr_view<Vertex> view{offsets.data(), neighbors.data(), static_cast<std::int64_t>(offsets.size()) - 1};
  const auto ctl = as_control(words);
  graph::row_finding found;
  {
    nb::gil_scoped_release nogil;
    found = graph::check_rows(view, static_cast<std::int64_t>(neighbors.size()), directed, threads, ctl);
  }
  return nb::make_tuple(static_cast<int>(found.fault), found.row);
}

template <class Vertex>
numpy_array<Vertex> order(const in<std::int64_t>& offsets, const in<Vertex>& neighbors, const std::string& by,
                          int threads, const control_words& words) {
  const auto view = as_csr(offsets, neighbors);
  const auto ctl = as_control(words);
  buffer<Vertex> result;
  {
    nb::gil_scoped_release nogil;
    if (by == "degree")
      result = graph::order_by_degree(view);
    else if (by == "approximate")
      result = graph::order_by_approximate_core(view, threads, ctl);
    else
      throw input_error("unknown order " + by);
  }
  return to_numpy(std::move(result));
}

template <class Vertex>
numpy_array<Vertex> order_by_round(const in<std::int32_t>& rounds, std::int64_t num_rounds, const in<Vertex>&) {
  buffer<Vertex> result;
  {
    nb::gil_scoped_release nogil;
    result = graph::order_by_key<Vertex>(rounds.data(), static_cast<std::int64_t>(rounds.size()), num_rounds);
  }
  return to_numpy(std::move(result));
}

numpy_array<std::int64_t> ids_by_round(const in<std::int32_t>& rounds, std::int64_t num_rounds,
                                       const in<std::int64_t>& ids) {
  if (ids.size() != rounds.size()) throw nb::value_error("ids has the wrong length");
  buffer<std::int64_t> result;
  {
    nb::gil_scoped_release nogil;
    result = graph::ids_by_key(rounds.data(), ids.data(), static_cast<std::int64_t>(rounds.size()), num_rounds);
  }
  return to_numpy(std::move(result));
}

template <class Vertex>
nb::tuple orient(const in<std::int64_t>& offsets, const in<Vertex>& neighbors, const in<Vertex>& order, int threads,
                 const control_words& words) {
  const auto view = as_csr(offsets, neighbors);
  if (static_cast<std::int64_t>(order.size()) != view.num_vertices) throw nb::value_error("order has the wrong length");
  const auto ctl = as_control(words);
  csr<Vertex> result;
  {
    nb::gil_scoped_release nogil;
    result = graph::orient(view, order.data(), threads, ctl);
  }
  return nb::make_tuple(to_numpy(std::move(result.offsets)), to_numpy(std::move(result.neighbors)));
}

template <class Vertex>
void bind_views(nb::module_& m) {
  m.def("graph_check_rows", &check_rows<Vertex>, nb::arg("offsets").noconvert(), nb::arg("neighbors").noconvert(),
        nb::arg("directed"), nb::arg("threads"), nb::arg("control").noconvert());
  m.def("graph_order", &order<Vertex>, nb::arg("offsets").noconvert(), nb::arg("neighbors").noconvert(), nb::arg("by"),
        nb::arg("threads"), nb::arg("control").noconvert());
  m.def("graph_order_by_round", &order_by_round<Vertex>, nb::arg("rounds").noconvert(), nb::arg("num_rounds"),
        nb::arg("like").noconvert());
  m.def("graph_orient", &orient<Vertex>, nb::arg("offsets").noconvert(), nb::arg("neighbors").noconvert(),
        nb::arg("order").noconvert(), nb::arg("threads"), nb::arg("control").noconvert());
}

}  // namespace

void bind_graph(nb::module_& m) {
  const auto def_build = [&](const char* name, auto function) {
    m.def(name, function, nb::arg("src").noconvert(), nb::arg("dst").noconvert(), nb::arg("num_vertices"),
          nb::arg("directed"), nb::arg("keep_positions"), nb::arg("threads"), nb::arg("control").noconvert());
  };
  def_build("graph_build", &build<std::int32_t, std::int32_t>);
  def_build("graph_build", &build<std::int64_t, std::int32_t>);
  def_build("graph_build_wide", &build<std::int64_t, std::int64_t>);
  m.def("graph_ids_by_round", &ids_by_round, nb::arg("rounds").noconvert(), nb::arg("num_rounds"),
        nb::arg("ids").noconvert());
  bind_views<std::int32_t>(m);
  bind_views<std::int64_t>(m);
}

}  // namespace graphlode::bind
