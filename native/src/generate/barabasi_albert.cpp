// barabasi_albert.cpp - a uniform choice among all ends of earlier edges is a choice in proportion to the degrees
// (Batagelj and Brandes, Phys. Rev. E 71, 2005). A vertex that is already chosen is drawn again, so that the graph is
// simple. So every edge depends on all edges before it, and the loop is serial.
#include "graphlode/generate/barabasi_albert.hpp"

#include <vector>

#include "graphlode/generate/random.hpp"

namespace graphlode::generate {

edges<std::int32_t> barabasi_albert(std::int64_t num_vertices, std::int64_t m, std::uint64_t seed, const control& ctl) {
  edges<std::int32_t> made(static_cast<std::size_t>(m) * static_cast<std::size_t>(num_vertices - m));
  for (std::int64_t leaf = 1; leaf <= m; ++leaf) {
    made.src[static_cast<std::size_t>(leaf - 1)] = 0;
    made.dst[static_cast<std::size_t>(leaf - 1)] = static_cast<std::int32_t>(leaf);
  }
  const stream words(seed, purpose::attachment);
  std::vector<std::int32_t> chosen_by(static_cast<std::size_t>(num_vertices), -1);
  std::uint64_t counter = 0;
  std::size_t edge = static_cast<std::size_t>(m);
  for (std::int64_t vertex = m + 1; vertex < num_vertices; ++vertex) {
    ctl.check();  // per vertex: with a large m, one takes milliseconds
    const auto newcomer = static_cast<std::int32_t>(vertex);
    const std::uint64_t num_ends = 2 * static_cast<std::uint64_t>(edge);  // only those of earlier vertices
    for (std::int64_t chosen = 0; chosen < m;) {
      const auto end = below(words.word(counter++), num_ends);
      const auto target = end % 2 == 0 ? made.src[end / 2] : made.dst[end / 2];
      if (chosen_by[static_cast<std::size_t>(target)] == newcomer) continue;
      chosen_by[static_cast<std::size_t>(target)] = newcomer;
      made.src[edge] = newcomer;
      made.dst[edge] = target;
      ++edge;
      ++chosen;
    }
  }
  return made;
}

}  // namespace graphlode::generate
