// mining_motif_parts.cpp - binding of the parts of motifs that Python calls: random graphs with given degrees, and
// orbits from raw arrays.
#include <utility>

#include "arrays.hpp"
#include "graphlode/mining/orbit_formulas.hpp"
#include "graphlode/mining/rewire.hpp"
#include "supported_arrays.hpp"

namespace graphlode::bind {
namespace {

nb::tuple rewire(const in<std::int32_t>& src, const in<std::int32_t>& dst, std::int64_t attempts, std::uint64_t seed,
                 std::int64_t first, std::int64_t samples, int threads, const control_words& words) {
  if (src.size() != dst.size()) throw nb::value_error("src and dst must have the same length");
  if (attempts < 0 || first < 0 || samples < 0) throw nb::value_error("numbers must not be negative");
  const control ctl = as_control(words);
  const mining::edge_list edges{src.data(), dst.data(), static_cast<std::int64_t>(src.size())};
  const auto size = static_cast<std::size_t>(samples) * src.size();
  buffer<std::int32_t> made_src, made_dst;
  {
    nb::gil_scoped_release nogil;
    made_src = buffer<std::int32_t>(size);
    made_dst = buffer<std::int32_t>(size);
    mining::rewire(edges, attempts, seed, first, samples, made_src.data(), made_dst.data(), threads, ctl);
  }
  return nb::make_tuple(to_numpy(std::move(made_src)), to_numpy(std::move(made_dst)));
}

// `raw` maps names to arrays. `high` is empty if no upper halves are wanted. Returns false if one was needed.
bool orbit_formulas(const in<std::int64_t>& offsets, const in<std::int32_t>& neighbors, const in<std::int32_t>& lower,
                    const in<std::int32_t>& edges, const in<std::int32_t>& triangles, const in<std::int32_t>& vertices,
                    const nb::dict& raw, int size, bool of_edges, const in<std::int64_t>& matrix,
                    const in<std::int32_t>& columns, double limit, const inout<std::int64_t>& low,
                    const inout<std::int64_t>& high, int threads, const control_words& words) {
  namespace motifs = mining::motifs;
  if (size != 4 && size != 5) throw nb::value_error("size must be 4 or 5");
  const auto graph = supported_arrays{offsets, neighbors, lower, edges, triangles}.view();
  const auto units = static_cast<std::size_t>(of_edges ? graph.num_edges() : graph.num_vertices);
  if (vertices.size() != static_cast<std::size_t>(graph.num_vertices))
    throw nb::value_error("vertices must be as many as rows");
  if (low.size() != units * columns.size() || (high.size() != 0 && high.size() != low.size()))
    throw nb::value_error("the output must have a number for each unit and column");
  const raw_inputs given(raw, graph, size, of_edges);
  const auto ctl = as_control(words);
  const motifs::orbit_request request{
      size, {matrix.data(), matrix.size()}, {columns.data(), columns.size()}, vertices.data(), limit};
  const motifs::orbit_columns output{low.data(), high.size() == 0 ? nullptr : high.data()};
  nb::gil_scoped_release nogil;
  return (of_edges ? motifs::edge_orbits : motifs::vertex_orbits)(graph, given.pointers, request, output, threads, ctl);
}

}  // namespace

void bind_mining_motif_parts(nb::module_& m) {
  using nb::literals::operator""_a;
  m.def("mining_rewire", &rewire, "src"_a.noconvert(), "dst"_a.noconvert(), "attempts"_a, "seed"_a, "first"_a,
        "samples"_a, "threads"_a, "control"_a.noconvert(),
        "Edges of random graphs with the same degrees, one sample after the other, as (src, dst).");
  m.def("mining_orbit_formulas", &orbit_formulas, "offsets"_a.noconvert(), "neighbors"_a.noconvert(),
        "lower"_a.noconvert(), "edges"_a.noconvert(), "triangles"_a.noconvert(), "vertices"_a.noconvert(), "raw"_a,
        "size"_a, "of_edges"_a, "matrix"_a.noconvert(), "columns"_a.noconvert(), "limit"_a, "low"_a.noconvert(),
        "high"_a.noconvert(), "threads"_a, "control"_a.noconvert(),
        "Fill the columns of orbits. Returns whether all values fit; always true with room for upper halves.");
}

}  // namespace graphlode::bind
