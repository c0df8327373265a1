// cores.cpp - level-synchronous peeling.
//
// Within a level k, the edges of a frontier lower the degrees of its neighbors; a vertex whose degree falls to k joins
// the next frontier. To find the first frontier of a level without reading all vertices, the remaining vertices are
// kept in two lists: near (degree within the next few levels) and far. A level filters only the near list. The far list
// is filtered once per window of levels. A far vertex whose degree falls into the window is added to the near list at
// that moment.
//
// A few threads process a large frontier, each owning a range of vertices. All of them read the frontier's rows, which
// are sorted, but each lowers only the degrees of its own vertices, so nothing is atomic. (Sharing the frontier with
// atomic subtraction was no faster with 2 threads than with one.) One thread processes small frontiers; long chains
// have many of them. The result does not depend on any of this, because the members of a round are determined by the
// rounds before it.
#include "graphlode/analytics/cores.hpp"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "graphlode/parallel.hpp"

namespace graphlode::analytics {
namespace {

constexpr std::int64_t parallel_from_edges = 1 << 20;  // below this, waking the threads costs more than it saves
constexpr int most_threads = 4;                        // each of them reads all rows of the frontier
constexpr std::int64_t rows_per_check = 512;
constexpr std::int64_t rows_ahead = 4;
constexpr int window_levels = 8;

// `Degree` is 16 bits wide if the largest degree allows it: then the degrees of more vertices fit the second-level
// cache.
template <class Vertex, class Degree>
class peeler {
 public:
  peeler(const csr_view<Vertex>& graph, int threads, const control& ctl)
      : graph_(graph),
        ctl_(ctl),
        degrees_(graph.num_vertices),
        far_(graph.num_vertices),
        frontier_(graph.num_vertices + 1),  // start_level() writes one entry ahead
        next_(graph.num_vertices + 1),
        num_far_(graph.num_vertices) {
    result_.core = buffer<std::int32_t>(graph.num_vertices);
    result_.round = buffer<std::int32_t>(graph.num_vertices);
    for (std::int64_t v = 0; v < graph.num_vertices; ++v) {
      degrees_[v] = static_cast<Degree>(graph.degree(v));
      far_[v] = static_cast<Vertex>(v);
    }
    const int owners = std::min({threads, most_threads, worthwhile_threads(graph.num_entries(), threads)});
    Vertex first = 0;
    for (int i = 1; i <= owners; ++i) {
      const auto* end =
          std::lower_bound(graph.offsets, graph.offsets + graph.num_vertices, graph.num_entries() * i / owners);
      const auto last =
          i == owners ? static_cast<Vertex>(graph.num_vertices) : static_cast<Vertex>(end - graph.offsets);
      owners_.push_back({first, last, {}, {}});
      first = last;
    }
  }

  peeling run() {
    while (open_window())
      while (start_level())
        while (num_frontier_ > 0) {
          ctl_.check();
          remove_frontier();
          ctl_.advance(num_frontier_);
          std::swap(frontier_, next_);
          num_frontier_ = num_next_;
          ++result_.num_rounds;
        }
    // A round belongs to one level, so core numbers can be written at the end.
    for (std::int64_t v = 0; v < graph_.num_vertices; ++v) result_.core[v] = levels_[result_.round[v]];
    return std::move(result_);
  }

 private:
  // A range of vertices, and its members that join the next frontier and the near list.
  struct owner {
    Vertex first, last;
    std::vector<Vertex> next, near;
  };

  // Moves the far vertices of lowest degree to the near list. Returns false if no vertex is left.
  bool open_window() {
    Vertex least = 0;
    num_far_ = keep(far_.data(), num_far_, window_end_, least);
    near_.clear();
    if (num_far_ == 0) return false;
    level_ = least - 1;
    window_end_ = least + window_levels;
    std::int64_t still_far = 0;
    for (std::int64_t i = 0; i < num_far_; ++i) {
      const Vertex v = far_[i];
      if (degrees_[v] < window_end_)
        near_.push_back(v);
      else
        far_[still_far++] = v;
    }
    num_far_ = still_far;
    return true;
  }

  // Sets the level to the smallest degree in the window and collects the vertices of this degree. Returns false if the
  // window is finished. The next level is nearly always one higher, so its vertices are collected in the same pass,
  // without branches, which would be unpredictable.
  bool start_level() {
    const Vertex wanted = level_ + 1;
    Vertex least = std::numeric_limits<Vertex>::max();
    std::size_t kept = 0;
    num_frontier_ = 0;
    for (std::size_t i = 0; i < near_.size(); ++i) {
      const Vertex v = near_[i], degree = degrees_[v];
      near_[kept] = v;
      frontier_[num_frontier_] = v;
      kept += degree >= wanted;
      num_frontier_ += degree == wanted;
      least = std::min(least, degree >= wanted ? degree : least);
    }
    near_.resize(kept);
    if (kept == 0) return false;
    level_ = least;
    if (least != wanted)
      for (const Vertex v : near_)
        if (degrees_[v] == least) frontier_[num_frontier_++] = v;
    return true;
  }

  // Keeps the vertices of at least this degree, in order; the others have been removed. Sets `least` to their smallest
  // degree.
  std::int64_t keep(Vertex* list, std::int64_t size, Vertex lowest, Vertex& least) const {
    std::int64_t kept = 0;
    least = std::numeric_limits<Vertex>::max();
    for (std::int64_t i = 0; i < size; ++i) {
      const Vertex v = list[i], degree = degrees_[v];
      const bool stays = degree >= lowest;
      list[kept] = v;
      kept += stays;
      least = std::min(least, stays ? degree : least);
    }
    return kept;
  }

  void remove_frontier() {
    levels_.push_back(static_cast<std::int32_t>(level_));
    num_next_ = 0;
    if (owners_.size() == 1 || !frontier_is_large()) {
      lower(
          0, static_cast<Vertex>(graph_.num_vertices), [&](Vertex u) { next_[num_next_++] = u; },
          [&](Vertex u) { near_.push_back(u); });
      return;
    }
    on_threads(static_cast<int>(owners_.size()), [&](int thread) {
      auto& mine = owners_[thread];
      lower(
          mine.first, mine.last, [&](Vertex u) { mine.next.push_back(u); }, [&](Vertex u) { mine.near.push_back(u); });
    });
    for (auto& part : owners_) {
      std::copy(part.next.begin(), part.next.end(), next_.begin() + num_next_);
      num_next_ += static_cast<std::int64_t>(part.next.size());
      near_.insert(near_.end(), part.near.begin(), part.near.end());
      part.next.clear();
      part.near.clear();
    }
  }

  bool frontier_is_large() const {
    std::int64_t edges = 0;
    for (std::int64_t i = 0; i < num_frontier_ && edges < parallel_from_edges; ++i)
      edges += graph_.degree(frontier_[i]);
    return edges >= parallel_from_edges;
  }

  // Lowers the degrees of the frontier's neighbors in first .. last. Each edge is seen from both ends, in unpredictable
  // order, so there is no branch on that. Members are copied to locals, because the compiler must assume that the
  // stores below change them.
  template <class Join, class Approach>
  void lower(Vertex first, Vertex last, Join&& join, Approach&& approach) {
    const csr_view<Vertex> graph = graph_;
    Degree* const degrees = degrees_.data();
    const Vertex* const frontier = frontier_.data();
    std::int32_t* const rounds = result_.round.data();
    const auto size = num_frontier_;
    const auto round = result_.num_rounds;
    const auto level = level_, window_end = window_end_;
    const bool from_begin = first == 0, to_end = last == graph.num_vertices;
    for (std::int64_t i = 0; i < size; ++i) {
      if (i % rows_per_check == 0) ctl_.check();
      if (i + 2 * rows_ahead < size) graph.prefetch_offset(frontier[i + 2 * rows_ahead]);
      if (i + rows_ahead < size) graph.prefetch_row(frontier[i + rows_ahead]);
      const auto row = graph.row(frontier[i]);
      if (from_begin) rounds[frontier[i]] = round;
      const Vertex* u = from_begin ? row.data() : std::lower_bound(row.data(), row.data() + row.size(), first);
      for (const Vertex* const end = row.data() + row.size(); u != end && (to_end || *u < last); ++u) {
        const Vertex degree = degrees[*u];
        degrees[*u] = static_cast<Degree>(degree - (degree > level));
        if (degree == level + 1)
          join(*u);
        else if (degree == window_end)
          approach(*u);
      }
    }
  }

  const csr_view<Vertex>& graph_;
  const control& ctl_;
  buffer<Degree> degrees_;  // of remaining vertices; for a removed one, at most its level
  buffer<Vertex> far_;
  std::vector<Vertex> near_;
  buffer<Vertex> frontier_, next_;
  std::int64_t num_far_ = 0, num_frontier_ = 0, num_next_ = 0;
  Vertex level_ = -1, window_end_ = 0;
  std::vector<std::int32_t> levels_;  // level of each round
  std::vector<owner> owners_;
  peeling result_;
};

}  // namespace

template <class Vertex>
peeling peel(const csr_view<Vertex>& symmetric, int threads, const control& ctl) {
  std::int64_t largest = 0;
  for (std::int64_t v = 0; v < symmetric.num_vertices; ++v) largest = std::max(largest, symmetric.degree(v));
  if (largest <= std::numeric_limits<std::uint16_t>::max())
    return peeler<Vertex, std::uint16_t>(symmetric, threads, ctl).run();
  return peeler<Vertex, Vertex>(symmetric, threads, ctl).run();
}

template peeling peel(const csr_view<std::int32_t>&, int, const control&);
template peeling peel(const csr_view<std::int64_t>&, int, const control&);

}  // namespace graphlode::analytics
