// mining_motif_parts.cpp - binding of what Python asks for around motifs: random graphs of given degrees, sums along
// rows.
#include "arrays.hpp"
#include "graphlode/mining/rewire.hpp"
#include "graphlode/mining/row_sums.hpp"

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

// weights is empty where all are 1.
template <class Vertex, class Edge>
std::uint32_t row_sums(const in<std::int64_t>& offsets, const in<Vertex>& neighbors, const in<Edge>& edges,
                       const in<std::int64_t>& weights, const in<std::int64_t>& values, const inout<std::int64_t>& sums,
                       int threads, const control_words& words) {
  const auto graph = as_csr(offsets, neighbors);
  const auto rows = static_cast<std::size_t>(graph.num_vertices);
  const auto columns = rows == 0 ? 1 : sums.size() / rows;
  if (columns < 1 || columns > mining::most_columns || sums.size() != rows * columns || values.size() != sums.size())
    throw nb::value_error("values and sums must have the same number of columns for each row");
  if (edges.size() != neighbors.size()) throw nb::value_error("edges must be as many as neighbors");
  const control ctl = as_control(words);
  nb::gil_scoped_release nogil;
  return mining::row_sums(graph, edges.data(), weights.size() == 0 ? nullptr : weights.data(), values.data(),
                          static_cast<int>(columns), sums.data(), threads, ctl);
}

template <class Vertex, class Edge>
void bind_row_sums(nb::module_& m) {
  using nb::literals::operator""_a;
  m.def("mining_row_sums", &row_sums<Vertex, Edge>, "offsets"_a.noconvert(), "neighbors"_a.noconvert(),
        "edges"_a.noconvert(), "weights"_a.noconvert(), "values"_a.noconvert(), "sums"_a.noconvert(), "threads"_a,
        "control"_a.noconvert(), "Fills sums; returns a bit for each column that does not fit 64 bits.");
}

}  // namespace

void bind_mining_motif_parts(nb::module_& m) {
  using nb::literals::operator""_a;
  m.def("mining_rewire", &rewire, "src"_a.noconvert(), "dst"_a.noconvert(), "attempts"_a, "seed"_a, "first"_a,
        "samples"_a, "threads"_a, "control"_a.noconvert(),
        "Edges of random graphs with the same degrees, one sample after the other, as (src, dst).");
  bind_row_sums<std::int32_t, std::int32_t>(m);
  bind_row_sums<std::int32_t, std::int64_t>(m);
  bind_row_sums<std::int64_t, std::int64_t>(m);
}

}  // namespace graphlode::bind
