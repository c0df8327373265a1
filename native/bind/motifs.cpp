// motifs.cpp - binding of the stage mining: the supported view, the raw sums of motifs and the raw arrays of orbits.
#include "graphlode/mining/motifs.hpp"

#include <utility>

#include "arrays.hpp"
#include "graphlode/mining/orbits.hpp"
#include "graphlode/mining/supports.hpp"
#include "supported_arrays.hpp"

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

  // Maps each name to (low, high) of the sum low + 2^64 high.
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
      named[sum_name(i)] = nb::make_tuple(static_cast<std::uint64_t>(value), static_cast<std::uint64_t>(value >> 64));
    }
    return named;
  }

  // (name, seconds, names of the sums that are not zero) for each pass.
  nb::list passes() const {
    nb::list made;
    for (const auto& one : counter_.passes()) {
      nb::list found;
      for (int i = 0; i < mining::motifs::num_sums(size_); ++i)
        if (one.found.values[static_cast<std::size_t>(i)] != 0) found.append(sum_name(i));
      made.append(nb::make_tuple(nb::str(one.name.data(), one.name.size()), one.seconds, nb::tuple(found)));
    }
    return made;
  }

 private:
  static nb::str sum_name(int i) {
    const auto name = mining::motifs::sum_names[static_cast<std::size_t>(i)];
    return nb::str(name.data(), name.size());
  }

  supported_arrays arrays_;
  mining::motifs::supported_view view_;
  int size_;
  mining::motifs::motif_counter counter_;
};

// Maps names to arrays.
nb::dict named_arrays(mining::motifs::raw_arrays&& found) {
  nb::dict named;
  for (std::size_t i = 0; i < mining::motifs::raw_names.size(); ++i) {
    const auto which = static_cast<mining::motifs::raw>(i);
    if (!found.wants(which)) continue;
    const auto name = mining::motifs::raw_names[i];
    named[nb::str(name.data(), name.size())] = to_numpy(std::move(found.at(which)));
  }
  return named;
}

class orbit_counter {
 public:
  orbit_counter(const in<std::int64_t>& offsets, const in<std::int32_t>& neighbors, const in<std::int32_t>& lower,
                const in<std::int32_t>& edges, const in<std::int32_t>& triangles, int size, bool of_edges)
      : arrays_{offsets, neighbors, lower, edges, triangles},
        view_(arrays_.view()),
        counter_(view_, checked(size), of_edges) {}

  void count(std::int64_t begin, std::int64_t end, int threads, const control_words& words) {
    if (begin < 0 || begin > end || end > view_.num_vertices) throw nb::value_error("task outside the graph");
    const auto ctl = as_control(words);
    nb::gil_scoped_release nogil;
    counter_.count(begin, end, threads, ctl);
  }

  nb::dict take(int threads, const control_words& words) {
    const auto ctl = as_control(words);
    return named_arrays([&] {
      nb::gil_scoped_release nogil;
      return counter_.take(threads, ctl);
    }());
  }

 private:
  static int checked(int size) {
    if (size != 4 && size != 5) throw nb::value_error("size must be 4 or 5");
    return size;
  }

  supported_arrays arrays_;
  mining::motifs::supported_view view_;
  mining::motifs::orbit_counter counter_;
};

// Computes the arrays of `raw` that are sums of others. Maps names to arrays, in and out.
nb::dict compose_orbits(const in<std::int64_t>& offsets, const in<std::int32_t>& neighbors,
                        const in<std::int32_t>& lower, const in<std::int32_t>& edges, const in<std::int32_t>& triangles,
                        const nb::dict& raw, bool of_edges, int threads, const control_words& words) {
  const supported_arrays arrays{offsets, neighbors, lower, edges, triangles};
  const auto view = arrays.view();
  const raw_inputs given(raw, view, 4, of_edges);
  const auto ctl = as_control(words);
  return named_arrays([&] {
    nb::gil_scoped_release nogil;
    return mining::motifs::compose_orbits(view, given.pointers, of_edges, threads, ctl);
  }());
}

}  // namespace

void bind_motifs(nb::module_& m) {
  m.def("mining_supports", &supports, nb::arg("offsets").noconvert(), nb::arg("neighbors").noconvert(),
        nb::arg("threads"), nb::arg("control").noconvert());
  m.def("mining_compose_orbits", &compose_orbits, nb::arg("offsets").noconvert(), nb::arg("neighbors").noconvert(),
        nb::arg("lower").noconvert(), nb::arg("edges").noconvert(), nb::arg("triangles").noconvert(), nb::arg("raw"),
        nb::arg("of_edges"), nb::arg("threads"), nb::arg("control").noconvert());
  nb::class_<orbit_counter>(m, "OrbitCounter")
      .def(nb::init<const in<std::int64_t>&, const in<std::int32_t>&, const in<std::int32_t>&, const in<std::int32_t>&,
                    const in<std::int32_t>&, int, bool>(),
           nb::arg("offsets").noconvert(), nb::arg("neighbors").noconvert(), nb::arg("lower").noconvert(),
           nb::arg("edges").noconvert(), nb::arg("triangles").noconvert(), nb::arg("size"), nb::arg("of_edges"))
      .def("count", &orbit_counter::count, nb::arg("begin"), nb::arg("end"), nb::arg("threads"),
           nb::arg("control").noconvert())
      .def("take", &orbit_counter::take, nb::arg("threads"), nb::arg("control").noconvert());
  nb::class_<motif_counter>(m, "MotifCounter")
      .def(nb::init<const in<std::int64_t>&, const in<std::int32_t>&, const in<std::int32_t>&, const in<std::int32_t>&,
                    const in<std::int32_t>&, int>(),
           nb::arg("offsets").noconvert(), nb::arg("neighbors").noconvert(), nb::arg("lower").noconvert(),
           nb::arg("edges").noconvert(), nb::arg("triangles").noconvert(), nb::arg("size"))
      .def("count", &motif_counter::count, nb::arg("begin"), nb::arg("end"), nb::arg("threads"),
           nb::arg("control").noconvert())
      .def("passes", &motif_counter::passes);
}

}  // namespace graphlode::bind
