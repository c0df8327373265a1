// clique_lists.hpp - every k-clique of an oriented graph, handed over in batches while the search goes on.
#pragma once
#include <cstdint>

#include "graphlode/control.hpp"
#include "graphlode/csr.hpp"
#include "graphlode/memory.hpp"

namespace graphlode::mining {

// Where batches go. Both functions are called from any of the search's threads, and may throw to end the search.
class clique_sink {
 public:
  virtual ~clique_sink() = default;
  // Room for one batch: batch_size rows of k numbers.
  virtual buffer<std::int64_t> room() = 0;
  // Takes the first `rows` rows, at least one; may wait for whoever consumes them.
  virtual void take(buffer<std::int64_t>&& batch, std::int64_t rows) = 0;
};

// Lists the cliques of k >= 3 vertices whose two lowest ranks are an entry of begin .. end, each once, as rows of names
// in ascending rank; `names` has a number for each rank. Returns how many there are. At any time each thread holds room
// for one batch; what the sink has taken is its own.
template <class Vertex>
std::int64_t list_cliques(const csr_view<Vertex>& oriented, std::int64_t begin, std::int64_t end, int k,
                          const std::int64_t* names, std::int64_t batch_size, clique_sink& sink, int threads,
                          const control& ctl);

}  // namespace graphlode::mining
