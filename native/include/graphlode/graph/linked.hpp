// linked.hpp - the rows of those vertices that an edge touches, numbered anew.
//
// Who iterates over all vertices many times need not pass those again and again that have nothing to do with anybody:
// in a recursive matrix graph these are half of all.
#pragma once
#include <cstdint>

#include "graphlode/control.hpp"
#include "graphlode/csr.hpp"
#include "graphlode/memory.hpp"

namespace graphlode::graph {

template <class Vertex>
struct linked_rows {
  csr<Vertex> rows;
  buffer<Vertex> vertices;  // what each new number stands for, ascending
};

// `symmetric` rows tell by their own length whether an edge touches their vertex; otherwise all entries are looked at.
template <class Vertex>
linked_rows<Vertex> link_rows(const csr_view<Vertex>& rows, bool symmetric, int threads, const control& ctl);

}  // namespace graphlode::graph
