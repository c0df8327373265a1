// arrays.hpp - NumPy arrays in and out of the core. Arguments are bound with noconvert(), so a wrong dtype is an error
// and never a silent copy. Results pass their buffer on without copying.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <memory>

#include "graphlode/control.hpp"
#include "graphlode/csr.hpp"
#include "graphlode/memory.hpp"

namespace nb = nanobind;

namespace graphlode::bind {

template <class T>
using in = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using inout = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using numpy_array = nb::ndarray<nb::numpy, T, nb::ndim<1>>;
using control_words = inout<std::int64_t>;

inline control as_control(const control_words& words) {
  if (words.size() != 2) throw nb::value_error("control must have two 64-bit words");
  return control(words.data());
}

template <class T>
numpy_array<T> to_numpy(buffer<T>&& from) {
  auto owner = std::make_unique<buffer<T>>(std::move(from));
  T* data = owner->data();
  const std::size_t size = owner->size();
  nb::capsule keeper(owner.get(), [](void* p) noexcept { delete static_cast<buffer<T>*>(p); });
  owner.release();
  return numpy_array<T>(data, {size}, keeper);
}

template <class Vertex>
csr_view<Vertex> as_csr(const in<std::int64_t>& offsets, const in<Vertex>& neighbors) {
  if (offsets.size() == 0) throw nb::value_error("offsets must have at least one entry");
  if (offsets.data()[offsets.size() - 1] != static_cast<std::int64_t>(neighbors.size()))
    throw nb::value_error("offsets must end at the number of neighbors");
  return {offsets.data(), neighbors.data(), static_cast<std::int64_t>(offsets.size()) - 1};
}

void bind_memory(nb::module_& m);
void bind_io(nb::module_& m);
void bind_generate(nb::module_& m);
void bind_graph(nb::module_& m);
void bind_id_map(nb::module_& m);
void bind_packed(nb::module_& m);
void bind_analytics(nb::module_& m);
void bind_analytics_walks(nb::module_& m);
void bind_analytics_paths(nb::module_& m);
void bind_mining(nb::module_& m);
void bind_mining_lists(nb::module_& m);
void bind_mining_maximal(nb::module_& m);
void bind_motifs(nb::module_& m);
void bind_mining_motif_parts(nb::module_& m);
void bind_locality(nb::module_& m);
void bind_tiles(nb::module_& m);

}  // namespace graphlode::bind
