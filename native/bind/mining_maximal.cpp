// mining_maximal.cpp - binding of the maximal cliques.
//
// The thread that fills a batch passes it to a Python function, holding the GIL for the call. An error that the
// function raises ends the search and reaches the caller unchanged.
#include <algorithm>

#include "arrays.hpp"
#include "graphlode/mining/maximal_cliques.hpp"

namespace graphlode::bind {
namespace {

void check_task(std::int64_t begin, std::int64_t end, std::int64_t num_vertices) {
  if (begin < 0 || end > num_vertices || begin > end) throw nb::value_error("task outside the graph");
}

template <class Vertex>
nb::tuple transpose(const in<std::int64_t>& offsets, const in<Vertex>& neighbors, int threads,
                    const control_words& words) {
  const auto graph = as_csr(offsets, neighbors);
  const auto ctl = as_control(words);
  csr<Vertex> result;
  {
    nb::gil_scoped_release nogil;
    result = mining::transpose(graph, threads, ctl);
  }
  return nb::make_tuple(to_numpy(std::move(result.offsets)), to_numpy(std::move(result.neighbors)));
}

template <class Vertex>
void list_maximal(const in<std::int64_t>& offsets, const in<Vertex>& neighbors, const in<std::int64_t>& earlier_offsets,
                  const in<Vertex>& earlier_neighbors, const in<std::int64_t>& names, std::int64_t begin,
                  std::int64_t end, std::int64_t min_size, std::int64_t batch_size, int threads,
                  const control_words& words, const nb::callable& sink) {
  const auto graph = as_csr(offsets, neighbors);
  const auto earlier = as_csr(earlier_offsets, earlier_neighbors);
  if (earlier.num_vertices != graph.num_vertices || static_cast<std::int64_t>(names.size()) != graph.num_vertices)
    throw nb::value_error("all arrays must be of one graph");
  if (batch_size < 1) throw nb::value_error("a batch has at least one clique");
  check_task(begin, end, graph.num_vertices);
  const auto ctl = as_control(words);
  const mining::clique_sink give = [&](mining::clique_batch&& batch) {
    nb::gil_scoped_acquire gil;
    sink(nb::make_tuple(to_numpy(std::move(batch.offsets)), to_numpy(std::move(batch.members))));
  };
  nb::gil_scoped_release nogil;
  mining::list_maximal_cliques(graph, earlier, names.data(), begin, end, {min_size, batch_size, threads}, ctl, give);
}

template <class Vertex>
numpy_array<std::int64_t> max_clique(const in<std::int64_t>& offsets, const in<Vertex>& neighbors, std::int64_t begin,
                                     std::int64_t end, int threads, const control_words& words) {
  const auto graph = as_csr(offsets, neighbors);
  check_task(begin, end, graph.num_vertices);
  const auto ctl = as_control(words);
  buffer<std::int64_t> members;
  {
    nb::gil_scoped_release nogil;
    const auto found = mining::find_max_clique(graph, begin, end, threads, ctl);
    members = buffer<std::int64_t>(found.size());
    std::copy(found.begin(), found.end(), members.begin());
  }
  return to_numpy(std::move(members));
}

template <class Vertex>
void bind_for(nb::module_& m) {
  m.def("mining_transpose", &transpose<Vertex>, nb::arg("offsets").noconvert(), nb::arg("neighbors").noconvert(),
        nb::arg("threads"), nb::arg("control").noconvert());
  m.def("mining_maximal_cliques", &list_maximal<Vertex>, nb::arg("offsets").noconvert(),
        nb::arg("neighbors").noconvert(), nb::arg("earlier_offsets").noconvert(),
        nb::arg("earlier_neighbors").noconvert(), nb::arg("names").noconvert(), nb::arg("begin"), nb::arg("end"),
        nb::arg("min_size"), nb::arg("batch_size"), nb::arg("threads"), nb::arg("control").noconvert(),
        nb::arg("sink"));
  m.def("mining_max_clique", &max_clique<Vertex>, nb::arg("offsets").noconvert(), nb::arg("neighbors").noconvert(),
        nb::arg("begin"), nb::arg("end"), nb::arg("threads"), nb::arg("control").noconvert());
}

}  // namespace

void bind_mining_maximal(nb::module_& m) {
  bind_for<std::int32_t>(m);
  bind_for<std::int64_t>(m);
}

}  // namespace graphlode::bind
