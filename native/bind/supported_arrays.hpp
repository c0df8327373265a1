// supported_arrays.hpp - checked arrays: the supported view for motifs and orbits, and raw arrays of orbits.
#pragma once
#include <vector>

#include "arrays.hpp"
#include "graphlode/mining/orbits.hpp"
#include "graphlode/mining/supports.hpp"

namespace graphlode::bind {

// The arrays of a view, kept alive while they are in use.
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

// Raw arrays by name, as patterns of `size` vertices need them, kept alive while they are in use.
struct raw_inputs {
  std::vector<in<std::int64_t>> held;
  mining::motifs::raw_pointers pointers{};

  raw_inputs(const nb::dict& raw, const mining::motifs::supported_view& graph, int size, bool of_edges) {
    for (std::size_t i = 0; i < mining::motifs::raw_names.size(); ++i) {
      const auto which = static_cast<mining::motifs::raw>(i);
      if (!mining::motifs::is_raw_of(which, size, of_edges)) continue;
      const auto name = mining::motifs::raw_names[i];
      held.push_back(nb::cast<in<std::int64_t>>(raw[nb::str(name.data(), name.size())], false));
      if (held.back().size() != static_cast<std::size_t>(mining::motifs::raw_length(which, graph)))
        throw nb::value_error("a raw array has another length than the graph");
      pointers[i] = held.back().data();
    }
  }
};

}  // namespace graphlode::bind
