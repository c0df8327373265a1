// motifs/hub_sums.cpp - the part that the pair pass leaves out: pairs of classes, and the neighborhoods of hubs.
//
// A hub has tens of thousands of neighbors. A few dozen of these, the heavy members, are hubs themselves and adjacent
// to most of the others. Each heavy member has a bit row of the light ones, every member has a signature of the heavy
// ones, and each light member has a list of the other light ones. The wheels around the hub are the 4-cycles among its
// members, each counted at its highest member p: over every j < p, the pairs of members below p that are adjacent to
// both.
#include <atomic>
#include <bit>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "graphlode/bits.hpp"
#include "graphlode/parallel.hpp"
#include "motifs/binomials.hpp"
#include "motifs/bits.hpp"
#include "motifs/passes.hpp"
#include "motifs/triangle.hpp"

namespace graphlode::mining::motifs {
namespace {

// Sums over every pair of vertices, by class, what their common hubs alone would give.
motif_sums sum_classes(const hub_classes& hubs) {
  motif_sums sums;
  for (std::int64_t one = 0; one < hubs.num_classes(); ++one)
    for (std::int64_t other = 0; other <= one; ++other) {
      const auto [common, edges] = hubs.common(one)[other];
      if (common < 3) continue;
      const auto size = static_cast<std::uint64_t>(hubs.size(one));
      const auto pairs =
          one == other ? wide_choose2(size) : product(size, static_cast<std::uint64_t>(hubs.size(other)));
      sums[sum::k23] += pairs * choose3(common);
      sums[sum::wedge_diamonds] += pairs * (std::uint64_t{edges} * (common - 2));
    }
  return sums;
}

class hub_thread {
 public:
  hub_thread(const motif_graph& graph, std::int64_t first_hub)
      : graph_(graph), first_hub_(first_hub), marks_(static_cast<std::size_t>(graph.num_vertices), 0) {}

  void search(std::int64_t hub, const control& ctl) {
    hub_ = hub;
    build(ctl);
    for (std::int64_t p = 0; p < num_light_; ++p) {
      if ((p & 1023) == 0) ctl.check();
      add_wheels_of_light(p);
    }
    for (std::int64_t k = 0; k < num_heavy_; ++k) {
      ctl.check();
      add_wheels_of_heavy(k);
    }
    for (auto k = graph_.lower[hub] - num_light_; k < num_heavy_; ++k) add_triangles(k);
  }

  motif_sums sums;

 private:
  std::uint64_t* signature(std::int64_t member) { return signatures_.data() + member * signature_words_; }
  std::uint64_t* light_row(std::int64_t k) { return light_rows_.data() + k * light_words_; }
  static void set(std::uint64_t* bits, std::int64_t i) { bits[i / 64] |= std::uint64_t{1} << (i % 64); }

  void build(const control& ctl) {
    const auto members = graph_.row(hub_);
    num_light_ = graph_.place_of_first(hub_, first_hub_);
    num_heavy_ = graph_.degree(hub_) - num_light_;
    signature_words_ = (num_heavy_ + 63) / 64;
    light_words_ = (num_light_ + 63) / 64;
    signatures_.assign(static_cast<std::size_t>(graph_.degree(hub_) * signature_words_), 0);
    light_rows_.assign(static_cast<std::size_t>(num_heavy_ * light_words_), 0);
    lists_.clear();
    list_starts_.assign(1, 0);
    for (std::size_t i = 0; i < members.size(); ++i) marks_[members[i]] = static_cast<std::int32_t>(i + 1);
    for (std::int64_t i = 0; i < graph_.degree(hub_); ++i) {
      if ((i & 1023) == 0) ctl.check();
      if (i < num_light_)
        build_light(i);
      else
        build_heavy(i);
    }
    for (const auto v : members) marks_[v] = 0;
    counts_.assign(static_cast<std::size_t>(num_light_), 0);
  }
  void build_light(std::int64_t i) {
    auto left = graph_.supports(hub_)[i];
    const auto* w = graph_.neighbors + graph_.offsets[graph_.row(hub_)[static_cast<std::size_t>(i)]];
    for (; left > 0; ++w) {
      const auto member = marks_[*w] - 1;
      if (member < 0) continue;
      --left;
      if (member < num_light_) {
        lists_.push_back(member);
      } else {
        set(signature(i), member - num_light_);
        set(light_row(member - num_light_), i);
      }
    }
    list_starts_.push_back(static_cast<std::int64_t>(lists_.size()));
  }
  void build_heavy(std::int64_t i) {
    const auto v = graph_.row(hub_)[static_cast<std::size_t>(i)];
    for (auto j = graph_.place_of_first(v, first_hub_); j < graph_.degree(v); ++j)
      if (const auto mark = marks_[graph_.row(v)[static_cast<std::size_t>(j)]])
        set(signature(i), mark - 1 - num_light_);
  }

  std::span<const std::int32_t> list(std::int64_t i) const {
    const auto at = static_cast<std::size_t>(i);
    return {lists_.data() + list_starts_[at], static_cast<std::size_t>(list_starts_[at + 1] - list_starts_[at])};
  }
  void add_wheels(wide pairs) { sums[sum::wheels] += 2 * pairs; }

  void add_wheels_of_light(std::int64_t p) {
    if (list(p).size() < 2) return;
    touched_.clear();
    for (const auto x : list(p)) {
      if (x >= p) break;
      for (const auto j : list(x)) {
        if (j >= p) break;
        if (!counts_[static_cast<std::size_t>(j)]++) touched_.push_back(j);
      }
    }
    std::uint64_t pairs = 0;
    for (const auto j : touched_) pairs += choose2(std::exchange(counts_[static_cast<std::size_t>(j)], 0));
    add_wheels(pairs);
  }

  void add_wheels_of_heavy(std::int64_t k) {
    std::vector<std::uint64_t> below(signature(num_light_ + k), signature(num_light_ + k) + signature_words_);
    for (std::int64_t w = 0; w < signature_words_; ++w) {
      const auto keep = k - w * 64;
      if (keep < 64) below[static_cast<std::size_t>(w)] &= keep <= 0 ? 0 : (std::uint64_t{1} << keep) - 1;
    }
    const auto heavy_common = [&](std::int64_t member) {
      std::uint64_t found = 0;
      for (std::int64_t w = 0; w < signature_words_; ++w)
        found += static_cast<std::uint64_t>(std::popcount(below[static_cast<std::size_t>(w)] & signature(member)[w]));
      return found;
    };
    wide pairs = 0;
    for (std::int64_t j = 0; j < num_light_; ++j) {
      auto common = heavy_common(j);
      for (const auto x : list(j)) common += contains_bit(light_row(k), x);
      pairs += choose2(common);
    }
    for (std::int64_t j = 0; j < k; ++j)
      pairs += choose2(heavy_common(num_light_ + j) +
                       static_cast<std::uint64_t>(count_common(light_row(k), light_row(j), light_words_)));
    add_wheels(pairs);
  }

  // Triangles whose lowest vertex is the hub and whose highest vertex is heavy member k.
  void add_triangles(std::int64_t k) {
    const auto c = graph_.row(hub_)[static_cast<std::size_t>(num_light_ + k)];
    for (auto i = graph_.lower[hub_] - num_light_; i < k; ++i) {
      if (!contains_bit(signature(num_light_ + k), i)) continue;
      const auto b = graph_.row(hub_)[static_cast<std::size_t>(num_light_ + i)];
      const auto b_place = graph_.place_of_first(c, b);  // in the row of c
      const auto* const at_hub = graph_.supports(hub_) + num_light_;
      const auto cliques = count_common(light_row(i), light_row(k), light_words_) +
                           count_common(signature(num_light_ + i), signature(num_light_ + k), signature_words_);
      add_triangle_sums({.degrees = {graph_.degree(hub_), graph_.degree(b), graph_.degree(c)},
                         .opposite = {graph_.supports(c)[b_place], at_hub[k], at_hub[i]},
                         .above = (num_heavy_ - k - 1) + (graph_.degree(b) - graph_.places(c)[b_place] - 1) +
                                  (graph_.degree(c) - graph_.lower[c]),
                         .cliques = static_cast<std::uint64_t>(cliques)},
                        sums);
    }
  }

  const motif_graph& graph_;
  const std::int64_t first_hub_;
  buffer<std::int32_t> marks_;
  std::int64_t hub_ = 0, num_light_ = 0, num_heavy_ = 0, signature_words_ = 0, light_words_ = 0;
  std::vector<std::uint64_t> signatures_, light_rows_;
  std::vector<std::int32_t> lists_;
  std::vector<std::int64_t> list_starts_;
  std::vector<std::uint64_t> counts_;
  std::vector<std::int32_t> touched_;
};

}  // namespace

motif_sums sum_hubs(const motif_graph& graph, const hub_classes& hubs, int threads, const control& ctl) {
  motif_sums total = sum_classes(hubs);
  std::mutex merging;
  std::atomic<std::int64_t> next{hubs.first(graph)};
  with_helpers(threads, [&](int) {
    hub_thread mine(graph, hubs.first(graph));
    for (auto hub = next++; hub < graph.num_vertices; hub = next++) mine.search(hub, ctl);
    const std::lock_guard lock(merging);
    total.add(mine.sums);
  });
  return total;
}

}  // namespace graphlode::mining::motifs
