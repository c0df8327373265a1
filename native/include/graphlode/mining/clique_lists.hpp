// clique_lists.hpp - lists every k-clique of an oriented graph in batches, during the search.
#pragma once
#include <cstdint>

#include "graphlode/control.hpp"
#include "graphlode/csr.hpp"
#include "graphlode/memory.hpp"

namespace graphlode::mining {

// Receives the batches. Both functions are called from any thread of the search, and may throw to end it.
class clique_sink {
 public:
  virtual ~clique_sink() = default;
  // Room for one batch: batch_size rows of k numbers.
  virtual buffer<std::int64_t> room() = 0;
  // Takes the first `rows` rows, at least one. May wait for its consumer.
  virtual void take(buffer<std::int64_t>&& batch, std::int64_t rows) = 0;
};

// Lists the cliques of k >= 3 vertices whose two lowest ranks are an entry of begin .. end, each once, as rows of names
// in ascending rank. `names` has one number per rank. Returns the number of cliques. Each thread holds room for one
// batch at a time; the sink owns the batches that it has taken.
template <class Vertex>
std::int64_t list_cliques(const csr_view<Vertex>& oriented, std::int64_t begin, std::int64_t end, int k,
                          const std::int64_t* names, std::int64_t batch_size, clique_sink& sink, int threads,
                          const control& ctl);

}  // namespace graphlode::mining
