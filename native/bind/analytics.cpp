// analytics.cpp - binding of the stage analytics.
#include <nanobind/stl/string.h>

#include "arrays.hpp"
#include "graphlode/analytics/cores.hpp"
#include "graphlode/analytics/triangles.hpp"

namespace graphlode::bind {
namespace {

template <class Vertex>
nb::tuple cores(const in<std::int64_t>& offsets, const in<Vertex>& neighbors, int threads, const control_words& words) {
  const auto graph = as_csr(offsets, neighbors);
  const auto ctl = as_control(words);
  analytics::peeling result;
  {
    nb::gil_scoped_release nogil;
    result = analytics::peel(graph, threads, ctl);
  }
  return nb::make_tuple(to_numpy(std::move(result.core)), to_numpy(std::move(result.round)));
}

template <class Vertex>
std::int64_t triangles(const in<std::int64_t>& offsets, const in<Vertex>& neighbors, std::int64_t begin,
                       std::int64_t end, const std::string& by, const inout<std::int64_t>& counts, int threads,
                       const control_words& words) {
  using analytics::triangle_counts;
  const auto graph = as_csr(offsets, neighbors);
  const auto what = by == "vertex" ? triangle_counts::by_vertex
                    : by == "edge" ? triangle_counts::by_edge
                                   : triangle_counts::total;
  const auto needed = what == triangle_counts::by_vertex ? graph.num_vertices
                      : what == triangle_counts::by_edge ? graph.num_entries()
                                                         : 0;
  if (static_cast<std::int64_t>(counts.size()) != needed) throw nb::value_error("counts has the wrong length");
  if (begin < 0 || end > graph.num_vertices) throw nb::value_error("task outside the graph");
  const auto ctl = as_control(words);
  nb::gil_scoped_release nogil;
  return analytics::count_triangles(graph, begin, end, what, counts.data(), threads, ctl);
}

template <class Vertex>
void bind_for(nb::module_& m) {
  m.def("analytics_cores", &cores<Vertex>, nb::arg("offsets").noconvert(), nb::arg("neighbors").noconvert(),
        nb::arg("threads"), nb::arg("control").noconvert());
  m.def("analytics_triangles", &triangles<Vertex>, nb::arg("offsets").noconvert(), nb::arg("neighbors").noconvert(),
        nb::arg("begin"), nb::arg("end"), nb::arg("by"), nb::arg("counts").noconvert(), nb::arg("threads"),
        nb::arg("control").noconvert());
}

}  // namespace

void bind_analytics(nb::module_& m) {
  bind_for<std::int32_t>(m);
  bind_for<std::int64_t>(m);
}

}  // namespace graphlode::bind
