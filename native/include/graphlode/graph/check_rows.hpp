// check_rows.hpp - whether compressed rows from outside are rows that kernels can trust.
#pragma once
#include <cstdint>

#include "graphlode/control.hpp"
#include "graphlode/csr.hpp"

namespace graphlode::graph {

enum class row_fault : std::int8_t {
  none,
  offsets,    // they do not rise from 0 to the number of entries
  range,      // a neighbor is not a vertex
  order,      // a row does not ascend strictly
  self_loop,  // a vertex is its own neighbor
  symmetry,   // an undirected edge has no entry in the other row
};

struct row_finding {
  row_fault fault = row_fault::none;
  std::int64_t row = 0;  // the first row with this fault
};

// The first fault, in the order of row_fault. Trusts nothing but the sizes: `offsets` has num_vertices + 1 values and
// `neighbors` has num_entries. The answer does not depend on the number of threads. Linear time; symmetry needs 8 bytes
// per vertex.
template <class Vertex>
row_finding check_rows(const csr_view<Vertex>& rows, std::int64_t num_entries, bool directed, int threads,
                       const control& ctl);

}  // namespace graphlode::graph
