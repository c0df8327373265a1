// progressive.cpp - reordering without sending: the units of a pass on all threads.
#include "graphlode/locality/progressive.hpp"

#include "graphlode/parallel.hpp"
#include "progressive_pass.hpp"

namespace graphlode::locality {

void reorder(std::span<edge_word> edges, int lanes, int level, int threads, const control& ctl) {
  const progressive_pass pass(edges, lanes, level);
  if (pass.settled()) {
    ctl.advance(static_cast<std::int64_t>(edges.size()));
    return;
  }
  parallel_chunks(0, pass.num_units(), pass.grain(),
                  worthwhile_threads(static_cast<std::int64_t>(edges.size()), threads), ctl,
                  [&](int, std::int64_t begin, std::int64_t end) {
                    ctl.advance(pass.run(begin, end, [](const edge_word*, std::int64_t) {}));
                  });
}

}  // namespace graphlode::locality
