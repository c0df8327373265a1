// motifs.cpp - binding of the stage mining: the supported view, the raw sums of motifs and the raw arrays of orbits.
#include "graphlode/mining/motifs.hpp"

#include <utility>

#include "arrays.hpp"
#include "graphlode/mining/orbits.hpp"
#include "graphlode/mining/supports.hpp"

namespace graphlode::bind {
namespace {

nb::tuple supports(const in<std::int64_t>& offsets, const in<std::int32_t>& neighbors, int threads,
                   const control_words& words) {
  const auto graph = as_csr(offsets, neighbors);
  const auto ctl = as_control(words);
  mining::motifs::supported built;
  {
    nb::gil_scoped_release nogil;
    built = mining::motifs::build_supported(graph, threads, ctl);
  }
  return nb::make_tuple(to_numpy(std::move(built.offsets)), to_numpy(std::move(built.neighbors)),
                        to_numpy(std::move(built.lower)), to_numpy(std::move(built.edges)),
                        to_numpy(std::move(built.triangles)), to_numpy(std::move(built.vertices)));
}

// The arrays of a view, held as long as something looks at them.
struct supported_arrays {
  in<std::int64_t> offsets;
  in<std::int32_t> neighbors, lower, edges, triangles;

  mining::motifs::supported_view view() const {
    const auto graph = as_csr(offsets, neighbors);
    const auto n = static_cast<std::size_t>(graph.num_vertices);
    if (lower.size() != n || edges.size() != neighbors.size() || 2 * triangles.size() != neighbors.size())
      throw nb::value_error("the arrays of the view do not fit together");
    return {graph.offsets, graph.neighbors, lower.data(), edges.data(), triangles.data(), graph.num_vertices};
  }
};

class motif_counter {
 public:
  motif_counter(const in<std::int64_t>& offsets, const in<std::int32_t>& neighbors, const in<std::int32_t>& lower,
                const in<std::int32_t>& edges, const in<std::int32_t>& triangles, int size)
      : arrays_{offsets, neighbors, lower, edges, triangles},
        view_(arrays_.view()),
        size_(size),
        counter_(view_, size) {
    if (size < 3 || size > 5) throw nb::value_error("size must be 3, 4 or 5");
  }

  // name -> (low, high) of a sum low + 2^64 high.
  nb::dict count(std::int64_t begin, std::int64_t end, int threads, const control_words& words) {
    if (begin < 0 || begin > end || end > view_.num_vertices) throw nb::value_error("task outside the graph");
    const auto ctl = as_control(words);
    mining::motifs::motif_sums sums;
    {
      nb::gil_scoped_release nogil;
      sums = counter_.count(begin, end, threads, ctl);
    }
    nb::dict named;
    for (int i = 0; i < mining::motifs::num_sums(size_); ++i) {
      const auto value = sums.values[static_cast<std::size_t>(i)];
      const auto name = mining::motifs::sum_names[static_cast<std::size_t>(i)];
      named[nb::str(name.data(), name.size())] =
          nb::make_tuple(static_cast<std::uint64_t>(value), static_cast<std::uint64_t>(value >> 64));
    }
    return named;
  }

 private:
  supported_arrays arrays_;
  mining::motifs::supported_view view_;
  int size_;
  mining::motifs::motif_counter counter_;
};

// name -> array.
nb::dict orbits(const in<std::int64_t>& offsets, const in<std::int32_t>& neighbors, const in<std::int32_t>& lower,
                const in<std::int32_t>& edges, const in<std::int32_t>& triangles, int size, bool of_edges, int threads,
                const control_words& words) {
  if (size != 4 && size != 5) throw nb::value_error("size must be 4 or 5");
  const auto view = supported_arrays{offsets, neighbors, lower, edges, triangles}.view();
  const auto ctl = as_control(words);
  auto found = [&] {
    nb::gil_scoped_release nogil;
    return mining::motifs::count_orbits(view, size, of_edges, threads, ctl);
  }();
  nb::dict named;
  for (std::size_t i = 0; i < mining::motifs::raw_names.size(); ++i) {
    const auto which = static_cast<mining::motifs::raw>(i);
    if (!found.wants(which)) continue;
    const auto name = mining::motifs::raw_names[i];
    named[nb::str(name.data(), name.size())] = to_numpy(std::move(found.at(which)));
  }
  return named;
}

}  // namespace

void bind_motifs(nb::module_& m) {
  m.def("mining_supports", &supports, nb::arg("offsets").noconvert(), nb::arg("neighbors").noconvert(),
        nb::arg("threads"), nb::arg("control").noconvert());
  m.def("mining_orbits", &orbits, nb::arg("offsets").noconvert(), nb::arg("neighbors").noconvert(),
        nb::arg("lower").noconvert(), nb::arg("edges").noconvert(), nb::arg("triangles").noconvert(), nb::arg("size"),
        nb::arg("of_edges"), nb::arg("threads"), nb::arg("control").noconvert());
  nb::class_<motif_counter>(m, "MotifCounter")
      .def(nb::init<const in<std::int64_t>&, const in<std::int32_t>&, const in<std::int32_t>&, const in<std::int32_t>&,
                    const in<std::int32_t>&, int>(),
           nb::arg("offsets").noconvert(), nb::arg("neighbors").noconvert(), nb::arg("lower").noconvert(),
           nb::arg("edges").noconvert(), nb::arg("triangles").noconvert(), nb::arg("size"))
      .def("count", &motif_counter::count, nb::arg("begin"), nb::arg("end"), nb::arg("threads"),
           nb::arg("control").noconvert());
}

}  // namespace graphlode::bind
