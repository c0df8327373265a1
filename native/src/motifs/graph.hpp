// motifs/graph.hpp - the supported graph with what the passes look up all the time beside each entry.
//
// For the entry x in row u: the triangles of the edge ux, and the place of u in row x, so that a walk u-x-v with v < u
// knows where it ends, and a neighborhood knows its members by their places.
#pragma once
#include <algorithm>
#include <cstdint>

#include "graphlode/mining/supports.hpp"
#include "graphlode/parallel.hpp"

namespace graphlode::mining::motifs {

class motif_graph : public supported_view {
 public:
  motif_graph(const supported_view& view, int threads, const control& ctl);

  std::int32_t triangles_at(std::int64_t entry) const { return supports_[entry]; }
  std::int32_t place_at(std::int64_t entry) const { return places_[entry]; }
  const std::int32_t* supports(std::int64_t u) const { return supports_.data() + offsets[u]; }
  const std::int32_t* places(std::int64_t u) const { return places_.data() + offsets[u]; }
  std::int64_t triangles_of(std::int64_t u) const { return triangles_of_[u]; }

  // The lowest rank of at least so many neighbors: ranks ascend with the degree.
  std::int64_t first_of_degree(std::int64_t least) const {
    std::int64_t low = 0, high = num_vertices;
    while (low < high) {
      const auto middle = (low + high) / 2;
      if (degree(middle) < least)
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  }
  std::int64_t largest_degree() const { return num_vertices ? degree(num_vertices - 1) : 0; }
  // The first place in row u of a rank of at least `least`.
  std::int64_t place_of_first(std::int64_t u, std::int64_t least) const {
    const auto all = row(u);
    return std::lower_bound(all.begin(), all.end(), least) - all.begin();
  }

 private:
  buffer<std::int32_t> supports_, places_;
  buffer<std::int64_t> triangles_of_;
};

}  // namespace graphlode::mining::motifs
