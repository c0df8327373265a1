// cliques/search.cpp - selects the search that is compiled for the width of the rows.
#include "cliques/search.hpp"

namespace graphlode::mining {

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

void search_by_enumeration(search_thread& thread, const search_start& start) {
  if (thread.local())
    return start.width_class == 0 ? run_enumeration<1, true>(thread, start) : run_enumeration<0, true>(thread, start);
  switch (start.rows->words) {
    case 1:
      return run_enumeration<1, false>(thread, start);
    case 2:
      return run_enumeration<2, false>(thread, start);
    case 4:
      return run_enumeration<4, false>(thread, start);
    case 8:
      return run_enumeration<8, false>(thread, start);
    case 16:
      return run_enumeration<16, false>(thread, start);
    case 32:
      return run_enumeration<32, false>(thread, start);
    default:
      return run_enumeration<0, false>(thread, start);
  }
}

}  // namespace graphlode::mining
