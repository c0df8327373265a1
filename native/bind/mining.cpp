// mining.cpp - binding of the stage mining: counting cliques.
#include <nanobind/stl/string.h>

#include "arrays.hpp"
#include "graphlode/mining/all_cliques.hpp"
#include "graphlode/mining/cliques.hpp"

namespace graphlode::bind {
namespace {

template <class Vertex>
mining::roots_view<Vertex> as_roots(const in<std::int64_t>& offsets, const in<Vertex>& neighbors,
                                    const in<Vertex>& roots) {
  return {as_csr(offsets, neighbors), roots.data(), static_cast<std::int64_t>(roots.size())};
}

template <class Vertex>
mining::entry_range as_task(const csr_view<Vertex>& graph, std::int64_t begin, std::int64_t end) {
  if (begin < 0 || begin > end || end > graph.num_entries()) throw nb::value_error("task outside the graph");
  return {begin, end};
}

// (low, high, columns): cell [h][p] is low + 2^64 high, at index h * columns + p.
nb::tuple as_tuple(mining::leaf_counts&& leaves) {
  const auto columns = leaves.columns;
  return nb::make_tuple(to_numpy(std::move(leaves.low)), to_numpy(std::move(leaves.high)), columns);
}

mining::clique_method as_method(const std::string& name) {
  if (name == "pivot") return mining::clique_method::pivot;
  if (name == "enumerate") return mining::clique_method::enumerate;
  if (name == "set") return mining::clique_method::set;
  throw nb::value_error("unknown method");
}

template <class Vertex>
nb::tuple cliques(const in<std::int64_t>& offsets, const in<Vertex>& neighbors, const in<Vertex>& roots,
                  std::int64_t begin, std::int64_t end, int k, const std::string& method, const std::string& by,
                  const inout<std::uint64_t>& counts, const in<std::uint64_t>& binomials, int limbs, int threads,
                  const control_words& words) {
  using mining::clique_counts;
  const auto view = as_roots(offsets, neighbors, roots);
  const auto task = as_task(view.graph, begin, end);
  const auto chosen = as_method(method);
  if (k < 3) throw nb::value_error("k must be at least 3");
  mining::local_counts local;
  if (by != "total") {
    local.what = by == "vertex" ? clique_counts::by_vertex : clique_counts::by_edge;
    const auto units = by == "vertex" ? view.graph.num_vertices : view.graph.num_entries();
    if (limbs < 1 || static_cast<std::int64_t>(counts.size()) != units * limbs)
      throw nb::value_error("counts has the wrong length");
    local.counts = counts.data();
    local.limbs = limbs;
    local.binomials = binomials.data();
    local.binomial_columns = k + 1;
  }
  const auto ctl = as_control(words);
  mining::leaf_counts leaves;
  {
    nb::gil_scoped_release nogil;
    leaves = mining::count_cliques(view, task, k, chosen, local, threads, ctl);
  }
  return as_tuple(std::move(leaves));
}

template <class Vertex>
nb::tuple all_cliques(const in<std::int64_t>& offsets, const in<Vertex>& neighbors, const in<Vertex>& roots,
                      std::int64_t begin, std::int64_t end, int max_k, int threads, const control_words& words) {
  const auto view = as_roots(offsets, neighbors, roots);
  const auto task = as_task(view.graph, begin, end);
  if (max_k < 3) throw nb::value_error("max_k must be at least 3");
  const auto ctl = as_control(words);
  mining::leaf_counts leaves;
  {
    nb::gil_scoped_release nogil;
    leaves = mining::count_all_cliques(view, task, max_k, threads, ctl);
  }
  return as_tuple(std::move(leaves));
}

template <class Vertex>
nb::tuple cliques_sample(const in<std::int64_t>& offsets, const in<Vertex>& neighbors, const in<Vertex>& rows,
                         const in<double>& weights, int k, std::int64_t work_limit, const control_words& words) {
  const auto graph = as_csr(offsets, neighbors);
  const auto num_rows = static_cast<std::int64_t>(rows.size());
  if (weights.size() != rows.size()) throw nb::value_error("weights must be as many as rows");
  for (std::int64_t i = 0; i < num_rows; ++i)
    if (rows.data()[i] < 0 || rows.data()[i] >= graph.num_vertices) throw nb::value_error("row outside the graph");
  const auto ctl = as_control(words);
  mining::clique_sample found;
  {
    nb::gil_scoped_release nogil;
    found = mining::sample_cliques(graph, rows.data(), weights.data(), num_rows, k, work_limit, ctl);
  }
  return nb::make_tuple(found.pivot, found.enumerate, found.given_up);
}

template <class Vertex>
void bind_for(nb::module_& m) {
  m.def("mining_cliques", &cliques<Vertex>, nb::arg("offsets").noconvert(), nb::arg("neighbors").noconvert(),
        nb::arg("roots").noconvert(), nb::arg("begin"), nb::arg("end"), nb::arg("k"), nb::arg("method"), nb::arg("by"),
        nb::arg("counts").noconvert(), nb::arg("binomials").noconvert(), nb::arg("limbs"), nb::arg("threads"),
        nb::arg("control").noconvert());
  m.def("mining_all_cliques", &all_cliques<Vertex>, nb::arg("offsets").noconvert(), nb::arg("neighbors").noconvert(),
        nb::arg("roots").noconvert(), nb::arg("begin"), nb::arg("end"), nb::arg("max_k"), nb::arg("threads"),
        nb::arg("control").noconvert());
  m.def("mining_cliques_sample", &cliques_sample<Vertex>, nb::arg("offsets").noconvert(),
        nb::arg("neighbors").noconvert(), nb::arg("rows").noconvert(), nb::arg("weights").noconvert(), nb::arg("k"),
        nb::arg("work_limit"), nb::arg("control").noconvert());
}

}  // namespace

void bind_mining(nb::module_& m) {
  bind_for<std::int32_t>(m);
  bind_for<std::int64_t>(m);
}

}  // namespace graphlode::bind
