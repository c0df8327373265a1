// page_pool.cpp - binding of the pool of a shard's pages on a GPU.
#include "page_pool.hpp"

#include <nanobind/stl/vector.h>

#include <algorithm>
#include <string>
#include <vector>

#include "../arrays.hpp"
#include "graphlode/cuda/page_pool.hpp"

namespace graphlode::bind {
namespace {

using cuda::page_pool;

template <class T>
std::span<const T> as_span(const in<T>& array) {
  return {array.data(), array.size()};
}

template <class T>
numpy_array<T> copied(std::span<const T> from) {
  buffer<T> copy(from.size());
  std::copy(from.begin(), from.end(), copy.begin());
  return to_numpy(std::move(copy));
}

std::span<const std::uint32_t> known(const page_pool& pool, const in<std::uint32_t>& pages) {
  if (!pool.knows(as_span(pages))) throw nb::value_error("a page is not in the pool");
  return as_span(pages);
}

nb::tuple add(page_pool& pool, const std::vector<std::uint64_t>& addresses, const std::vector<std::int64_t>& segments,
              std::uint64_t segment_bytes) {
  const auto done = pool.add(addresses, segments, segment_bytes);
  return nb::make_tuple(done.first_piece, done.begin, done.end);
}

void take(page_pool& pool, const inout<std::uint32_t>& into) {
  if (static_cast<std::int64_t>(into.size()) > pool.num_free())
    throw nb::value_error(("there are " + std::to_string(pool.num_free()) + " free pages").c_str());
  pool.take({into.data(), into.size()});
}

}  // namespace

void bind_page_pool(nb::module_& m) {
  using namespace nb::literals;
  nb::class_<page_pool>(
      m, "PagePool", "The pages of a shard: which are in use, by how many versions, and where each segment is stored.")
      .def(nb::init<std::int64_t>(), "segment_pages"_a)
      .def("copy", &page_pool::copy)
      .def("add", &add, "addresses"_a, "segments"_a, "segment_bytes"_a)
      .def("segments_with", &page_pool::segments_with, "more"_a)
      .def("drop_unused", &page_pool::drop_unused)
      .def(
          "keep_only",
          [](page_pool& pool, const in<std::uint32_t>& pages, std::int64_t most_free) {
            return pool.keep_only(known(pool, pages), most_free);
          },
          nb::arg("pages").noconvert(), "most_free"_a)
      .def("forget_tail", &page_pool::forget_tail)
      .def_prop_ro("segments_with_tail_forgotten", &page_pool::segments_with_tail_forgotten)
      .def("take", &take, nb::arg("into").noconvert())
      .def(
          "hold", [](page_pool& pool, const in<std::uint32_t>& pages) { pool.hold(known(pool, pages)); },
          nb::arg("pages").noconvert())
      .def(
          "release", [](page_pool& pool, const in<std::uint32_t>& pages) { pool.release(known(pool, pages)); },
          nb::arg("pages").noconvert())
      .def_prop_ro("num_free", &page_pool::num_free)
      .def_prop_ro("num_used", &page_pool::num_used)
      .def_prop_ro("num_pages", &page_pool::num_pages)
      .def_prop_ro(
          "free", [](const page_pool& pool) { return copied(pool.free()); }, nb::rv_policy::move)
      .def_prop_ro(
          "references", [](const page_pool& pool) { return copied(pool.references()); }, nb::rv_policy::move)
      .def(
          "addresses_of",
          [](const page_pool& pool, std::size_t begin, std::size_t end) {
            if (begin > end || end > pool.addresses().size()) throw nb::value_error("the table has fewer segments");
            return copied(pool.addresses().subspan(begin, end - begin));
          },
          "begin"_a, "end"_a, nb::rv_policy::move)
      .def_prop_ro("addresses", [](const page_pool& pool) { return copied(pool.addresses()); }, nb::rv_policy::move);
  m.def(
      "replace_pages",
      [](const in<std::uint32_t>& pages, const in<std::uint32_t>& ranges, const in<std::uint32_t>& fresh,
         const inout<std::uint32_t>& result, const inout<std::uint32_t>& replaced) {
        cuda::replace_pages(as_span(pages), as_span(ranges), as_span(fresh), {result.data(), result.size()},
                            {replaced.data(), replaced.size()});
      },
      nb::arg("pages").noconvert(), nb::arg("ranges").noconvert(), nb::arg("fresh").noconvert(),
      nb::arg("result").noconvert(), nb::arg("replaced").noconvert());
}

}  // namespace graphlode::bind
