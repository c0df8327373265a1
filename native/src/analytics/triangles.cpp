// triangles.cpp - mark the row of u, then look up the rows of its neighbors.
//
// For each u the ranks in its row are marked in a table of the thread; for each v in the row, every w in the row of v
// is one load and one test. With edges directed from low to high degree no row is longer than sqrt(2 m), and since
// ranks ascend with degree the marks that are looked at lie close together at the end of the table. Cost: the sum of
// the lengths of the rows of all heads of edges. For the total, heads among the highest ranks are intersected as bit
// rows instead (hub_rows.hpp): on skewed graphs they are nine tenths of the work.
#include "graphlode/analytics/triangles.hpp"

#include <algorithm>
#include <atomic>
#include <optional>

#include "graphlode/clones.hpp"
#include "graphlode/parallel.hpp"
#include "hub_rows.hpp"

namespace graphlode::analytics {
namespace {

constexpr std::int64_t grain = 64;

GRAPHLODE_CLONES std::int64_t count_marked(const std::uint8_t* marks, const std::int32_t* row, std::int64_t size) {
  std::int64_t found = 0;
  for (std::int64_t i = 0; i < size; ++i) found += marks[row[i]];
  return found;
}

GRAPHLODE_CLONES std::int64_t count_marked(const std::uint8_t* marks, const std::int64_t* row, std::int64_t size) {
  std::int64_t found = 0;
  for (std::int64_t i = 0; i < size; ++i) found += marks[row[i]];
  return found;
}

GRAPHLODE_CLONES std::int64_t count_common_bits(const std::uint64_t* a, const std::uint64_t* b, std::int64_t size) {
  std::int64_t found = 0;
  for (std::int64_t i = 0; i < size; ++i) found += __builtin_popcountll(a[i] & b[i]);
  return found;
}

template <class Vertex>
std::int64_t count_total(const csr_view<Vertex>& graph, std::int64_t u, const hub_rows<Vertex>& hubs,
                         std::uint8_t* marks, std::uint64_t* hub_bits) {
  const auto row = graph.row(u);
  if (row.size() < 2) return 0;
  const auto first_hub = std::lower_bound(row.begin(), row.end(), static_cast<Vertex>(hubs.first()));
  std::int64_t found = 0;
  if (first_hub != row.begin()) {
    for (const auto v : row) marks[v] = 1;
    for (auto v = row.begin(); v != first_hub; ++v)
      found += count_marked(marks, graph.neighbors + graph.offsets[*v], graph.degree(*v));
    for (const auto v : row) marks[v] = 0;
  }
  if (row.end() - first_hub >= 2) {
    for (auto v = first_hub; v != row.end(); ++v) hubs.set(hub_bits, *v - hubs.first());
    for (auto v = first_hub; v + 1 != row.end(); ++v) {
      const auto word = hubs.first_word(*v);
      found += count_common_bits(hub_bits + word, hubs.row(*v), hubs.num_words() - word);
    }
    for (auto v = first_hub; v != row.end(); ++v) hub_bits[hubs.first_word(*v)] = 0;
  }
  return found;
}

// As above, with the place of each mark in the row of u instead of a flag, and tallies per place: what is known about
// u's own entries is added once per entry, not once per triangle. Only the entry (v, w) is met from several u.
template <class Vertex>
std::int64_t count_places(const csr_view<Vertex>& graph, std::int64_t u, triangle_counts what, Vertex* places,
                          std::int64_t* tallies, std::int64_t* counts) {
  const auto row = graph.row(u);
  const auto size = static_cast<std::int64_t>(row.size());
  if (size < 2) return 0;
  for (std::int64_t i = 0; i < size; ++i) {
    places[row[i]] = static_cast<Vertex>(i + 1);
    tallies[i] = 0;
  }
  std::int64_t total = 0;
  for (std::int64_t i = 0; i < size; ++i) {
    const auto v = row[i];
    std::int64_t found = 0;
    for (auto e = graph.offsets[v]; e < graph.offsets[v + 1]; ++e) {
      const auto place = places[graph.neighbors[e]];
      if (!place) continue;
      ++found;
      ++tallies[place - 1];
      if (what == triangle_counts::by_edge) std::atomic_ref(counts[e]).fetch_add(1, std::memory_order_relaxed);
    }
    tallies[i] += found;
    total += found;
  }
  for (std::int64_t i = 0; i < size; ++i) {
    places[row[i]] = 0;
    const auto target = what == triangle_counts::by_edge ? graph.offsets[u] + i : std::int64_t{row[i]};
    if (tallies[i]) std::atomic_ref(counts[target]).fetch_add(tallies[i], std::memory_order_relaxed);
  }
  if (what == triangle_counts::by_vertex && total)
    std::atomic_ref(counts[u]).fetch_add(total, std::memory_order_relaxed);
  return total;
}

std::int64_t longest_row(const auto& graph, std::int64_t begin, std::int64_t end) {
  std::int64_t longest = 0;
  for (auto u = begin; u < end; ++u) longest = std::max(longest, graph.degree(u));
  return longest;
}

}  // namespace

template <class Vertex>
std::int64_t count_triangles(const csr_view<Vertex>& oriented, std::int64_t begin, std::int64_t end,
                             triangle_counts what, std::int64_t* counts, int threads, const control& ctl) {
  std::atomic<std::int64_t> total{0}, next{begin};
  const auto longest = what == triangle_counts::total ? 0 : longest_row(oriented, begin, end);
  std::optional<hub_rows<Vertex>> hubs;
  if (what == triangle_counts::total) hubs.emplace(oriented);
  on_threads(threads, [&](int) {
    buffer<std::uint8_t> marks;
    buffer<std::uint64_t> hub_bits;
    buffer<Vertex> places;
    buffer<std::int64_t> tallies;
    if (what == triangle_counts::total) {
      marks = buffer<std::uint8_t>(oriented.num_vertices);
      marks.zero();
      hub_bits = buffer<std::uint64_t>(hubs->num_words());
      hub_bits.zero();
    } else {
      places = buffer<Vertex>(oriented.num_vertices);
      places.zero();
      tallies = buffer<std::int64_t>(longest);
    }
    std::int64_t mine = 0;
    for (auto from = next.fetch_add(grain); from < end; from = next.fetch_add(grain)) {
      const auto to = std::min(end, from + grain);
      for (auto u = from; u < to; ++u) {
        ctl.check();  // per row: one row of a dense graph may take a tenth of a second
        mine += what == triangle_counts::total ? count_total(oriented, u, *hubs, marks.data(), hub_bits.data())
                                               : count_places(oriented, u, what, places.data(), tallies.data(), counts);
      }
      ctl.advance(to - from);
    }
    total += mine;
  });
  return total;
}

template std::int64_t count_triangles(const csr_view<std::int32_t>&, std::int64_t, std::int64_t, triangle_counts,
                                      std::int64_t*, int, const control&);
template std::int64_t count_triangles(const csr_view<std::int64_t>&, std::int64_t, std::int64_t, triangle_counts,
                                      std::int64_t*, int, const control&);

}  // namespace graphlode::analytics
