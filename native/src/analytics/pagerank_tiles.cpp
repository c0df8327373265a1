// pagerank_tiles.cpp - PageRank over tiles. See pagerank_tiles.hpp for the method.
#include "walks/pagerank_tiles.hpp"

#include "graphlode/locality/changing_tiles.hpp"

namespace graphlode::analytics {

template pagerank_values rank_tiles(const graph::tiles_view&, const double*, const pagerank_settings&, int,
                                    const control&, const std::function<void()>&);
template pagerank_values rank_tiles(const locality::changing_tiles&, const double*, const pagerank_settings&, int,
                                    const control&, const std::function<void()>&);

}  // namespace graphlode::analytics
