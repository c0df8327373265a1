// label_propagation.hpp - communities: every vertex takes the most frequent label of its neighbors.
#pragma once
#include <cstdint>

#include "graphlode/control.hpp"
#include "graphlode/csr.hpp"
#include "graphlode/memory.hpp"

namespace graphlode::analytics {

template <class Vertex>
struct propagated_labels {
  buffer<Vertex> labels;  // the vertex that had this label at the start
  std::int64_t iterations = 0;
  bool converged = false;  // whether the last iteration changed nothing
};

template <class Vertex>
propagated_labels<Vertex> propagate_labels(const csr_view<Vertex>& symmetric, std::int64_t max_iterations,
                                           std::uint64_t seed, int threads, const control& ctl);

}  // namespace graphlode::analytics
