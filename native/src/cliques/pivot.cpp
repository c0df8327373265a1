// cliques/pivot.cpp - the search of cliques/pivot.hpp, compiled for each width and for several instruction sets.
//
// The instruction set is chosen once per search, at the functions below; everything they call is inlined. They may
// throw, so they are called only from another file: where the clones are visible, the compiler treats the resolver as a
// function that never throws.
#include "cliques/pivot.hpp"

#include "graphlode/clones.hpp"

namespace graphlode::mining {
namespace {

template <int Words, bool Local>
[[gnu::always_inline]] inline void run_inlined(search_thread& thread, const search_start& start) {
  pivot_search<Words, Local>(thread, start).run(start);
}

}  // namespace

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

}  // namespace graphlode::mining
