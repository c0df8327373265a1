// maximal_cliques.hpp - maximal cliques, which no vertex can be added to, and one maximum clique.
//
// Both searches use the rows of a graph oriented by a degeneracy order. A clique is found from its lowest-ranked
// vertex, its root. The later neighbors of the root are the candidates; their number is at most the degeneracy.
#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "graphlode/control.hpp"
#include "graphlode/csr.hpp"
#include "graphlode/memory.hpp"

namespace graphlode::mining {

// Cliques of different sizes, concatenated: clique i is members[offsets[i] .. offsets[i + 1]), ascending.
struct clique_batch {
  buffer<std::int64_t> offsets;
  buffer<std::int64_t> members;
};

// Called by any of the threads, possibly several at a time. An exception ends the search.
using clique_sink = std::function<void(clique_batch&&)>;

struct maximal_options {
  std::int64_t min_size = 1;       // smaller cliques are not returned, and not searched for where that is known early
  std::int64_t batch_size = 1024;  // maximum number of cliques in a batch
  int threads = 1;
};

// The transposed rows: the earlier neighbors of each rank, in any order.
template <class Vertex>
csr<Vertex> transpose(const csr_view<Vertex>& oriented, int threads, const control& ctl);

// Lists every maximal clique with its root in begin .. end exactly once, in no particular order. `names` has the name
// of each rank.
template <class Vertex>
void list_maximal_cliques(const csr_view<Vertex>& oriented, const csr_view<Vertex>& earlier, const std::int64_t* names,
                          std::int64_t begin, std::int64_t end, const maximal_options& options, const control& ctl,
                          const clique_sink& sink);

// The ranks, ascending, of one largest clique with its root in begin .. end.
template <class Vertex>
std::vector<std::int64_t> find_max_clique(const csr_view<Vertex>& oriented, std::int64_t begin, std::int64_t end,
                                          int threads, const control& ctl);

}  // namespace graphlode::mining
