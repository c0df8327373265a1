// io.cpp - binding of the stage io.
#include <nanobind/stl/string.h>

#include <string>

#include "arrays.hpp"
#include "graphlode/io/file.hpp"
#include "graphlode/io/format.hpp"
#include "graphlode/io/metis.hpp"
#include "graphlode/io/text.hpp"

namespace graphlode::bind {
namespace {

using bytes = in<std::uint8_t>;
using integers = in<std::int64_t>;
using reals = in<double>;

std::span<const char> as_text(const bytes& text) { return {reinterpret_cast<const char*>(text.data()), text.size()}; }

template <class T>
std::span<const T> as_span(const in<T>& array) {
  return {array.data(), array.size()};
}

io::value_kind as_kind(const std::string& values) {
  if (values == "weights") return io::value_kind::weights;
  if (values == "times") return io::value_kind::times;
  if (values == "none") return io::value_kind::none;
  throw nb::value_error("values must be weights, times or none");
}

char as_char(const std::string& text) {
  if (text.size() > 1) throw nb::value_error("expected at most one character");
  return text.empty() ? '\0' : text[0];
}

nb::object values_to_numpy(buffer<double>&& weights, buffer<std::int64_t>&& times, io::value_kind kept) {
  switch (kept) {
    case io::value_kind::weights:
      return nb::cast(to_numpy(std::move(weights)));
    case io::value_kind::times:
      return nb::cast(to_numpy(std::move(times)));
    case io::value_kind::none:
      break;
  }
  return nb::none();
}

numpy_array<std::uint8_t> read_file(int descriptor, std::int64_t size, int threads, const control_words& words) {
  const auto ctl = as_control(words);
  buffer<std::uint8_t> text;
  {
    nb::gil_scoped_release release;
    text = io::read_file(descriptor, size, threads, ctl);
  }
  return to_numpy(std::move(text));
}

nb::tuple parse_edges(const bytes& text, const std::string& separator, const std::string& comments,
                      const std::string& tag, bool header, int columns, const std::string& values,
                      std::int64_t num_vertices, bool lower_triangle, std::int64_t first_line, std::int64_t chunk_bytes,
                      std::int64_t max_bytes, int threads, const control_words& words) {
  const io::text_layout layout{as_char(separator), comments,     as_char(tag),  header, columns,
                               as_kind(values),    num_vertices, lower_triangle};
  const auto ctl = as_control(words);
  io::edge_columns found;
  {
    nb::gil_scoped_release release;
    found = io::parse_edges(as_text(text), layout, first_line, chunk_bytes, max_bytes, threads, ctl);
  }
  const auto kept = found.columns == 3 ? layout.values : io::value_kind::none;
  auto third = values_to_numpy(std::move(found.weights), std::move(found.times), kept);
  return nb::make_tuple(found.num_edges, to_numpy(std::move(found.src)), to_numpy(std::move(found.dst)), third);
}

nb::tuple parse_adjacency(const bytes& text, std::int64_t num_vertices, int skipped, bool weighted,
                          const std::string& values, std::int64_t first_line, std::int64_t chunk_bytes,
                          std::int64_t max_bytes, int threads, const control_words& words) {
  const io::adjacency_layout layout{num_vertices, skipped, weighted, as_kind(values)};
  const auto ctl = as_control(words);
  io::adjacency found;
  {
    nb::gil_scoped_release release;
    found = io::parse_adjacency(as_text(text), layout, first_line, chunk_bytes, max_bytes, threads, ctl);
  }
  auto third = values_to_numpy(std::move(found.weights), std::move(found.times),
                               weighted ? layout.values : io::value_kind::none);
  return nb::make_tuple(to_numpy(std::move(found.offsets)), to_numpy(std::move(found.neighbors)), third,
                        found.symmetric);
}

nb::bytes to_bytes(const io::formatted& lines) { return nb::bytes(lines.text.data(), lines.size); }

nb::bytes format_edges(const integers& src, const integers& dst, const reals& weights, const integers& times,
                       const std::string& prefix, const std::string& separator, std::int64_t base) {
  io::formatted lines;
  {
    nb::gil_scoped_release release;
    lines = io::format_edges(as_span(src), as_span(dst), as_span(weights), as_span(times), prefix, as_char(separator),
                             base);
  }
  return to_bytes(lines);
}

nb::bytes format_adjacency(const integers& offsets, const integers& neighbors, const reals& weights,
                           const integers& times) {
  io::formatted lines;
  {
    nb::gil_scoped_release release;
    lines = io::format_adjacency(as_span(offsets), as_span(neighbors), as_span(weights), as_span(times));
  }
  return to_bytes(lines);
}

}  // namespace

void bind_io(nb::module_& m) {
  m.def("read_file", &read_file, nb::arg("descriptor"), nb::arg("size"), nb::kw_only(), nb::arg("threads"),
        nb::arg("control").noconvert(), "The first bytes of an open regular file.");
  m.def("parse_edges", &parse_edges, nb::arg("text").noconvert(), nb::kw_only(), nb::arg("separator"),
        nb::arg("comments"), nb::arg("tag"), nb::arg("header"), nb::arg("columns"), nb::arg("values"),
        nb::arg("num_vertices"), nb::arg("lower_triangle"), nb::arg("first_line"), nb::arg("chunk_bytes"),
        nb::arg("max_bytes"), nb::arg("threads"), nb::arg("control").noconvert(),
        "Edges of a text, in its order: (count, src, dst, values or None); the arrays may be longer than count.");
  m.def("parse_adjacency", &parse_adjacency, nb::arg("text").noconvert(), nb::kw_only(), nb::arg("num_vertices"),
        nb::arg("skipped"), nb::arg("weighted"), nb::arg("values"), nb::arg("first_line"), nb::arg("chunk_bytes"),
        nb::arg("max_bytes"), nb::arg("threads"), nb::arg("control").noconvert(),
        "Adjacency lines: (offsets, neighbors, values or None, symmetric).");
  m.def("format_edges", &format_edges, nb::arg("src").noconvert(), nb::arg("dst").noconvert(),
        nb::arg("weights").noconvert(), nb::arg("times").noconvert(), nb::kw_only(), nb::arg("prefix"),
        nb::arg("separator"), nb::arg("base"), "Edges as lines of text.");
  m.def("format_adjacency", &format_adjacency, nb::arg("offsets").noconvert(), nb::arg("neighbors").noconvert(),
        nb::arg("weights").noconvert(), nb::arg("times").noconvert(), "Rows of neighbors as lines of text.");
}

}  // namespace graphlode::bind
