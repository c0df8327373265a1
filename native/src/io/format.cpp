#include "graphlode/io/format.hpp"

#include <charconv>
#include <cstring>

#include "graphlode/errors.hpp"

namespace graphlode::io {
namespace {

constexpr std::size_t longest_integer = 20;  // a sign and 19 digits
constexpr std::size_t longest_real = 24;     // sign, 17 digits, point, exponent

template <class Number>
char* put(char* at, Number number) {
  return std::to_chars(at, at + longest_real + 8, number).ptr;  // the callers leave enough room
}

}  // namespace

formatted format_edges(std::span<const std::int64_t> src, std::span<const std::int64_t> dst,
                       std::span<const double> weights, std::span<const std::int64_t> times, const std::string& prefix,
                       char separator, std::int64_t base) {
  const auto fits = [&](std::size_t size) { return size == 0 || size == src.size(); };
  if (dst.size() != src.size() || !fits(weights.size()) || !fits(times.size()))
    throw input_error("the columns of an edge list must be equally long");
  formatted out;
  out.text = buffer<char>(src.size() * (prefix.size() + 2 * longest_integer + longest_real + 4) + 32);
  char* at = out.text.data();
  for (std::size_t i = 0; i < src.size(); ++i) {
    std::memcpy(at, prefix.data(), prefix.size());
    at = put(at + prefix.size(), src[i] + base);
    *at++ = separator;
    at = put(at, dst[i] + base);
    if (!weights.empty() || !times.empty()) {
      *at++ = separator;
      at = weights.empty() ? put(at, times[i]) : put(at, weights[i]);
    }
    *at++ = '\n';
  }
  out.size = static_cast<std::size_t>(at - out.text.data());
  return out;
}

formatted format_adjacency(std::span<const std::int64_t> offsets, std::span<const std::int64_t> neighbors,
                           std::span<const double> weights, std::span<const std::int64_t> times) {
  const auto fits = [&](std::size_t size) { return size == 0 || size == neighbors.size(); };
  if (offsets.empty() || static_cast<std::size_t>(offsets.back() - offsets.front()) != neighbors.size() ||
      !fits(weights.size()) || !fits(times.size()))
    throw input_error("offsets, neighbors and values of an adjacency must agree");
  formatted out;
  out.text = buffer<char>(neighbors.size() * (longest_integer + longest_real + 2) + offsets.size() + 32);
  char* at = out.text.data();
  for (std::size_t v = 0; v + 1 < offsets.size(); ++v) {
    const char* start = at;
    for (auto i = offsets[v] - offsets[0]; i < offsets[v + 1] - offsets[0]; ++i) {
      const auto entry = static_cast<std::size_t>(i);
      if (at != start) *at++ = ' ';
      at = put(at, neighbors[entry] + 1);
      if (!weights.empty() || !times.empty()) {
        *at++ = ' ';
        at = weights.empty() ? put(at, times[entry]) : put(at, weights[entry]);
      }
    }
    *at++ = '\n';
  }
  out.size = static_cast<std::size_t>(at - out.text.data());
  return out;
}

}  // namespace graphlode::io
