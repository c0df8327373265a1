// motifs/cliques.cpp - cliques for the motifs, by the clique kernels.
#include "motifs/cliques.hpp"

#include "motifs/passes.hpp"

namespace graphlode::mining::motifs {

wide count_cliques_of(const supported_view& graph, row_range rows, int k, int threads, const control& ctl) {
  const upper_rows upper(graph);
  const auto entries = upper.entries(rows.begin, rows.end);
  const auto leaves =
      mining::count_cliques<rank>(upper.view(), entries, k, mining::clique_method::pivot, {}, threads, ctl);
  // A leaf [h][p] stands for C(p, k - h) cliques.
  wide total = 0;
  for (std::int64_t h = 0; h < std::min<std::int64_t>(leaves.rows, k + 1); ++h)
    for (std::int64_t p = k - h; p < leaves.columns; ++p) {
      const auto at = static_cast<std::size_t>(h * leaves.columns + p);
      wide choices = 1;
      for (int i = 0; i < k - h; ++i) choices = choices * static_cast<wide>(p - i) / static_cast<wide>(i + 1);
      total += choices * (leaves.low[at] + (static_cast<wide>(leaves.high[at]) << 64));
    }
  return total;
}

}  // namespace graphlode::mining::motifs
