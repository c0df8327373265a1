// sorting_network.cpp - merge exchange, with compare-exchanges on whole rows.
#include "sorting_network.hpp"

#include "graphlode/clones.hpp"

namespace graphlode::locality {

sorting_network::sorting_network(int lanes) {
  for (int run = 1; run < lanes; run *= 2)         // merge sorted runs of this length in pairs,
    for (int apart = run; apart >= 1; apart /= 2)  // comparing rows at halving distances,
      for (int first = apart % run; first + apart < lanes; first += 2 * apart)
        for (int low = first; low < first + apart && low + apart < lanes; ++low)
          if (low / (2 * run) == (low + apart) / (2 * run))  // but never across two merges
            pairs_.push_back({static_cast<std::uint16_t>(low), static_cast<std::uint16_t>(low + apart)});
}

void sorting_network::sort(network_row* rows) const { exchange(rows, pairs_.data(), pairs_.size()); }

GRAPHLODE_CLONES void sorting_network::exchange(network_row* rows, const pair* pairs, std::size_t count) {
  // The compiler's auto-vectorizer splits a row into narrower vectors; a vector type keeps it whole where possible.
  using vector [[gnu::vector_size(sizeof(network_row)), gnu::may_alias]] = edge_word;
  auto* const vectors = reinterpret_cast<vector*>(rows);
  for (std::size_t i = 0; i < count; ++i) {
    vector &low = vectors[pairs[i].low], &high = vectors[pairs[i].high];
    const vector a = low, b = high;
    low = a < b ? a : b;
    high = a < b ? b : a;
  }
}

}  // namespace graphlode::locality
