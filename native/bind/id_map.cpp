// id_map.cpp - binding of the map from original ids to positions.
#include "graphlode/graph/id_map.hpp"

#include <nanobind/stl/optional.h>

#include <optional>

#include "arrays.hpp"
#include "graphlode/errors.hpp"

namespace graphlode::bind {
namespace {

using graph::id_arrival;
using graph::id_map;

numpy_array<std::int64_t> find(const id_map& map, const in<std::int64_t>& ids, std::int64_t below) {
  buffer<std::int64_t> positions;
  {
    nb::gil_scoped_release nogil;
    positions = buffer<std::int64_t>(ids.size());
    map.find({ids.data(), ids.size()}, below, positions.data());
  }
  return to_numpy(std::move(positions));
}

nb::object names(const id_map& map) {
  using held_names = std::shared_ptr<const buffer<std::int64_t>>;
  const auto count = static_cast<std::size_t>(map.count());  // before the names, which may be more by then
  auto owner = std::make_unique<held_names>(map.names());
  if (!*owner) return nb::none();
  const auto* const data = (*owner)->data();
  nb::capsule keeper(owner.get(), [](void* p) noexcept { delete static_cast<held_names*>(p); });
  owner.release();
  return nb::cast(numpy_array<const std::int64_t>(data, {count}, keeper));
}

template <class Id>
nb::tuple admit(const id_map& map, const in<Id>& src, const in<Id>& dst, const std::optional<in<bool>>& gone,
                bool all_gone, std::int64_t most, int threads, const control_words& words) {
  if (src.size() != dst.size()) throw nb::value_error("dst must be as long as src");
  if (gone && gone->size() != src.size()) throw nb::value_error("gone must be as long as src");
  const auto ctl = as_control(words);
  const graph::named_edges<Id> edges{
      {src.data(), src.size()}, {dst.data(), dst.size()}, gone ? gone->data() : nullptr, all_gone};
  graph::id_admission found;
  {
    nb::gil_scoped_release nogil;
    found = map.admit(edges, most, threads, ctl);
  }
  nb::object arrival = nb::none();
  if (found.arrival.ids.size() > 0)
    arrival = nb::cast(std::make_unique<id_arrival>(std::move(found.arrival)).release(), nb::rv_policy::take_ownership);
  return nb::make_tuple(to_numpy(std::move(found.src)), to_numpy(std::move(found.dst)), found.dropped,
                        found.num_vertices, arrival);
}

template <class Id>
void bind_admit(nb::class_<id_map>& map) {
  using namespace nb::literals;
  map.def("admit", &admit<Id>, nb::arg("src").noconvert(), nb::arg("dst").noconvert(),
          nb::arg("gone").noconvert().none(), "all_gone"_a, "most"_a, "threads"_a, nb::arg("control").noconvert(),
          "Positions of both ends, deletions dropped, vertices afterwards, and what to keep or None; changes nothing.");
}

}  // namespace

void bind_id_map(nb::module_& m) {
  using namespace nb::literals;
  nb::class_<id_arrival>(m, "IdArrival", "New ids of a batch, with the memory that they need");
  nb::class_<id_map> map(m, "IdMap", "From original ids to positions, growing as batches arrive");
  map.def(nb::init<>())
      .def("__len__", &id_map::count)
      .def("find", &find, nb::arg("ids").noconvert(), "below"_a,
           "The position of each id; -1 if it is not among the first `below`.")
      .def("names", &names, nb::sig("def names(self) -> NDArray[numpy.int64] | None"),
           "The ids in order of arrival, not copied; None while they are the positions.")
      .def(
          "keep",
          [](id_map& ids, id_arrival& arrival) {
            if (!ids.is_next(arrival)) throw input_error("other ids have arrived since the batch was admitted");
            nb::gil_scoped_release nogil;
            ids.keep(arrival);
          },
          "arrival"_a, "Make the new ids of a batch permanent; cannot fail.")
      .def_prop_ro("nbytes", &id_map::bytes);
  bind_admit<std::int32_t>(map);
  bind_admit<std::int64_t>(map);
}

}  // namespace graphlode::bind
