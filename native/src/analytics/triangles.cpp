// triangles.cpp - marks the row of u, then looks up the rows of its neighbors.
//
// For each u, the ranks in its row are marked in a table of the thread. For each v in the row, every w in the row of v
// is one load and one test. With edges directed from low to high degree no row is longer than sqrt(2 m). Ranks ascend
// with degree, so the marks that are read lie close together at the end of the table. Cost: the sum of the lengths of
// the rows of all heads of edges. For the total, heads among the highest ranks are intersected as bit rows instead
// (hub_rows.hpp); on skewed graphs they are nine tenths of the work.
#include "graphlode/analytics/triangles.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <span>

#include "graphlode/clones.hpp"
#include "graphlode/parallel.hpp"
#include "hub_rows.hpp"

namespace graphlode::analytics {
namespace {

constexpr std::int64_t grain = 64;
constexpr std::int64_t rows_ahead = 4;

// Not cloned: most rows are short, and on them the compiler's gathers are slower than plain loads.
template <class Vertex>
std::int64_t count_marked(const std::uint8_t* marks, std::span<const Vertex> row) {
  std::int64_t found = 0;
  for (const auto w : row) found += marks[w];
  return found;
}

GRAPHLODE_CLONES std::int64_t count_common_bits(const std::uint64_t* a, const std::uint64_t* b, std::int64_t size) {
  std::int64_t found = 0;
  for (std::int64_t i = 0; i < size; ++i) found += __builtin_popcountll(a[i] & b[i]);
  return found;
}

// The state of one thread that searches from one u after another. Everything is zero again after each u.
template <class Vertex>
struct total_search {
  const csr_view<Vertex>& graph;
  const hub_rows<Vertex>& hubs;
  buffer<std::uint8_t> marks;
  buffer<std::uint64_t> hub_bits;

  total_search(const csr_view<Vertex>& oriented, const hub_rows<Vertex>& hub_rows)
      : graph(oriented), hubs(hub_rows), marks(oriented.num_vertices), hub_bits(hub_rows.num_words()) {
    marks.zero();
    hub_bits.zero();
  }

  std::int64_t from(std::int64_t u) {
    const auto row = graph.row(u);
    if (row.size() < 2) return 0;
    const auto first_hub = std::lower_bound(row.begin(), row.end(), static_cast<Vertex>(hubs.first()));
    std::int64_t found = 0;
    if (first_hub != row.begin()) {
      for (const auto v : row) {
        marks[v] = 1;
        graph.prefetch_offset(v);
      }
      for (auto v = row.begin(); v != first_hub; ++v) {
        if (first_hub - v > rows_ahead) graph.prefetch_row(v[rows_ahead]);
        found += count_marked(marks.data(), graph.row(*v));
      }
      for (const auto v : row) marks[v] = 0;
    }
    if (row.end() - first_hub >= 2) {
      for (auto v = first_hub; v != row.end(); ++v) hubs.set(hub_bits.data(), *v - hubs.first());
      for (auto v = first_hub; v + 1 != row.end(); ++v) {
        const auto word = hubs.first_word(*v);
        found += count_common_bits(hub_bits.data() + word, hubs.row(*v), hubs.num_words() - word);
      }
      for (auto v = first_hub; v != row.end(); ++v) hub_bits[hubs.first_word(*v)] = 0;
    }
    return found;
  }
};

// Like total_search, but stores the place of each mark in the row of u instead of a flag, and tallies per place. So
// counts of u's own entries are added once per entry, not once per triangle. Only the entry (v, w) is found from
// several u.
template <class Vertex>
struct local_search {
  const csr_view<Vertex>& graph;
  const hub_rows<Vertex>& hubs;
  const bool by_edge;
  std::int64_t* const counts;
  buffer<Vertex> places;  // 1 + place in the row of u; 0: not in the row
  buffer<std::int64_t> tallies;
  buffer<std::uint64_t> hub_bits;
  buffer<std::int64_t> hub_tallies;

  local_search(const csr_view<Vertex>& oriented, const hub_rows<Vertex>& hub_rows, bool edges, std::int64_t* into,
               std::int64_t longest_row)
      : graph(oriented),
        hubs(hub_rows),
        by_edge(edges),
        counts(into),
        places(oriented.num_vertices),
        tallies(longest_row),
        hub_bits(hub_rows.num_words()),
        hub_tallies(hub_rows.num_words() * hub_rows.word_bits) {
    places.zero();
    hub_bits.zero();
    hub_tallies.zero();
  }

  static void add(std::int64_t& count, std::int64_t value) {
    std::atomic_ref(count).fetch_add(value, std::memory_order_relaxed);
  }

  std::int64_t from(std::int64_t u) {
    const auto row = graph.row(u);
    const auto size = static_cast<std::int64_t>(row.size());
    if (size < 2) return 0;
    const auto first_hub = std::lower_bound(row.begin(), row.end(), static_cast<Vertex>(hubs.first())) - row.begin();
    std::fill_n(tallies.data(), row.size(), std::int64_t{0});
    const auto total =
        (first_hub > 0 ? from_marks(row, first_hub) : 0) + (size - first_hub > 1 ? from_hubs(row, first_hub) : 0);
    if (total == 0) return 0;
    for (std::int64_t i = 0; i < size; ++i)
      if (tallies[i]) add(counts[by_edge ? graph.offsets[u] + i : std::int64_t{row[i]}], tallies[i]);
    if (!by_edge) add(counts[u], total);
    return total;
  }

 private:
  std::int64_t from_marks(std::span<const Vertex> row, std::int64_t first_hub) {
    const auto size = static_cast<std::int64_t>(row.size());
    for (std::int64_t i = 0; i < size; ++i) {
      places[row[i]] = static_cast<Vertex>(i + 1);
      graph.prefetch_offset(row[i]);
    }
    std::int64_t total = 0;
    for (std::int64_t i = 0; i < first_hub; ++i) {
      if (i + rows_ahead < first_hub) graph.prefetch_row(row[i + rows_ahead]);
      std::int64_t found = 0;
      for (auto e = graph.offsets[row[i]]; e < graph.offsets[row[i] + 1]; ++e) {
        const auto place = places[graph.neighbors[e]];
        if (!place) continue;
        ++found;
        ++tallies[place - 1];
        if (by_edge) add(counts[e], 1);
      }
      tallies[i] += found;
      total += found;
    }
    for (const auto v : row) places[v] = 0;
    return total;
  }

  std::int64_t from_hubs(std::span<const Vertex> row, std::int64_t first_hub) {
    const auto size = static_cast<std::int64_t>(row.size());
    for (auto i = first_hub; i < size; ++i) hubs.set(hub_bits.data(), row[i] - hubs.first());
    std::int64_t total = 0;
    for (auto i = first_hub; i < size; ++i) {
      const auto v = row[i];
      const auto* bits = hubs.row(v);
      const auto first_word = hubs.first_word(v);
      std::int64_t found = 0;
      for (auto word = first_word; word < hubs.num_words(); ++word)
        for (auto common = hub_bits[word] & bits[word - first_word]; common; common &= common - 1) {
          const int bit = std::countr_zero(common);
          ++found;
          ++hub_tallies[word * hubs.word_bits + bit];
          if (by_edge) add(counts[graph.offsets[v] + hubs.place(v, word - first_word, bit)], 1);
        }
      tallies[i] += found;
      total += found;
    }
    for (auto i = first_hub; i < size; ++i) {
      auto& met = hub_tallies[row[i] - hubs.first()];
      tallies[i] += met;
      met = 0;
      hub_bits[hubs.first_word(row[i])] = 0;
    }
    return total;
  }
};

std::int64_t longest_row(const auto& graph, std::int64_t begin, std::int64_t end) {
  std::int64_t longest = 0;
  for (auto u = begin; u < end; ++u) longest = std::max(longest, graph.degree(u));
  return longest;
}

}  // namespace

template <class Vertex>
std::int64_t count_triangles(const csr_view<Vertex>& oriented, std::int64_t begin, std::int64_t end,
                             triangle_counts what, std::int64_t* counts, int threads, const control& ctl) {
  threads = worthwhile_threads(oriented.num_entries(), threads);
  hub_rows<Vertex> hubs(oriented);
  if (what == triangle_counts::by_edge) hubs.count_before();
  const auto longest = what == triangle_counts::total ? 0 : longest_row(oriented, begin, end);
  std::atomic<std::int64_t> total{0}, next{begin};
  const auto search_rows = [&](auto& search) {
    std::int64_t mine = 0;
    for (auto from = next.fetch_add(grain); from < end; from = next.fetch_add(grain)) {
      const auto to = std::min(end, from + grain);
      for (auto u = from; u < to; ++u) {
        ctl.check();  // per row: one row of a large dense graph may take a tenth of a second
        mine += search.from(u);
      }
      ctl.advance(to - from);
    }
    total += mine;
  };
  with_helpers(threads, [&](int) {
    if (what == triangle_counts::total) {
      total_search<Vertex> search(oriented, hubs);
      search_rows(search);
    } else {
      local_search<Vertex> search(oriented, hubs, what == triangle_counts::by_edge, counts, longest);
      search_rows(search);
    }
  });
  return total;
}

template std::int64_t count_triangles(const csr_view<std::int32_t>&, std::int64_t, std::int64_t, triangle_counts,
                                      std::int64_t*, int, const control&);
template std::int64_t count_triangles(const csr_view<std::int64_t>&, std::int64_t, std::int64_t, triangle_counts,
                                      std::int64_t*, int, const control&);

}  // namespace graphlode::analytics
