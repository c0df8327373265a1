// cliques/enumerate.cpp - the search of cliques/enumerate.hpp, compiled for each width and for several instruction
// sets.
//
// The instruction set is chosen once per search, at the functions below; everything they call is inlined. They may
// throw, so they are called only from another file: where the clones are visible, the compiler treats the resolver as a
// function that never throws.
#include "cliques/enumerate.hpp"

#include "graphlode/clones.hpp"

namespace graphlode::mining {
namespace {

template <int Words, bool Local>
[[gnu::always_inline]] inline void run_inlined(search_thread& thread, const search_start& start) {
  enumerate_search<Words, Local>(thread, start).run(start);
}

}  // namespace

template <>
GRAPHLODE_CLONES void run_enumeration<1, false>(search_thread& thread, const search_start& start) {
  run_inlined<1, false>(thread, start);
}
template <>
GRAPHLODE_CLONES void run_enumeration<2, false>(search_thread& thread, const search_start& start) {
  run_inlined<2, false>(thread, start);
}
template <>
GRAPHLODE_CLONES void run_enumeration<4, false>(search_thread& thread, const search_start& start) {
  run_inlined<4, false>(thread, start);
}
template <>
GRAPHLODE_CLONES void run_enumeration<8, false>(search_thread& thread, const search_start& start) {
  run_inlined<8, false>(thread, start);
}
template <>
GRAPHLODE_CLONES void run_enumeration<16, false>(search_thread& thread, const search_start& start) {
  run_inlined<16, false>(thread, start);
}
template <>
GRAPHLODE_CLONES void run_enumeration<32, false>(search_thread& thread, const search_start& start) {
  run_inlined<32, false>(thread, start);
}
template <>
GRAPHLODE_CLONES void run_enumeration<0, false>(search_thread& thread, const search_start& start) {
  run_inlined<0, false>(thread, start);
}
template <>
GRAPHLODE_CLONES void run_enumeration<1, true>(search_thread& thread, const search_start& start) {
  run_inlined<1, true>(thread, start);
}
template <>
GRAPHLODE_CLONES void run_enumeration<0, true>(search_thread& thread, const search_start& start) {
  run_inlined<0, true>(thread, start);
}

}  // namespace graphlode::mining
