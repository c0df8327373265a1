// cliques/sample.cpp - tries both methods below some rows to find the faster one.
#include <chrono>

#include "cliques/build.hpp"
#include "cliques/probe.hpp"
#include "cliques/search.hpp"
#include "graphlode/clones.hpp"
#include "graphlode/mining/cliques.hpp"

namespace graphlode::mining {

GRAPHLODE_CLONES int count_common(const word* a, const word* b, int words) {
  int size = 0;
  for (int w = 0; w < words; ++w) size += count_bits(a[w] & b[w]);
  return size;
}

namespace {

constexpr int least_descents = 1, most_descents = 16;
constexpr double seconds_for_descents = 2e-4;  // per row and method
constexpr double decided = 4;                  // factor over pivoting that no sampling error can explain

template <class Vertex>
class sampler {
 public:
  sampler(const csr_view<Vertex>& graph, std::int64_t longest, int k, std::int64_t work_limit, const control& ctl)
      : graph_(graph),
        k_(k),
        work_limit_(work_limit),
        thread_({k, true}, pool_, ctl, longest, k, {}),
        builder_(graph),
        candidates_(static_cast<std::size_t>(width_for(static_cast<int>(longest), false).words)) {}

  double seconds(std::int64_t u, clique_method method) {
    const int size = static_cast<int>(graph_.degree(u));
    const auto width = width_for(size, false);
    const bool pivot = method == clique_method::pivot;
    const auto direction = pivot ? row_direction::both : row_direction::upwards;
    const auto rows = thread_.slots.fresh(width.width_class);
    // Build once without timing: a search of all rows finds most of them in the cache, a sample does not.
    if (pivot) builder_.build(u, direction, width, false, *rows);
    const auto started = clock::now();
    builder_.build(u, direction, width, false, *rows);
    fill_set(candidates_.data(), size, width.words);
    const auto built = clock::now();
    const search_start start{rows, width.width_class, {1, 0, -1}, candidates_.data(), false};
    const double whole = search_within(work_limit_, start, pivot);
    if (whole >= 0) return since(started);
    const double per_word = since(built) / static_cast<double>(thread_.work_done);
    const auto search_whole = [&](const word* set, int left, node_state node) {
      const auto narrow_width = width_for(left, false);
      auto& narrow = thread_.slots.fresh(narrow_width.width_class);
      narrow->resize(left, narrow_width.words, false);
      narrow_rows(*rows, set, *narrow, false);
      fill_set(candidates_.data(), left, narrow_width.words);
      return search_within(search_thread::stretch, {narrow, narrow_width.width_class, node, candidates_.data(), false},
                           pivot);
    };
    tree_probe probe(*rows, k_, static_cast<std::uint64_t>(u), search_whole);
    const auto begun = clock::now();
    double work = 0;
    int descents = 0;
    for (; descents < least_descents || (descents < most_descents && since(begun) < seconds_for_descents); ++descents)
      work += pivot ? probe.by_pivot() : probe.by_enumeration();
    return per_word * std::max(work / descents, static_cast<double>(work_limit_));
  }

 private:
  // The work of a search, or -1 if it exceeds `limit`.
  double search_within(std::int64_t limit, const search_start& start, bool pivot) {
    thread_.allowance = search_thread::stretch;
    thread_.work_done = 0;
    thread_.work_limit = limit;
    try {
      pivot ? search_by_pivot(thread_, start) : search_by_enumeration(thread_, start);
    } catch (const over_limit&) {
      return -1;
    }
    return static_cast<double>(thread_.work_done + search_thread::stretch - thread_.allowance);
  }

  using clock = std::chrono::steady_clock;
  static double since(clock::time_point start) { return std::chrono::duration<double>(clock::now() - start).count(); }

  csr_view<Vertex> graph_;
  int k_;
  std::int64_t work_limit_;
  branch_pool pool_;
  search_thread thread_;
  row_builder<Vertex> builder_;
  buffer<word> candidates_;
};

}  // namespace

template <class Vertex>
clique_sample sample_cliques(const csr_view<Vertex>& graph, const Vertex* rows, const double* weights,
                             std::int64_t num_rows, int k, std::int64_t work_limit, const control& ctl) {
  std::int64_t longest = 0;
  for (std::int64_t i = 0; i < num_rows; ++i) longest = std::max(longest, graph.degree(rows[i]));
  sampler<Vertex> sample(graph, longest, k, work_limit, ctl);
  clique_sample found;
  for (std::int64_t i = 0; i < num_rows; ++i) {
    ctl.check();
    found.pivot += weights[i] * sample.seconds(rows[i], clique_method::pivot);
  }
  for (std::int64_t i = 0; i < num_rows && !found.given_up; ++i) {
    ctl.check();
    found.enumerate += weights[i] * sample.seconds(rows[i], clique_method::enumerate);
    found.given_up = i + 1 < num_rows && found.enumerate > decided * found.pivot;
  }
  return found;
}

template clique_sample sample_cliques(const csr_view<std::int32_t>&, const std::int32_t*, const double*, std::int64_t,
                                      int, std::int64_t, const control&);
template clique_sample sample_cliques(const csr_view<std::int64_t>&, const std::int64_t*, const double*, std::int64_t,
                                      int, std::int64_t, const control&);

}  // namespace graphlode::mining
