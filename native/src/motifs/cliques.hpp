// motifs/cliques.hpp - the upper halves of the rows of a supported graph, in the form that the clique kernels take.
#pragma once
#include <algorithm>
#include <numeric>

#include "graphlode/mining/cliques.hpp"
#include "graphlode/mining/supports.hpp"

namespace graphlode::mining::motifs {

class upper_rows {
 public:
  explicit upper_rows(const supported_view& graph)
      : num_vertices_(graph.num_vertices),
        offsets_(static_cast<std::size_t>(num_vertices_) + 1),
        neighbors_(static_cast<std::size_t>(graph.num_edges())),
        roots_(static_cast<std::size_t>(num_vertices_)) {
    offsets_[0] = 0;
    for (std::int64_t u = 0; u < num_vertices_; ++u) {
      offsets_[u + 1] = offsets_[u] + graph.degree(u) - graph.lower[u];
      std::copy(graph.neighbors + graph.offsets[u] + graph.lower[u], graph.neighbors + graph.offsets[u + 1],
                neighbors_.data() + offsets_[u]);
    }
    sort_roots();
  }

  mining::roots_view<rank> view() const {
    return {{offsets_.data(), neighbors_.data(), num_vertices_}, roots_.data(), num_roots_};
  }
  mining::entry_range entries(std::int64_t first_row, std::int64_t last_row) const {
    return {offsets_[first_row], offsets_[last_row]};
  }
  std::int64_t longest() const { return num_roots_ ? length(roots_[0]) : 1; }

 private:
  std::int64_t length(std::int64_t u) const { return offsets_[u + 1] - offsets_[u]; }

  // Rows of at least two entries by descending length, ties by row: a counting sort.
  void sort_roots() {
    std::int64_t most = 0;
    for (std::int64_t u = 0; u < num_vertices_; ++u) most = std::max(most, length(u));
    buffer<std::int64_t> starts(static_cast<std::size_t>(most) + 2, 0);
    for (std::int64_t u = 0; u < num_vertices_; ++u) ++starts[most - length(u) + 1];
    std::inclusive_scan(starts.begin(), starts.end(), starts.begin());
    num_roots_ = most < 2 ? 0 : starts[most - 1];
    for (std::int64_t u = 0; u < num_vertices_; ++u) roots_[starts[most - length(u)]++] = static_cast<rank>(u);
  }

  std::int64_t num_vertices_;
  buffer<std::int64_t> offsets_;
  buffer<rank> neighbors_, roots_;
  std::int64_t num_roots_ = 0;
};

}  // namespace graphlode::mining::motifs
