// bfs.cpp - breadth-first search over compressed rows and over the rows of a store. See bfs_search.hpp for the method.
#include "graphlode/store/row_view.hpp"
#include "walks/bfs_search.hpp"

namespace graphlode::analytics {

template bfs_tree<std::int32_t> search_breadth_first(const csr_rows<std::int32_t>&, std::int64_t, bool, int,
                                                     const control&);
template bfs_tree<std::int64_t> search_breadth_first(const csr_rows<std::int64_t>&, std::int64_t, bool, int,
                                                     const control&);
template bfs_tree<std::int32_t> search_breadth_first(const packed::row_view&, std::int64_t, bool, int, const control&);

}  // namespace graphlode::analytics
