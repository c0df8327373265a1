// locality.cpp - binding of the stage locality and of the cache simulation. The callers in graphlode.locality and
// graphlode.measure check the arguments; the checks here only prevent access outside an array.
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <bit>
#include <span>
#include <tuple>
#include <vector>

#include "arrays.hpp"
#include "graphlode/locality/block_schedule.hpp"
#include "graphlode/locality/edge_rank.hpp"
#include "graphlode/locality/progressive.hpp"
#include "graphlode/measure/caches.hpp"

namespace graphlode::bind {
namespace {

using locality::edge_word;
using locality::sort_key;

sort_key key_of(bool by_destination) { return by_destination ? sort_key::destination : sort_key::source; }

void check_level(int lanes, int level) {
  if (lanes < 2 || lanes > locality::most_lanes) throw nb::value_error("lanes must be 2 .. 256");
  if (level < 1) throw nb::value_error("level must be at least 1");
}

void bind_progressive(nb::module_& m) {
  m.def(
      "locality_reorder",
      [](inout<edge_word> edges, int lanes, int level, int threads, control_words words) {
        check_level(lanes, level);
        const auto ctl = as_control(words);
        nb::gil_scoped_release nogil;
        locality::reorder({edges.data(), edges.size()}, lanes, level, threads, ctl);
      },
      nb::arg("edges").noconvert(), nb::arg("lanes"), nb::arg("level"), nb::arg("threads"),
      nb::arg("control").noconvert(), "One pass of progressive reordering over packed edges, in place.");
}

void check_ends(const edge_word* edges, std::size_t size, std::size_t num_vertices) {
  std::uint32_t most = 0;
  for (std::size_t i = 0; i < size; ++i)
    most = std::max({most, static_cast<std::uint32_t>(edges[i]), static_cast<std::uint32_t>(edges[i] >> 32)});
  if (size && most >= num_vertices) throw nb::value_error("an edge ends outside the vertices");
}

// PageRank over an edge list. The arrays belong to the caller and must stay where they are.
class edge_ranker {
 public:
  edge_ranker(inout<edge_word> edges, bool by_destination, inout<double> values, in<double> share, inout<double> sent,
              inout<double> sums)
      : edges_(edges), key_(key_of(by_destination)), values_(values), share_(share), sent_(sent), sums_(sums) {
    const auto n = values.size();
    if (share.size() != n || sent.size() != n || sums.size() != n)
      throw nb::value_error("values, share, sent and sums must be of the same length");
    check_ends(edges.data(), edges.size(), n);
  }

  // One iteration. With lanes = 0 the list is not reordered. Returns the sum of the changes of the values.
  double iterate(double damping, int lanes, int level, const control_words& words) {
    if (lanes != 0) check_level(lanes, level);
    const auto ctl = as_control(words);
    nb::gil_scoped_release nogil;
    if (lanes == 0)
      locality::send({edges_.data(), edges_.size()}, key_, sent_.data(), sums_.data(), ctl);
    else
      locality::send_and_reorder({edges_.data(), edges_.size()}, lanes, level, key_, sent_.data(), sums_.data(), ctl);
    return locality::settle({{values_.data(), values_.size()},
                             {share_.data(), share_.size()},
                             {sent_.data(), sent_.size()},
                             {sums_.data(), sums_.size()}},
                            damping);
  }

 private:
  inout<edge_word> edges_;
  sort_key key_;
  inout<double> values_;
  in<double> share_;
  inout<double> sent_, sums_;
};

void bind_edge_rank(nb::module_& m) {
  nb::class_<edge_ranker>(m, "EdgeRanker")
      .def(nb::init<inout<edge_word>, bool, inout<double>, in<double>, inout<double>, inout<double>>(),
           nb::arg("edges").noconvert(), nb::arg("by_destination"), nb::arg("values").noconvert(),
           nb::arg("share").noconvert(), nb::arg("sent").noconvert(), nb::arg("sums").noconvert())
      .def("iterate", &edge_ranker::iterate, nb::arg("damping"), nb::arg("lanes"), nb::arg("level"),
           nb::arg("control").noconvert());
}

using measure::cache_simulation;

measure::cache_shape as_shape(const std::tuple<std::int64_t, int, int>& given) {
  const auto [size, ways, line] = given;
  if (ways < 1 || line < 1 || !std::has_single_bit(static_cast<unsigned>(line)))
    throw nb::value_error("a cache needs at least one way and a line that is a power of two");
  const auto in_set = static_cast<std::int64_t>(ways) * line;
  if (size < in_set || size % in_set != 0 || !std::has_single_bit(static_cast<std::uint64_t>(size / in_set)))
    throw nb::value_error("a cache needs a number of sets that is a power of two");
  return {size, ways, line};
}

// Hits and misses per level, first of vertex data, then of the edge list. Resets the counts.
nb::list counts_of(cache_simulation& simulation) {
  nb::list found;
  for (std::size_t level = 0; level < simulation.num_levels(); ++level) {
    const auto& vertices = simulation.counts(level, measure::stream::vertices);
    const auto& edges = simulation.counts(level, measure::stream::edges);
    found.append(nb::make_tuple(vertices.hits, vertices.misses, edges.hits, edges.misses));
  }
  simulation.reset_counts();
  return found;
}

void bind_caches(nb::module_& m) {
  nb::class_<cache_simulation>(m, "CacheSimulation")
      .def(
          "__init__",
          [](cache_simulation* at, const std::vector<std::tuple<std::int64_t, int, int>>& levels,
             std::int64_t num_edges, std::int64_t edge_bytes, std::int64_t vertex_bytes, bool bypass) {
            if (levels.empty()) throw nb::value_error("there must be at least one level");
            std::vector<measure::cache_shape> shapes;
            for (const auto& level : levels) shapes.push_back(as_shape(level));
            new (at) cache_simulation(shapes, {num_edges, edge_bytes, vertex_bytes, bypass});
          },
          nb::arg("levels"), nb::arg("num_edges"), nb::arg("edge_bytes"), nb::arg("vertex_bytes"), nb::arg("bypass"))
      .def(
          "run_pass",
          [](cache_simulation& simulation, in<edge_word> edges, bool by_destination, int lanes, int level,
             control_words words) {
            if (lanes != 0) check_level(lanes, level);
            const auto ctl = as_control(words);
            {
              nb::gil_scoped_release nogil;
              const std::span<const edge_word> list(edges.data(), edges.size());
              if (lanes == 0)
                simulation.pass_in_order(list, key_of(by_destination), ctl);
              else
                simulation.pass_in_steps(list, key_of(by_destination), lanes, level, ctl);
            }
            return counts_of(simulation);
          },
          nb::arg("edges").noconvert(), nb::arg("by_destination"), nb::arg("lanes"), nb::arg("level"),
          nb::arg("control").noconvert(), "Hits and misses of a pass; lanes 0: in the order of the list.");
}

}  // namespace

void bind_locality(nb::module_& m) {
  bind_progressive(m);
  bind_edge_rank(m);
  bind_caches(m);
}

}  // namespace graphlode::bind
