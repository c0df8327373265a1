// components.hpp - which vertices hang together.
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

// Two vertices hang together if a chain of entries joins them, whichever way each entry leads. `symmetric` says that
// every entry is there in both directions, which saves most of the work.
template <class Rows>
component_labels<typename Rows::vertex> find_components(const Rows& rows, bool symmetric, int threads,
                                                        const control& ctl);

// The components of several graphs on the same vertices taken together, from those of each.
component_labels<std::int32_t> join_components(const std::vector<std::span<const std::int32_t>>& labels, int threads,
                                               const control& ctl);

}  // namespace graphlode::analytics
