// triangles.hpp - triangles of an oriented graph, each found once from its lowest-ranked corner.
#pragma once
#include <cstdint>

#include "graphlode/control.hpp"
#include "graphlode/csr.hpp"

namespace graphlode::analytics {

enum class triangle_counts { total, by_vertex, by_edge };

// Triangles whose lowest corner is a row in begin .. end. Adds to `counts`, per rank or per entry of the oriented
// graph; `counts` is unused for `total`. A total cannot overflow: a graph of m edges has at most m^1.5 triangles.
template <class Vertex>
std::int64_t count_triangles(const csr_view<Vertex>& oriented, std::int64_t begin, std::int64_t end,
                             triangle_counts what, std::int64_t* counts, int threads, const control& ctl);

}  // namespace graphlode::analytics
