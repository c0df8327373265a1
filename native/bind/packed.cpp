// packed.cpp - binding of the packed array behind a store, and of the plan of an update.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>

#include <optional>

#include "arrays.hpp"
#include "graphlode/errors.hpp"
#include "graphlode/store/buckets.hpp"
#include "graphlode/store/packed_rows.hpp"
#include "graphlode/store/pair_keys.hpp"
#include "graphlode/store/update_plan.hpp"

namespace graphlode::bind {
namespace {

using packed::packed_rows;
using packed::update_plan;

constexpr std::int64_t most_rows = (std::int64_t{1} << 31) - 1;

std::int64_t accepted_rows(std::int64_t num_rows) {
  if (num_rows < 0 || num_rows > most_rows)
    throw input_error("num_rows must be 0 .. 2^31 - 1, got " + std::to_string(num_rows));
  return num_rows;
}

packed::path path_of(const std::string& name) {
  if (name == "in place") return packed::path::in_place;
  if (name == "merge") return packed::path::merge;
  if (name == "climb") return packed::path::climb;
  throw input_error("unknown path " + name);
}

nb::tuple split(const in<std::uint64_t>& keys, const in<std::int64_t>& owners, std::int64_t num_owners, int threads,
                const control_words& words) {
  if (owners.size() != packed::num_buckets) throw nb::value_error("owners must have one entry per bucket");
  const std::span<const std::int64_t> by_bucket{owners.data(), owners.size()};
  for (const auto owner : by_bucket)
    if (owner < 0 || owner >= num_owners) throw nb::value_error("an owner is out of range");
  const auto ctl = as_control(words);
  packed::owned_places found;
  {
    nb::gil_scoped_release nogil;
    found = packed::split_by_owner({keys.data(), keys.size()}, by_bucket, num_owners, threads, ctl);
  }
  return nb::make_tuple(to_numpy(std::move(found.places)), to_numpy(std::move(found.begins)));
}

template <class Id>
nb::tuple pair_keys(const in<Id>& rows, const in<Id>& neighbors, std::int64_t num_rows, bool both, int threads) {
  if (rows.size() != neighbors.size()) throw nb::value_error("neighbors must be as long as rows");
  packed::pair_keys found;
  {
    nb::gil_scoped_release nogil;
    found = packed::keys_of_pairs<Id>({rows.data(), rows.size()}, {neighbors.data(), neighbors.size()},
                                      accepted_rows(num_rows), both, threads);
  }
  return nb::make_tuple(to_numpy(std::move(found.keys)), found.self_loops);
}

template <class Id, class Value>
numpy_array<Value> pair_values(const in<Id>& rows, const in<Id>& neighbors, const in<Value>& values, bool both,
                               int threads) {
  if (rows.size() != neighbors.size() || rows.size() != values.size())
    throw nb::value_error("neighbors and values must be as long as rows");
  buffer<Value> found;
  {
    nb::gil_scoped_release nogil;
    found = packed::values_of_pairs<Id, Value>({rows.data(), rows.size()}, {neighbors.data(), neighbors.size()},
                                               {values.data(), values.size()}, both, threads);
  }
  return to_numpy(std::move(found));
}

template <class Id, class Value>
void bind_pair_values(nb::module_& m) {
  using namespace nb::literals;
  m.def("packed_pair_values", &pair_values<Id, Value>, nb::arg("rows").noconvert(), nb::arg("neighbors").noconvert(),
        nb::arg("values").noconvert(), "both"_a, "threads"_a);
}

template <class Id>
void bind_pair_keys(nb::module_& m) {
  using namespace nb::literals;
  bind_pair_values<Id, bool>(m);
  bind_pair_values<Id, double>(m);
  m.def("packed_pair_keys", &pair_keys<Id>, nb::arg("rows").noconvert(), nb::arg("neighbors").noconvert(), "num_rows"_a,
        "both"_a, "threads"_a);
}

std::unique_ptr<update_plan> prepare(packed_rows& rows, const in<std::uint64_t>& keys,
                                     const std::optional<in<bool>>& deletes, const std::optional<in<double>>& weights,
                                     const std::string& path, int threads, const control_words& words) {
  if (deletes && deletes->size() != keys.size()) throw nb::value_error("deletes must be as long as keys");
  if (weights && weights->size() != keys.size()) throw nb::value_error("weights must be as long as keys");
  if (weights && !rows.weighted()) throw input_error("the array has no weights");
  const auto ctl = as_control(words);
  const packed::batch_view batch{
      {keys.data(), keys.size()}, deletes ? deletes->data() : nullptr, weights ? weights->data() : nullptr};
  const auto by = path_of(path);
  nb::gil_scoped_release nogil;
  return std::make_unique<update_plan>(rows, batch, by, threads, ctl);
}

nb::tuple commit(update_plan& plan) {
  packed::change done;
  {
    nb::gil_scoped_release nogil;
    done = plan.commit();
  }
  return nb::make_tuple(done.inserted, done.deleted, done.changed, done.written.slots, done.written.rebalances);
}

nb::object or_none(buffer<double>&& weights, bool weighted) {
  return weighted ? nb::cast(to_numpy(std::move(weights))) : nb::none();
}

nb::tuple compressed(const packed_rows& rows, int threads, const control_words& words) {
  const auto ctl = as_control(words);
  packed_rows::arrays result;
  {
    nb::gil_scoped_release nogil;
    result = rows.compressed(threads, ctl);
  }
  return nb::make_tuple(to_numpy(std::move(result.rows.offsets)), to_numpy(std::move(result.rows.neighbors)),
                        or_none(std::move(result.weights), rows.weighted()));
}

nb::tuple as_tuple(packed_rows::entries&& found, bool weighted) {
  return nb::make_tuple(to_numpy(std::move(found.keys)), or_none(std::move(found.weights), weighted));
}

nb::tuple rows_in(const packed_rows& rows, const in<bool>& buckets, int threads, const control_words& words) {
  if (buckets.size() != packed::num_buckets) throw nb::value_error("buckets must be 1,024 booleans");
  const auto ctl = as_control(words);
  packed_rows::entries found;
  {
    nb::gil_scoped_release nogil;
    found = rows.rows_in({buckets.data(), buckets.size()}, threads, ctl);
  }
  return as_tuple(std::move(found), rows.weighted());
}

nb::tuple row(const packed_rows& rows, std::int64_t row) {
  if (row < 0 || row >= rows.num_rows())
    throw input_error("row " + std::to_string(row) + " is not one of " + std::to_string(rows.num_rows()));
  return as_tuple(rows.row(row), rows.weighted());
}

numpy_array<std::int64_t> degrees(const packed_rows& rows, int threads, const control_words& words) {
  const auto ctl = as_control(words);
  buffer<std::int64_t> result;
  {
    nb::gil_scoped_release nogil;
    result = rows.degrees(threads, ctl);
  }
  return to_numpy(std::move(result));
}

void contains(const packed_rows& rows, const in<std::uint64_t>& keys, const inout<bool>& found) {
  if (keys.size() != found.size()) throw nb::value_error("found must be as long as keys");
  nb::gil_scoped_release nogil;
  rows.contains({keys.data(), keys.size()}, found.data());
}

nb::dict statistics(const packed_rows& rows) {
  const auto figures = rows.statistics();
  nb::list by_level;
  for (const double density : figures.density_by_level) by_level.append(density);
  nb::dict result;
  result["entries"] = figures.entries;
  result["capacity"] = figures.capacity;
  result["pages"] = figures.pages;
  result["density"] = figures.density;
  result["density_by_level"] = by_level;
  result["shared_pages"] = figures.shared_pages;
  return result;
}

}  // namespace

void bind_packed(nb::module_& m) {
  using namespace nb::literals;
  nb::class_<packed_rows>(m, "PackedRows")
      .def(
          "__init__",
          [](packed_rows* at, std::int64_t num_rows, bool weighted) {
            new (at) packed_rows(accepted_rows(num_rows), weighted);
          },
          "num_rows"_a, "weighted"_a)
      .def_prop_ro("num_rows", &packed_rows::num_rows)
      .def_prop_ro("num_entries", &packed_rows::num_entries)
      .def_prop_ro("weighted", &packed_rows::weighted)
      .def_prop_ro("nbytes", &packed_rows::bytes)
      .def(
          "resize", [](packed_rows& rows, std::int64_t n) { rows.resize(accepted_rows(n)); }, "num_rows"_a)
      .def("fork", &packed_rows::fork, nb::call_guard<nb::gil_scoped_release>())
      .def("compressed", &compressed, "threads"_a, nb::arg("control").noconvert())
      .def("degrees", &degrees, "threads"_a, nb::arg("control").noconvert())
      .def("contains", &contains, nb::arg("keys").noconvert(), nb::arg("found").noconvert())
      .def("row", &row, "row"_a)
      .def("rows_in", &rows_in, nb::arg("buckets").noconvert(), "threads"_a, nb::arg("control").noconvert())
      .def("statistics", &statistics)
      .def("check", &packed_rows::check, nb::call_guard<nb::gil_scoped_release>());
  nb::class_<update_plan>(m, "UpdatePlan").def("commit", &commit);
  m.def("packed_split", &split, nb::arg("keys").noconvert(), nb::arg("owners").noconvert(), "num_owners"_a, "threads"_a,
        nb::arg("control").noconvert());
  bind_pair_keys<std::int32_t>(m);
  bind_pair_keys<std::int64_t>(m);
  m.def("packed_prepare", &prepare, "rows"_a, nb::arg("keys").noconvert(), nb::arg("deletes").noconvert().none(),
        nb::arg("weights").noconvert().none(), "path"_a, "threads"_a, nb::arg("control").noconvert(),
        nb::keep_alive<0, 1>());
}

}  // namespace graphlode::bind
