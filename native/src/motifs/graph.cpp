#include "motifs/graph.hpp"

namespace graphlode::mining::motifs {

motif_graph::motif_graph(const supported_view& view, int threads, const control& ctl)
    : supported_view(view),
      supports_(static_cast<std::size_t>(view.num_entries())),
      places_(static_cast<std::size_t>(view.num_entries())),
      triangles_of_(static_cast<std::size_t>(view.num_vertices)) {
  constexpr std::int64_t grain = 1024;
  threads = worthwhile_threads(num_entries(), threads);
  buffer<std::int64_t> lower_offsets(static_cast<std::size_t>(num_vertices) + 1);
  lower_offsets[0] = 0;
  for (std::int64_t u = 0; u < num_vertices; ++u) lower_offsets[u + 1] = lower_offsets[u] + lower[u];
  // The lower end of an edge writes both ends: the edge id gives its place in the other row.
  parallel_chunks(0, num_vertices, grain, threads, ctl, [&](int, std::int64_t begin, std::int64_t end) {
    for (auto u = begin; u < end; ++u)
      for (auto here = offsets[u] + lower[u]; here < offsets[u + 1]; ++here) {
        const auto edge = edges[here];
        const auto place = edge - lower_offsets[neighbors[here]];
        const auto there = offsets[neighbors[here]] + place;
        supports_[here] = supports_[there] = triangles[edge];
        places_[here] = static_cast<std::int32_t>(place);
        places_[there] = static_cast<std::int32_t>(here - offsets[u]);
      }
  });
  parallel_chunks(0, num_vertices, grain, threads, ctl, [&](int, std::int64_t begin, std::int64_t end) {
    for (auto u = begin; u < end; ++u) {
      std::int64_t twice = 0;
      for (auto e = offsets[u]; e < offsets[u + 1]; ++e) twice += supports_[e];
      triangles_of_[u] = twice / 2;
    }
  });
}

}  // namespace graphlode::mining::motifs
