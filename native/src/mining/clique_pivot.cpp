// clique_pivot.cpp - the search of clique_pivot.hpp, compiled for each width and for several instruction sets.
//
// The dispatch on the instruction set happens once per search, at the functions below; everything beneath is inlined.
#include "clique_pivot.hpp"

#include "graphlode/clones.hpp"

namespace graphlode::mining {
namespace {

template <int Words, bool Local>
[[gnu::always_inline]] inline void run_inlined(search_thread& thread, const search_start& start) {
  pivot_search<Words, Local>(thread, start).run(start);
}

template <int Words, bool Local>
void run_pivot(search_thread& thread, const search_start& start);

template <>
GRAPHLODE_CLONES void run_pivot<1, false>(search_thread& thread, const search_start& start) {
  run_inlined<1, false>(thread, start);
}
template <>
GRAPHLODE_CLONES void run_pivot<2, false>(search_thread& thread, const search_start& start) {
  run_inlined<2, false>(thread, start);
}
template <>
GRAPHLODE_CLONES void run_pivot<4, false>(search_thread& thread, const search_start& start) {
  run_inlined<4, false>(thread, start);
}
template <>
GRAPHLODE_CLONES void run_pivot<8, false>(search_thread& thread, const search_start& start) {
  run_inlined<8, false>(thread, start);
}
template <>
GRAPHLODE_CLONES void run_pivot<16, false>(search_thread& thread, const search_start& start) {
  run_inlined<16, false>(thread, start);
}
template <>
GRAPHLODE_CLONES void run_pivot<32, false>(search_thread& thread, const search_start& start) {
  run_inlined<32, false>(thread, start);
}
template <>
GRAPHLODE_CLONES void run_pivot<0, false>(search_thread& thread, const search_start& start) {
  run_inlined<0, false>(thread, start);
}
template <>
GRAPHLODE_CLONES void run_pivot<1, true>(search_thread& thread, const search_start& start) {
  run_inlined<1, true>(thread, start);
}
template <>
GRAPHLODE_CLONES void run_pivot<0, true>(search_thread& thread, const search_start& start) {
  run_inlined<0, true>(thread, start);
}

}  // namespace

void search_by_pivot(search_thread& thread, const search_start& start) {
  if (thread.local())
    return start.width_class == 0 ? run_pivot<1, true>(thread, start) : run_pivot<0, true>(thread, start);
  switch (start.rows->words) {
    case 1:
      return run_pivot<1, false>(thread, start);
    case 2:
      return run_pivot<2, false>(thread, start);
    case 4:
      return run_pivot<4, false>(thread, start);
    case 8:
      return run_pivot<8, false>(thread, start);
    case 16:
      return run_pivot<16, false>(thread, start);
    case 32:
      return run_pivot<32, false>(thread, start);
    default:
      return run_pivot<0, false>(thread, start);
  }
}

}  // namespace graphlode::mining
