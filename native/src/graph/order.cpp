#include "graphlode/graph/order.hpp"

#include <algorithm>
#include <atomic>
#include <numeric>

#include "graphlode/parallel.hpp"

namespace graphlode::graph {
namespace {

constexpr std::int64_t grain = 4096;

// A stable counting sort of name(v) by the key of v.
template <class Name, class Key, class NameOf>
buffer<Name> sort_by_key(const Key* keys, std::int64_t num_vertices, std::int64_t num_keys, NameOf&& name) {
  buffer<std::int64_t> starts(static_cast<std::size_t>(num_keys) + 1, 0);
  for (std::int64_t v = 0; v < num_vertices; ++v) ++starts[keys[v] + 1];
  std::inclusive_scan(starts.begin(), starts.end(), starts.begin());
  buffer<Name> order(num_vertices);
  for (std::int64_t v = 0; v < num_vertices; ++v) order[starts[keys[v]]++] = name(v);
  return order;
}

}  // namespace

template <class Vertex, class Key>
buffer<Vertex> order_by_key(const Key* keys, std::int64_t num_vertices, std::int64_t num_keys) {
  return sort_by_key<Vertex>(keys, num_vertices, num_keys, [](std::int64_t v) { return static_cast<Vertex>(v); });
}

buffer<std::int64_t> ids_by_key(const std::int32_t* keys, const std::int64_t* ids, std::int64_t num_vertices,
                                std::int64_t num_keys) {
  return sort_by_key<std::int64_t>(keys, num_vertices, num_keys, [&](std::int64_t v) { return ids[v]; });
}

template <class Vertex>
buffer<Vertex> order_by_degree(const csr_view<Vertex>& graph) {
  buffer<Vertex> degrees(graph.num_vertices);
  Vertex largest = 0;
  for (std::int64_t v = 0; v < graph.num_vertices; ++v) {
    degrees[v] = static_cast<Vertex>(graph.degree(v));
    largest = std::max(largest, degrees[v]);
  }
  return order_by_key<Vertex>(degrees.data(), graph.num_vertices, std::int64_t{largest} + 1);
}

template <class Vertex>
buffer<Vertex> order_by_approximate_core(const csr_view<Vertex>& graph, int threads, const control& ctl) {
  const auto n = graph.num_vertices;
  threads = worthwhile_threads(graph.num_entries(), threads);
  constexpr std::int32_t waiting = INT32_MAX;
  buffer<Vertex> degrees(n);
  buffer<std::int32_t> rounds(n, waiting);
  for (std::int64_t v = 0; v < n; ++v) degrees[v] = static_cast<Vertex>(graph.degree(v));
  std::int64_t vertices_left = n, degrees_left = graph.num_entries();
  std::int32_t round = 0;
  for (; vertices_left > 0; ++round) {
    // At most 3/2 of the average, in integers so that every device takes the same vertices.
    const auto light = [&](Vertex degree) {
      return __int128{2} * degree * vertices_left <= __int128{3} * degrees_left;
    };
    std::atomic<std::int64_t> taken{0};
    parallel_chunks(0, n, grain, threads, ctl, [&](int, std::int64_t begin, std::int64_t end) {
      std::int64_t mine = 0;
      for (auto v = begin; v < end; ++v)
        if (rounds[v] == waiting && light(degrees[v])) {
          rounds[v] = round;
          ++mine;
        }
      taken += mine;
    });
    // A remaining vertex counts its neighbors of this round itself, so no thread writes to another's vertex.
    std::atomic<std::int64_t> degrees_next{0};
    parallel_chunks(0, n, grain, threads, ctl, [&](int, std::int64_t begin, std::int64_t end) {
      std::int64_t mine = 0;
      for (auto v = begin; v < end; ++v) {
        if (rounds[v] != waiting) continue;
        Vertex lost = 0;
        for (const auto u : graph.row(v)) lost += rounds[u] == round;
        degrees[v] -= lost;
        mine += degrees[v];
      }
      degrees_next += mine;
    });
    vertices_left -= taken;
    degrees_left = degrees_next;
  }
  return order_by_key<Vertex>(rounds.data(), n, round);
}

#define GRAPHLODE_INSTANTIATE(Vertex)                                                    \
  template buffer<Vertex> order_by_key(const std::int32_t*, std::int64_t, std::int64_t); \
  template buffer<Vertex> order_by_degree(const csr_view<Vertex>&);                      \
  template buffer<Vertex> order_by_approximate_core(const csr_view<Vertex>&, int, const control&);
GRAPHLODE_INSTANTIATE(std::int32_t)
GRAPHLODE_INSTANTIATE(std::int64_t)
#undef GRAPHLODE_INSTANTIATE

}  // namespace graphlode::graph
