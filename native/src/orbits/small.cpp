// orbits/small.cpp - sums along rows: first of degrees and triangles, then of the first sums.
#include "orbits/small.hpp"

#include <algorithm>
#include <atomic>
#include <iomanip>
#include <sstream>
#include <vector>

#include "graphlode/errors.hpp"
#include "graphlode/parallel.hpp"

namespace graphlode::mining::motifs {
namespace {

constexpr std::int64_t rows_at_a_time = 256;

std::int64_t pairs_of(std::int64_t x) { return x * (x - 1) / 2; }

// Calls work(v) for all rows.
template <class Work>
void on_rows(const supported_view& graph, int threads, const control& ctl, const Work& work) {
  parallel_chunks(0, graph.num_vertices, rows_at_a_time, worthwhile_threads(graph.num_entries(), threads), ctl,
                  [&](int, std::int64_t begin, std::int64_t end) {
                    for (auto v = begin; v < end; ++v) work(v);
                  });
}

// The orbits that follow from the row itself.
small_orbits look_at_row(const supported_view& graph, const raw_pointers& raw, std::int64_t v) {
  small_orbits o{};
  std::int64_t twice_triangles = 0, twice_squares = 0, thrice_cliques = 0;
  for (auto entry = graph.offsets[v]; entry < graph.offsets[v + 1]; ++entry) {
    const auto d = graph.degree(graph.neighbors[entry]);
    const auto edge = graph.edges[entry];
    const std::int64_t t = graph.triangles[edge];
    o.o1 += d - 1;
    o.o6 += pairs_of(d - 1);
    o.o10 += t * (d - 2);
    o.o13 += pairs_of(t);
    twice_triangles += t;
    twice_squares += raw_value(raw, raw::e5, edge);
    thrice_cliques += raw_value(raw, raw::e11, edge);
  }
  o.o3 = twice_triangles / 2;
  o.o8 = twice_squares / 2;
  o.o14 = thrice_cliques / 3;
  return o;
}

}  // namespace

buffer<small_orbits> count_small_orbits(const supported_view& graph, const raw_pointers& raw, bool of_edges,
                                        int threads, const control& ctl) {
  buffer<small_orbits> small(static_cast<std::size_t>(graph.num_vertices));
  on_rows(graph, threads, ctl, [&](std::int64_t v) {
    small[v] = look_at_row(graph, raw, v);
    if (!of_edges) small[v].o12 = raw_value(raw, raw::o12, v);
  });
  on_rows(graph, threads, ctl, [&](std::int64_t u) {
    auto& own = small[u];
    std::int64_t paths = 0, around = 0;
    for (auto entry = graph.offsets[u]; entry < graph.offsets[u + 1]; ++entry) {
      auto& other = small[graph.neighbors[entry]];
      paths += other.o1;
      around += other.o3;
      // A diamond ends at v if the entry of v in another row has a fan. Each is found from two rows.
      if (of_edges) std::atomic_ref(other.o12).fetch_add(raw_value(raw, raw::fans, entry), std::memory_order_relaxed);
    }
    own.o4 = paths - 2 * pairs_of(graph.degree(u)) - 2 * own.o3;
    own.o9 = around - 2 * own.o3;
  });
  if (of_edges)
    for (auto& own : small) own.o12 /= 2;
  return small;
}

double most_copies(const supported_view& graph, const buffer<small_orbits>& small, int threads, const control& ctl) {
  threads = worthwhile_threads(graph.num_entries(), threads);
  std::vector<double> most(static_cast<std::size_t>(threads), 0);
  parallel_chunks(0, graph.num_vertices, rows_at_a_time, threads, ctl,
                  [&](int thread, std::int64_t begin, std::int64_t end) {
                    for (auto v = begin; v < end; ++v) {
                      double paths = 0;
                      for (const auto w : graph.row(v)) paths += static_cast<double>(small[w].o4);
                      const auto paths2 = static_cast<double>(small[v].o1), paths3 = static_cast<double>(small[v].o4);
                      paths += static_cast<double>(graph.degree(v) - 1) * paths3 + paths2 * paths2 / 2;
                      auto& own = most[static_cast<std::size_t>(thread)];
                      own = std::max(own, 2 * paths);
                    }
                  });
  return *std::max_element(most.begin(), most.end());
}

void require_raw_fits(double most, double limit) {
  if (most < limit) return;
  std::ostringstream message;
  message << std::setprecision(3) << "a vertex has up to " << most
          << " copies of a pattern, and raw orbits hold 61 bits; count_motifs has no limit";
  throw count_overflow(message.str());
}

}  // namespace graphlode::mining::motifs
