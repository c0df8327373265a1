// components.cpp - components over compressed rows and over those of a store; the method is told in
// components_union.hpp.
#include "components_union.hpp"
#include "graphlode/packed/row_view.hpp"

namespace graphlode::analytics {

template component_labels<std::int32_t> find_components(const csr_rows<std::int32_t>&, bool, int, const control&);
template component_labels<std::int64_t> find_components(const csr_rows<std::int64_t>&, bool, int, const control&);
template component_labels<std::int32_t> find_components(const packed::row_view&, bool, int, const control&);

}  // namespace graphlode::analytics
