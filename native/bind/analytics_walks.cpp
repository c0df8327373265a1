// analytics_walks.cpp - binding of the operations that work on any kind of rows: bfs, components, pagerank.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <span>
#include <vector>

#include "arrays.hpp"
#include "graphlode/analytics/bfs.hpp"
#include "graphlode/analytics/bfs_shard.hpp"
#include "graphlode/analytics/components.hpp"
#include "graphlode/analytics/pagerank.hpp"
#include "graphlode/store/row_view.hpp"

namespace graphlode::bind {
namespace {

template <class Rows>
nb::tuple search(const Rows& rows, std::int64_t source, bool symmetric, int threads, const control_words& words) {
  if (source < 0 || source >= rows.num_rows()) throw nb::value_error("the source is outside the graph");
  const auto ctl = as_control(words);
  analytics::bfs_tree<typename Rows::vertex> tree;
  {
    nb::gil_scoped_release nogil;
    tree = analytics::search_breadth_first(rows, source, symmetric, threads, ctl);
  }
  return nb::make_tuple(to_numpy(std::move(tree.levels)), to_numpy(std::move(tree.parents)), tree.reached, tree.depth);
}

template <class Rows>
nb::tuple label(const Rows& rows, bool symmetric, int threads, const control_words& words) {
  const auto ctl = as_control(words);
  analytics::component_labels<typename Rows::vertex> found;
  {
    nb::gil_scoped_release nogil;
    found = analytics::find_components(rows, symmetric, threads, ctl);
  }
  return nb::make_tuple(to_numpy(std::move(found.labels)), found.count);
}

template <class Rows>
nb::tuple rank(const Rows& rows, const in<double>& out_weights, const std::optional<in<double>>& weights,
               double damping, double tolerance, std::int64_t max_iterations, const std::optional<in<double>>& restart,
               int threads, const control_words& words) {
  const auto n = static_cast<std::size_t>(rows.num_rows());
  if (out_weights.size() != n) throw nb::value_error("out_weights has the wrong length");
  if (restart && restart->size() != n) throw nb::value_error("restart has the wrong length");
  if (weights && static_cast<std::int64_t>(weights->size()) != rows.num_entries())
    throw nb::value_error("weights has the wrong length");
  const analytics::pagerank_settings settings{damping, tolerance, max_iterations, weights ? weights->data() : nullptr,
                                              restart ? restart->data() : nullptr};
  const auto ctl = as_control(words);
  analytics::pagerank_values found;
  {
    nb::gil_scoped_release nogil;
    found = analytics::rank_pages(rows, out_weights.data(), settings, threads, ctl);
  }
  return nb::make_tuple(to_numpy(std::move(found.values)), found.iterations, found.converged);
}

template <class Rows>
auto pull(const Rows& rows, const in<double>& sent, int threads, const control_words& words) {
  if (static_cast<std::int64_t>(sent.size()) != rows.num_rows()) throw nb::value_error("sent has the wrong length");
  const auto ctl = as_control(words);
  buffer<double> sums;
  {
    nb::gil_scoped_release nogil;
    sums = analytics::sum_of_rows(rows, sent.data(), threads, ctl);
  }
  return to_numpy(std::move(sums));
}

template <class Vertex>
void bind_for(nb::module_& m) {
  using neighbors_in = in<Vertex>;
  m.def(
      "analytics_bfs",
      [](const in<std::int64_t>& offsets, const neighbors_in& neighbors, std::int64_t source, bool symmetric,
         int threads, const control_words& words) {
        return search(csr_rows(as_csr(offsets, neighbors)), source, symmetric, threads, words);
      },
      nb::arg("offsets").noconvert(), nb::arg("neighbors").noconvert(), nb::arg("source"), nb::arg("symmetric"),
      nb::arg("threads"), nb::arg("control").noconvert());
  m.def(
      "analytics_components",
      [](const in<std::int64_t>& offsets, const neighbors_in& neighbors, bool symmetric, int threads,
         const control_words& words) { return label(csr_rows(as_csr(offsets, neighbors)), symmetric, threads, words); },
      nb::arg("offsets").noconvert(), nb::arg("neighbors").noconvert(), nb::arg("symmetric"), nb::arg("threads"),
      nb::arg("control").noconvert());
  m.def(
      "analytics_pagerank",
      [](const in<std::int64_t>& offsets, const neighbors_in& neighbors, const in<double>& out_weights,
         const std::optional<in<double>>& weights, double damping, double tolerance, std::int64_t max_iterations,
         const std::optional<in<double>>& restart, int threads, const control_words& words) {
        return rank(csr_rows(as_csr(offsets, neighbors)), out_weights, weights, damping, tolerance, max_iterations,
                    restart, threads, words);
      },
      nb::arg("offsets").noconvert(), nb::arg("neighbors").noconvert(), nb::arg("out_weights").noconvert(),
      nb::arg("weights").noconvert().none(), nb::arg("damping"), nb::arg("tolerance"), nb::arg("max_iterations"),
      nb::arg("restart").noconvert().none(), nb::arg("threads"), nb::arg("control").noconvert());
}

packed::row_view as_rows(const packed::packed_rows& rows, std::int64_t num_rows) {
  if (num_rows < 0 || num_rows > rows.num_rows()) throw nb::value_error("the store has fewer rows");
  return {rows, num_rows};
}

// The same on the pages of a store. The caller must keep the array from changing meanwhile.
void bind_for_packed(nb::module_& m) {
  using packed::packed_rows;
  m.def(
      "analytics_bfs",
      [](const packed_rows& rows, std::int64_t num_rows, std::int64_t source, bool symmetric, int threads,
         const control_words& words) { return search(as_rows(rows, num_rows), source, symmetric, threads, words); },
      nb::arg("rows"), nb::arg("num_rows"), nb::arg("source"), nb::arg("symmetric"), nb::arg("threads"),
      nb::arg("control").noconvert());
  m.def(
      "analytics_components",
      [](const packed_rows& rows, std::int64_t num_rows, bool symmetric, int threads, const control_words& words) {
        return label(as_rows(rows, num_rows), symmetric, threads, words);
      },
      nb::arg("rows"), nb::arg("num_rows"), nb::arg("symmetric"), nb::arg("threads"), nb::arg("control").noconvert());
  m.def(
      "analytics_pagerank",
      [](const packed_rows& rows, std::int64_t num_rows, const in<double>& out_weights, double damping,
         double tolerance, std::int64_t max_iterations, const std::optional<in<double>>& restart, int threads,
         const control_words& words) {
        return rank(as_rows(rows, num_rows), out_weights, std::nullopt, damping, tolerance, max_iterations, restart,
                    threads, words);
      },
      nb::arg("rows"), nb::arg("num_rows"), nb::arg("out_weights").noconvert(), nb::arg("damping"),
      nb::arg("tolerance"), nb::arg("max_iterations"), nb::arg("restart").noconvert().none(), nb::arg("threads"),
      nb::arg("control").noconvert());
}

// The parts that shards of a store compute, and the function that joins components.
void bind_parts(nb::module_& m) {
  m.def(
      "analytics_pagerank_sums",
      [](const in<std::int64_t>& offsets, const in<std::int32_t>& neighbors, const in<double>& sent, int threads,
         const control_words& words) { return pull(csr_rows(as_csr(offsets, neighbors)), sent, threads, words); },
      nb::arg("offsets").noconvert(), nb::arg("neighbors").noconvert(), nb::arg("sent").noconvert(), nb::arg("threads"),
      nb::arg("control").noconvert());
  m.def(
      "analytics_pagerank_sums",
      [](const packed::packed_rows& rows, std::int64_t num_rows, const in<double>& sent, int threads,
         const control_words& words) { return pull(as_rows(rows, num_rows), sent, threads, words); },
      nb::arg("rows"), nb::arg("num_rows"), nb::arg("sent").noconvert(), nb::arg("threads"),
      nb::arg("control").noconvert());
  m.def(
      "analytics_join_components",
      [](const std::vector<in<std::int32_t>>& labels, int threads, const control_words& words) {
        std::vector<std::span<const std::int32_t>> parts;
        for (const auto& part : labels) {
          if (part.size() != labels.front().size()) throw nb::value_error("labels must be of the same vertices");
          parts.emplace_back(part.data(), part.size());
        }
        const auto ctl = as_control(words);
        analytics::component_labels<std::int32_t> found;
        {
          nb::gil_scoped_release nogil;
          found = analytics::join_components(parts, threads, ctl);
        }
        return nb::make_tuple(to_numpy(std::move(found.labels)), found.count);
      },
      nb::arg("labels"), nb::arg("threads"), nb::arg("control").noconvert());
}

using analytics::bfs_shard;

nb::tuple step(bfs_shard& shard, bfs_shard::found (bfs_shard::*way)(int, const control&), int threads,
               const control_words& words) {
  const auto ctl = as_control(words);
  bfs_shard::found found;
  {
    nb::gil_scoped_release nogil;
    found = (shard.*way)(threads, ctl);
  }
  return nb::make_tuple(to_numpy(std::move(found.vertices)), to_numpy(std::move(found.parents)));
}

void bind_shard(nb::module_& m) {
  nb::class_<bfs_shard>(m, "BfsShard")
      .def(
          "__init__",
          [](bfs_shard* at, const packed::packed_rows& rows, std::int64_t num_rows, const in<std::uint64_t>& own) {
            const auto view = as_rows(rows, num_rows);
            if (static_cast<std::int64_t>(own.size()) != (num_rows + 63) / 64)
              throw nb::value_error("own must have a bit for each row");
            new (at) bfs_shard(view, {own.data(), own.size()});
          },
          nb::arg("rows"), nb::arg("num_rows"), nb::arg("own").noconvert(), nb::keep_alive<1, 2>())
      .def(
          "enter",
          [](bfs_shard& shard, const in<std::int32_t>& frontier, int threads, const control_words& words) {
            const auto ctl = as_control(words);
            nb::gil_scoped_release nogil;
            return shard.enter({frontier.data(), frontier.size()}, threads, ctl);
          },
          nb::arg("frontier").noconvert(), nb::arg("threads"), nb::arg("control").noconvert())
      .def(
          "forwards",
          [](bfs_shard& shard, int threads, const control_words& words) {
            return step(shard, &bfs_shard::forwards, threads, words);
          },
          nb::arg("threads"), nb::arg("control").noconvert())
      .def(
          "backwards",
          [](bfs_shard& shard, int threads, const control_words& words) {
            return step(shard, &bfs_shard::backwards, threads, words);
          },
          nb::arg("threads"), nb::arg("control").noconvert());
}

}  // namespace

void bind_analytics_walks(nb::module_& m) {
  bind_for<std::int32_t>(m);
  bind_for<std::int64_t>(m);
  bind_for_packed(m);
  bind_parts(m);
  bind_shard(m);
}

}  // namespace graphlode::bind
