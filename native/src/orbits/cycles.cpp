// orbits/cycles.cpp - 5-cycles and 4-cycles at each edge, from the walks i-x-j below i.
//
// As in the cycle pass of motifs, every 5-cycle i-x-j-k-y is found at its highest vertex i, from an edge jk and the
// numbers of walks w(j), w(k) to its ends. The product gives the count at jk; summed over k it gives the counts at the
// edges ix and xj. The cases x = k and y = j are subtracted at once. Walks with x = y are triangles xjk with a higher
// neighbor i. Two corrections remove them: a number for each triangle, subtracted from its three edges; and the
// triangles at x below i, subtracted twice from ix.
#include <utility>
#include <vector>

#include "graphlode/parallel.hpp"
#include "motifs/queue.hpp"
#include "orbits/passes.hpp"

namespace graphlode::mining::motifs {
namespace {

using number = std::uint64_t;

class cycle_thread {
 public:
  // `counts` has one number per edge.
  cycle_thread(const motif_graph& graph, number* counts)
      : graph_(graph),
        counts_(counts),
        ways_(static_cast<std::size_t>(graph.num_vertices), 0),
        beyond_(static_cast<std::size_t>(graph.num_vertices)),
        touched_(static_cast<std::size_t>(graph.num_vertices) + 1) {}

  void add_five_cycles(const row_part& part, const control& ctl) {
    const auto i = part.row;
    walk(i);
    for (std::int64_t s = 0; s < graph_.lower[i]; ++s) ways_[at(i, s)] |= neighbor_bit;
    const auto first = num_touched_ * part.part / part.parts, last = num_touched_ * (part.part + 1) / part.parts;
    for (std::int64_t t = 0; t < num_touched_; ++t) {
      if ((t & 1023) == 0) ctl.check();
      add_edges_of(i, touched_[t], t >= first && t < last);
    }
    const std::int64_t begin = std::int64_t{graph_.lower[i]} * part.part / part.parts;
    const std::int64_t end = std::int64_t{graph_.lower[i]} * (part.part + 1) / part.parts;
    for (auto s = begin; s < end; ++s) add_walks(i, s);
    for (std::int64_t s = 0; s < graph_.lower[i]; ++s) ways_[at(i, s)] &= ~neighbor_bit;
    for (std::int64_t t = 0; t < num_touched_; ++t) ways_[touched_[t]] = 0;
  }

  // A walk i-x-j is in one 4-cycle for each other walk to j.
  void add_squares(const row_part& part) {
    const auto i = part.row;
    walk(i);
    const std::int64_t begin = std::int64_t{graph_.lower[i]} * part.part / part.parts;
    const std::int64_t end = std::int64_t{graph_.lower[i]} * (part.part + 1) / part.parts;
    for (auto s = begin; s < end; ++s) {
      const auto x = at(i, s);
      number all = 0;
      for (std::int64_t j = 0; j < graph_.places(i)[s]; ++j) {
        const number others = ways_[at(x, j)] - 1;
        all += others;
        counts_[graph_.edges[graph_.offsets[x] + j]] += others;
      }
      counts_[graph_.edges[graph_.offsets[i] + s]] += all;
    }
    for (std::int64_t t = 0; t < num_touched_; ++t) ways_[touched_[t]] = 0;
  }

 private:
  static constexpr std::uint32_t neighbor_bit = std::uint32_t{1}
                                                << 31;  // j is a neighbor of i; w(j) fits the lower bits

  rank at(std::int64_t u, std::int64_t place) const { return graph_.neighbors[graph_.offsets[u] + place]; }
  number ways(rank j) const { return ways_[j] & ~neighbor_bit; }
  number is_neighbor(rank j) const { return ways_[j] >> 31; }

  void walk(std::int64_t i) {
    num_touched_ = 0;
    for (std::int64_t s = 0; s < graph_.lower[i]; ++s) {
      const auto* const row = graph_.neighbors + graph_.offsets[at(i, s)];
      for (std::int64_t j = 0; j < graph_.places(i)[s]; ++j) {
        touched_[num_touched_] = row[j];
        num_touched_ += ways_[row[j]] == 0;
        ++ways_[row[j]];
      }
    }
  }

  // Computes the walks to j from all its neighbors k, for later; and, if this part counts them, the cycles at jk for
  // all upper k.
  void add_edges_of(std::int64_t i, rank j, bool count) {
    const auto mine = ways(j), joined = is_neighbor(j);
    number beyond = 0;
    for (auto e = graph_.offsets[j]; e < graph_.offsets[j + 1] && graph_.neighbors[e] < i; ++e) {
      const auto k = graph_.neighbors[e];
      const auto others = ways(k) - joined;
      beyond += others;
      if (count && k > j) counts_[graph_.edges[e]] += (mine - is_neighbor(k)) * others;
    }
    beyond_[j] = beyond;
  }

  void add_walks(std::int64_t i, std::int64_t s) {
    const auto x = at(i, s);
    number all = 0;
    for (std::int64_t j = 0; j < graph_.places(i)[s]; ++j) {
      const auto end = at(x, j);
      const auto cycles = beyond_[end] - (ways(x) - is_neighbor(end));
      all += cycles;
      counts_[graph_.edges[graph_.offsets[x] + j]] += cycles;
    }
    counts_[graph_.edges[graph_.offsets[i] + s]] += all;
  }

  const motif_graph& graph_;
  number* const counts_;
  buffer<std::uint32_t> ways_;
  buffer<number> beyond_;
  buffer<rank> touched_;
  std::int64_t num_touched_ = 0;
};

std::int64_t walks_below(const motif_graph& graph, std::int64_t i) {
  std::int64_t steps = 1;
  for (std::int64_t s = 0; s < graph.lower[i]; ++s) steps += graph.places(i)[s];
  return steps;
}

}  // namespace

template <class Search>
void cycle_counts::count(const motif_graph& graph, row_range rows, std::int64_t work_per_walk, int threads,
                         const control& ctl, const Search& search) {
  threads = worthwhile_threads(graph.offsets[rows.end] - graph.offsets[rows.begin], threads);
  row_queue queue(rows, threads, ctl, [&](std::int64_t i) { return work_per_walk * walks_below(graph, i); });
  if (of_threads_.size() < static_cast<std::size_t>(threads)) of_threads_.resize(static_cast<std::size_t>(threads));
  with_helpers(threads, [&](int thread) {
    auto& mine = of_threads_[static_cast<std::size_t>(thread)];
    if (mine.size() == 0) mine = buffer<number>(static_cast<std::size_t>(graph.num_edges()), 0);
    cycle_thread state(graph, mine.data());
    while (queue.take(ctl, [&](const row_part& part) { search(state, part); })) {
    }
  });
}

void cycle_counts::add_five_cycles(const motif_graph& graph, row_range rows, int threads, const control& ctl) {
  count(graph, rows, 16, threads, ctl,
        [&](cycle_thread& state, const row_part& part) { state.add_five_cycles(part, ctl); });
}

void cycle_counts::add_squares(const motif_graph& graph, row_range rows, int threads, const control& ctl) {
  count(graph, rows, 3, threads, ctl, [](cycle_thread& state, const row_part& part) { state.add_squares(part); });
}

buffer<number>& cycle_counts::sum(const motif_graph& graph) {
  if (of_threads_.empty()) of_threads_.emplace_back(static_cast<std::size_t>(graph.num_edges()), 0);
  auto& total = of_threads_.front();
  for (std::size_t thread = 1; thread < of_threads_.size(); ++thread)
    for (std::size_t e = 0; e < of_threads_[thread].size(); ++e) total[e] += of_threads_[thread][e];
  of_threads_.resize(1);
  return total;
}

// Walks with x = y belong to the row of their triangle's highest vertex for its edges, and to the row of x for ix.
void subtract_triangles(const motif_graph& graph, const buffer<std::uint8_t>& is_done, number* counts,
                        const control& ctl) {
  const auto n = graph.num_vertices;
  buffer<std::int32_t> marks(static_cast<std::size_t>(n), 0);
  // For each entry c in row x: the triangles of x in which c is highest. `below` has those in which x is highest.
  buffer<number> ending(static_cast<std::size_t>(graph.num_entries()), 0);
  buffer<number> below(static_cast<std::size_t>(n), 0);
  for (std::int64_t c = 0; c < n; ++c) {
    if ((c & 15) == 0) ctl.check();
    visit_triangles(graph, c, graph.lower[c], marks.data(), [&](std::int64_t i, rank b, const auto& each) {
      const auto bc = graph.offsets[c] + i;
      const auto above = [&](rank a, std::int64_t entry) {  // of the entry a in row c
        return static_cast<number>(graph.degree(a) - graph.place_at(entry) - 1);
      };
      each([&](rank a, std::int64_t ac, std::int64_t ab) {
        if (a > b) return;
        const auto all = static_cast<number>(graph.degree(c) - graph.lower[c]) + above(b, bc) + above(a, ac);
        for (const auto entry : {ab, ac, bc}) counts[graph.edges[entry]] -= is_done[c] ? all : 0;
        ++ending[graph.offsets[a] + graph.place_at(ac)];
        ++ending[graph.offsets[b] + graph.place_at(bc)];
        ++below[c];
      });
    });
  }
  for (std::int64_t x = 0; x < n; ++x) {
    auto triangles = below[x];
    for (auto e = graph.offsets[x] + graph.lower[x]; e < graph.offsets[x + 1]; ++e) {
      counts[graph.edges[e]] -= is_done[x] ? 2 * triangles : 0;
      triangles += ending[e];
    }
  }
}

}  // namespace graphlode::mining::motifs
