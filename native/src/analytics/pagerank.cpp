// pagerank.cpp - PageRank over compressed rows and over the rows of a store. See pagerank_pull.hpp for the method.
#include "walks/pagerank_pull.hpp"

namespace graphlode::analytics {

template pagerank_values rank_pages(const csr_rows<std::int32_t>&, const double*, const pagerank_settings&, int,
                                    const control&);
template pagerank_values rank_pages(const csr_rows<std::int64_t>&, const double*, const pagerank_settings&, int,
                                    const control&);
template pagerank_values rank_pages(const packed::row_view&, const double*, const pagerank_settings&, int,
                                    const control&);

template buffer<double> sum_of_rows(const csr_rows<std::int32_t>&, const double*, int, const control&);
template buffer<double> sum_of_rows(const packed::row_view&, const double*, int, const control&);

}  // namespace graphlode::analytics
