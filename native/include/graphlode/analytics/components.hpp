// components.hpp - connected components.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "graphlode/control.hpp"
#include "graphlode/memory.hpp"
#include "graphlode/rows.hpp"

namespace graphlode::analytics {

template <class Vertex>
struct component_labels {
  buffer<Vertex> labels;  // 0, 1, .. in the order of the lowest vertex of each component
  std::int64_t count = 0;
};

// Entries connect vertices in either direction. `symmetric` says that every entry exists in both directions, which
// saves most of the work.
template <class Rows>
component_labels<typename Rows::vertex> find_components(const Rows& rows, bool symmetric, int threads,
                                                        const control& ctl);

// The components of the union of several graphs on the same vertices, from the components of each graph.
component_labels<std::int32_t> join_components(const std::vector<std::span<const std::int32_t>>& labels, int threads,
                                               const control& ctl);

}  // namespace graphlode::analytics
