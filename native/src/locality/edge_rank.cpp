// edge_rank.cpp - edge-centric PageRank: two random accesses per edge, whose locality depends on the order of the list.
#include "graphlode/locality/edge_rank.hpp"

#include <algorithm>
#include <cmath>

#include "progressive_pass.hpp"

namespace graphlode::locality {
namespace {

template <sort_key Key>
void send_run(const edge_word* first, std::int64_t count, const double* sent, double* sums) {
  for (std::int64_t i = 0; i < count; ++i) sums[destination_of<Key>(first[i])] += sent[source_of<Key>(first[i])];
}

}  // namespace

void send(std::span<const edge_word> edges, sort_key key, const double* sent, double* sums, const control& ctl) {
  constexpr std::size_t chunk = 1 << 18;  // edges between checks of the control
  with_key(key, [&]<sort_key Key>() {
    for (std::size_t begin = 0; begin < edges.size(); begin += chunk) {
      ctl.check();
      const auto part = edges.subspan(begin, std::min(chunk, edges.size() - begin));
      send_run<Key>(part.data(), static_cast<std::int64_t>(part.size()), sent, sums);
      ctl.advance(static_cast<std::int64_t>(part.size()));
    }
  });
}

void send_and_reorder(std::span<edge_word> edges, int lanes, int level, sort_key key, const double* sent, double* sums,
                      const control& ctl) {
  const progressive_pass pass(edges, lanes, level);
  if (pass.settled()) return send(edges, key, sent, sums, ctl);
  with_key(key, [&]<sort_key Key>() {
    const auto add = [&](const edge_word* first, std::int64_t count) { send_run<Key>(first, count, sent, sums); };
    for (std::int64_t unit = 0; unit < pass.num_units(); unit += pass.grain()) {
      ctl.check();
      ctl.advance(pass.run(unit, std::min(unit + pass.grain(), pass.num_units()), add));
    }
  });
}

double settle(const vertex_state& state, double damping) {
  const std::size_t n = state.values.size();
  double stuck = 0;
  for (std::size_t v = 0; v < n; ++v) stuck += state.share[v] == 0.0 ? state.values[v] : 0.0;
  const double spread = (damping * stuck + (1.0 - damping)) / static_cast<double>(n);
  double moved = 0;
  for (std::size_t v = 0; v < n; ++v) {
    const double value = damping * state.sums[v] + spread;
    moved += std::abs(value - state.values[v]);
    state.values[v] = value;
    state.sent[v] = value * state.share[v];
    state.sums[v] = 0.0;
  }
  return moved;
}

}  // namespace graphlode::locality
