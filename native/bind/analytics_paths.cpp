// analytics_paths.cpp - binding of shortest paths, the weights that they use, and label propagation.
#include "arrays.hpp"
#include "graphlode/analytics/label_propagation.hpp"
#include "graphlode/analytics/shortest_paths.hpp"
#include "graphlode/graph/entry_weights.hpp"

namespace graphlode::bind {
namespace {

template <class Vertex>
void bind_for(nb::module_& m) {
  m.def(
      "graph_entry_weights",
      [](const in<std::int64_t>& offsets, const in<Vertex>& neighbors, const in<double>& edge_weights, int threads,
         const control_words& words) {
        const auto graph = as_csr(offsets, neighbors);
        if (2 * static_cast<std::int64_t>(edge_weights.size()) != graph.num_entries())
          throw nb::value_error("edge_weights must have one value for every two entries");
        const auto ctl = as_control(words);
        buffer<double> weights;
        {
          nb::gil_scoped_release nogil;
          weights = graph::weights_of_entries(graph, edge_weights.data(), threads, ctl);
        }
        return to_numpy(std::move(weights));
      },
      nb::arg("offsets").noconvert(), nb::arg("neighbors").noconvert(), nb::arg("edge_weights").noconvert(),
      nb::arg("threads"), nb::arg("control").noconvert());
  m.def(
      "analytics_shortest_paths",
      [](const in<std::int64_t>& offsets, const in<Vertex>& neighbors, const in<double>& lengths, std::int64_t source,
         double bucket_width, bool symmetric, int threads, const control_words& words) {
        const auto graph = as_csr(offsets, neighbors);
        if (source < 0 || source >= graph.num_vertices) throw nb::value_error("the source is outside the graph");
        if (static_cast<std::int64_t>(lengths.size()) != graph.num_entries())
          throw nb::value_error("lengths must have one value per entry");
        if (!(bucket_width > 0)) throw nb::value_error("bucket_width must be positive");
        const auto ctl = as_control(words);
        analytics::shortest_path_tree<Vertex> tree;
        {
          nb::gil_scoped_release nogil;
          tree = analytics::find_shortest_paths(graph, lengths.data(), source, bucket_width, symmetric, threads, ctl);
        }
        return nb::make_tuple(to_numpy(std::move(tree.distances)), to_numpy(std::move(tree.parents)), tree.reached);
      },
      nb::arg("offsets").noconvert(), nb::arg("neighbors").noconvert(), nb::arg("lengths").noconvert(),
      nb::arg("source"), nb::arg("bucket_width"), nb::arg("symmetric"), nb::arg("threads"),
      nb::arg("control").noconvert());
  m.def(
      "analytics_label_propagation",
      [](const in<std::int64_t>& offsets, const in<Vertex>& neighbors, std::int64_t max_iterations, std::uint64_t seed,
         int threads, const control_words& words) {
        const auto graph = as_csr(offsets, neighbors);
        if (max_iterations < 1) throw nb::value_error("max_iterations must be at least 1");
        const auto ctl = as_control(words);
        analytics::propagated_labels<Vertex> found;
        {
          nb::gil_scoped_release nogil;
          found = analytics::propagate_labels(graph, max_iterations, seed, threads, ctl);
        }
        return nb::make_tuple(to_numpy(std::move(found.labels)), found.iterations, found.converged);
      },
      nb::arg("offsets").noconvert(), nb::arg("neighbors").noconvert(), nb::arg("max_iterations"), nb::arg("seed"),
      nb::arg("threads"), nb::arg("control").noconvert());
}

}  // namespace

void bind_analytics_paths(nb::module_& m) {
  bind_for<std::int32_t>(m);
  bind_for<std::int64_t>(m);
}

}  // namespace graphlode::bind
