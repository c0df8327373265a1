#include "motifs/hubs.hpp"

#include <bit>

#include "graphlode/parallel.hpp"

namespace graphlode::mining::motifs {
namespace {

constexpr std::int64_t least_wedges = std::int64_t{1} << 22;  // below, a hub is walked through in a few milliseconds
constexpr std::int64_t most_classes = 1024;
constexpr std::int64_t wedges_per_pair_of_classes = 32;  // comparing two classes takes as long as so many wedges

}  // namespace

hub_classes::hub_classes(const motif_graph& graph, int threads, const control& ctl) {
  const auto n = graph.num_vertices;
  class_of_ = buffer<std::int32_t>(static_cast<std::size_t>(n), 0);
  sizes_ = {n};
  hubs_of_.resize(1);
  seen_ = {-1};
  for (auto hub = n - 1; hub >= 0; --hub) {
    ctl.check();
    if (!worth_taking(graph, hub, classes_split_by(graph, hub))) break;
    take(graph, hub);
  }
  if (!none()) compare(graph, threads, ctl);
}

bool hub_classes::worth_taking(const motif_graph& graph, std::int64_t hub, std::int64_t growth) const {
  const auto wedges = graph.degree(hub) * (graph.degree(hub) - 1) / 2;
  const auto after = num_classes() + growth;
  const auto pairs = (after * after - num_classes() * num_classes()) / 2;
  return wedges >= least_wedges && after <= most_classes && wedges > wedges_per_pair_of_classes * pairs;
}

std::int64_t hub_classes::classes_split_by(const motif_graph& graph, std::int64_t hub) {
  std::int64_t split = 0;
  for (const auto v : graph.row(hub)) {
    auto& last = seen_[static_cast<std::size_t>(class_of_[v])];
    split += last != hub;
    last = hub;
  }
  return split;
}

// The neighbors of the hub leave their classes for new ones.
void hub_classes::take(const motif_graph& graph, std::int64_t hub) {
  const auto name = static_cast<std::int32_t>(num_hubs_++);
  std::vector<std::int32_t> becomes(sizes_.size(), -1);
  for (const auto v : graph.row(hub)) {
    const auto old = static_cast<std::size_t>(class_of_[v]);
    if (becomes[old] < 0) {
      becomes[old] = static_cast<std::int32_t>(sizes_.size());
      sizes_.push_back(0);
      seen_.push_back(-1);
      hubs_of_.push_back(hubs_of_[old]);
      hubs_of_.back().push_back(name);
    }
    --sizes_[old];
    ++sizes_[static_cast<std::size_t>(becomes[old])];
    class_of_[v] = becomes[old];
  }
}

void hub_classes::compare(const motif_graph& graph, int threads, const control& ctl) {
  const auto words = (num_hubs_ + 63) / 64, n = graph.num_vertices;
  const auto set = [](std::uint64_t* bits, std::int64_t i) { bits[i / 64] |= std::uint64_t{1} << (i % 64); };
  buffer<std::uint64_t> joined(static_cast<std::size_t>(words * num_hubs_), 0);  // the hubs among each hub's neighbors
  for (std::int64_t hub = 0; hub < num_hubs_; ++hub)
    for (auto i = graph.place_of_first(n - 1 - hub, n - num_hubs_); i < graph.degree(n - 1 - hub); ++i)
      set(joined.data() + hub * words, n - 1 - graph.row(n - 1 - hub)[static_cast<std::size_t>(i)]);
  buffer<std::uint64_t> members(static_cast<std::size_t>(words * num_classes()), 0);
  for (std::int64_t one = 0; one < num_classes(); ++one)
    for (const auto hub : hubs_of_[static_cast<std::size_t>(one)]) set(members.data() + one * words, hub);
  common_ = buffer<common_hubs>(static_cast<std::size_t>(num_classes() * num_classes()));
  parallel_chunks(0, num_classes(), 1, threads, ctl, [&](int, std::int64_t one, std::int64_t) {
    std::vector<std::uint64_t> both(static_cast<std::size_t>(words));
    for (std::int64_t other = 0; other <= one; ++other) {
      common_hubs found{0, 0};
      for (std::int64_t w = 0; w < words; ++w) {
        both[static_cast<std::size_t>(w)] = members[one * words + w] & members[other * words + w];
        found.hubs += static_cast<std::uint32_t>(std::popcount(both[static_cast<std::size_t>(w)]));
      }
      if (found.hubs >= 2) {
        for (const auto hub : hubs_of_[static_cast<std::size_t>(other)]) {
          if (!(both[static_cast<std::size_t>(hub / 64)] >> (hub % 64) & 1)) continue;
          for (std::int64_t w = 0; w < words; ++w)
            found.edges +=
                static_cast<std::uint32_t>(std::popcount(joined[hub * words + w] & both[static_cast<std::size_t>(w)]));
        }
        found.edges /= 2;
      }
      common_[one * num_classes() + other] = common_[other * num_classes() + one] = found;
    }
  });
}

}  // namespace graphlode::mining::motifs
