// generate.cpp - binding of the stage generate. The callers in graphlode.generate check the arguments.
#include "arrays.hpp"
#include "graphlode/generate/barabasi_albert.hpp"
#include "graphlode/generate/erdos_renyi.hpp"
#include "graphlode/generate/random.hpp"
#include "graphlode/generate/rmat.hpp"

namespace graphlode::bind {
namespace {

constexpr int narrow_scale = 31;  // 2^31 vertices still fit 32-bit ids

template <class Work>
nb::tuple edges_of(Work&& work) {
  auto made = [&] {
    nb::gil_scoped_release released;
    return work();
  }();
  return nb::make_tuple(to_numpy(std::move(made.src)), to_numpy(std::move(made.dst)));
}

nb::tuple rmat(int scale, std::int64_t begin, std::int64_t end, double a, double b, double c, std::uint64_t seed,
               bool relabel, int threads, control_words words) {
  const generate::rmat_model model{scale, a, b, c, seed, relabel};
  const control ctl = as_control(words);
  if (scale <= narrow_scale)
    return edges_of([&] { return generate::rmat<std::int32_t>(model, begin, end, threads, ctl); });
  return edges_of([&] { return generate::rmat<std::int64_t>(model, begin, end, threads, ctl); });
}

nb::tuple random_pairs(std::int64_t num_vertices, std::int64_t num_edges, bool directed, std::uint64_t seed,
                       int threads, control_words words) {
  const control ctl = as_control(words);
  return edges_of([&] { return generate::random_pairs({num_vertices, directed}, num_edges, seed, threads, ctl); });
}

nb::tuple pairs_with_probability(std::int64_t num_vertices, double p, bool directed, std::uint64_t seed, int threads,
                                 control_words words) {
  const control ctl = as_control(words);
  return edges_of([&] { return generate::pairs_with_probability({num_vertices, directed}, p, seed, threads, ctl); });
}

nb::tuple barabasi_albert(std::int64_t num_vertices, std::int64_t m, std::uint64_t seed, control_words words) {
  const control ctl = as_control(words);
  return edges_of([&] { return generate::barabasi_albert(num_vertices, m, seed, ctl); });
}

numpy_array<std::uint64_t> random_words(std::uint64_t seed, std::uint64_t begin, std::size_t size) {
  const generate::stream words(seed, generate::purpose::words);
  buffer<std::uint64_t> made(size);
  for (std::size_t i = 0; i < size; ++i) made[i] = words.word(begin + i);
  return to_numpy(std::move(made));
}

}  // namespace

void bind_generate(nb::module_& m) {
  using nb::literals::operator""_a;
  m.def("rmat", &rmat, "scale"_a, "begin"_a, "end"_a, "a"_a, "b"_a, "c"_a, "seed"_a, "relabel"_a, "threads"_a,
        "control"_a.noconvert(), "Edges begin..end of a recursive matrix graph, as (src, dst).");
  m.def("random_pairs", &random_pairs, "num_vertices"_a, "num_edges"_a, "directed"_a, "seed"_a, "threads"_a,
        "control"_a.noconvert(), "Different pairs of vertices, uniform, in random order, as (src, dst).");
  m.def("pairs_with_probability", &pairs_with_probability, "num_vertices"_a, "p"_a, "directed"_a, "seed"_a, "threads"_a,
        "control"_a.noconvert(), "Every pair of vertices with probability p, as (src, dst).");
  m.def("barabasi_albert", &barabasi_albert, "num_vertices"_a, "m"_a, "seed"_a, "control"_a.noconvert(),
        "Edges of a preferential attachment graph, as (src, dst).");
  m.def("random_words", &random_words, "seed"_a, "begin"_a, "size"_a, "Words begin..begin + size of a seed's stream.");
}

}  // namespace graphlode::bind
