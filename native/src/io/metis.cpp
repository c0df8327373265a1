// metis.cpp - the parallel parser of adjacency lines.
//
// As for edge lists, chunks of lines are parsed in parallel and a first pass finds where their output goes. Here the
// first pass must also count numbers, and blank lines matter: they are vertices without neighbors. Only a line that
// starts with % is not a vertex.
#include "graphlode/io/metis.hpp"

#include <atomic>
#include <bit>
#include <mutex>
#include <optional>

#include "graphlode/io/scan.hpp"
#include "graphlode/parallel.hpp"

namespace graphlode::io {
namespace {

struct chunk {
  const char* begin;
  const char* end;  // after its last line
  std::int64_t vertex, num_vertices;
  std::int64_t entry, num_entries;
  std::uint64_t
      fingerprint;  // entries above the diagonal minus those below; the sum over chunks is 0 if all is symmetric
};

// Cuts at line ends. Only the cut points are read.
buffer<chunk> split(std::span<const char> text, std::int64_t chunk_bytes) {
  const char* end = text.data() + text.size();
  const auto bytes = static_cast<std::int64_t>(text.size());
  buffer<chunk> chunks(static_cast<std::size_t>((bytes + chunk_bytes - 1) / chunk_bytes));
  const char* at = text.data();
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    const char* target = text.data() + std::min(bytes, static_cast<std::int64_t>(i + 1) * chunk_bytes);
    const char* stop = target <= at ? at : (target == end ? end : next_line(target - 1, end));
    chunks[i] = {at, stop, 0, 0, 0, 0, 0};
    at = stop;
  }
  return chunks;
}

// A 64-bit mixer in which every bit affects all others.
std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ (x >> 32)) * 0xD6E8FEB86659FD93u;
  x = (x ^ (x >> 32)) * 0xD6E8FEB86659FD93u;
  return x ^ (x >> 32);
}

class adjacency_parser {
 public:
  adjacency_parser(const adjacency_layout& layout) : layout_(layout), step_(layout.weighted ? 2 : 1) {}

  void count(chunk& lines) const {
    for (const char* p = lines.begin; p < lines.end; p = next_line(p, lines.end)) {
      if (*p == '%') continue;
      const char* stop = line_end(p, lines.end);
      std::int64_t numbers = 0;
      bool inside = false;
      for (const char* q = p; q < stop; ++q) {
        const bool field = static_cast<unsigned char>(*q) > ' ';
        numbers += field && !inside;
        inside = field;
      }
      ++lines.num_vertices;
      // Rounded up: a last neighbor without its weight is rejected only after it has a place.
      lines.num_entries += (std::max<std::int64_t>(numbers - layout_.skipped, 0) + step_ - 1) / step_;
    }
  }

  void parse(chunk& lines, adjacency& out) const {
    auto vertex = lines.vertex;
    auto entry = lines.entry;
    for (const char* p = lines.begin; p < lines.end; p = next_line(p, lines.end)) {
      if (*p == '%') continue;
      if (vertex >= layout_.num_vertices) {
        if (!at_line_end(skip_blanks(p, lines.end), lines.end))
          throw malformed{p, "a line after those of the " + std::to_string(layout_.num_vertices) + " vertices"};
        continue;
      }
      out.offsets[vertex] = entry;
      lines.fingerprint += parse_line(p, lines.end, vertex, entry, out);
      ++vertex;
    }
  }

 private:
  // Returns the line's part of the fingerprint.
  std::uint64_t parse_line(const char* p, const char* end, std::int64_t vertex, std::int64_t& entry,
                           adjacency& out) const {
    p = skip_blanks(p, end);
    std::uint64_t fingerprint = 0;
    for (int i = 0; i < layout_.skipped; ++i) {
      if (at_line_end(p, end))
        throw malformed{
            p, "expected " + std::to_string(layout_.skipped) + " numbers about the vertex, found " + std::to_string(i)};
      integer(p, end, "an integer about the vertex");
    }
    while (!at_line_end(p, end)) {
      const char* start = p;
      const auto neighbor = integer(p, end, "the number of a vertex");
      if (neighbor < 1 || neighbor > layout_.num_vertices)
        throw malformed{
            start, "the vertex " + std::to_string(neighbor) + " is not in 1.." + std::to_string(layout_.num_vertices)};
      if (neighbor - 1 == vertex)
        throw malformed{start, "vertex " + std::to_string(neighbor) + " lists itself; METIS files have no self-loops"};
      out.neighbors[entry] = neighbor - 1;
      const auto low = static_cast<std::uint64_t>(std::min(vertex, neighbor - 1));
      const auto high = static_cast<std::uint64_t>(std::max(vertex, neighbor - 1));
      auto edge = mixed(mixed(low + 1) + high);
      if (layout_.weighted) edge = mixed(edge ^ value(p, end, entry, out));
      fingerprint += neighbor - 1 > vertex ? edge : 0 - edge;
      ++entry;
    }
    return fingerprint;
  }

  // Parses the integer at p and moves p to the next field.
  static std::int64_t integer(const char*& p, const char* end, const char* expected) {
    const char* start = p;
    std::int64_t number = 0;
    std::uint64_t magnitude = 0;
    const int count = end - p > 16 ? scan_short(p, magnitude) : 0;
    if (count && (is_blank(p[count]) || p[count] == '\n')) {
      p += count;
      number = static_cast<std::int64_t>(magnitude);
    } else {
      const auto found = scan_integer(p, end, number);
      if (found == scanned::too_large) throw malformed{start, shown(start, end, ' ') + " does not fit in 64 bits"};
      if (found == scanned::nothing || !at_field_end(p, end))
        throw malformed{start, std::string("expected ") + expected + ", found " + shown(start, end, ' ')};
    }
    p = skip_blanks(p, end);
    return number;
  }

  // Reads and stores the value of an entry. Returns its bits.
  std::uint64_t value(const char*& p, const char* end, std::int64_t entry, adjacency& out) const {
    if (at_line_end(p, end)) throw malformed{p, "expected the weight of the last edge, found nothing"};
    if (layout_.values == value_kind::times) {
      const auto time = integer(p, end, "an integer as time");
      out.times[entry] = time;
      return static_cast<std::uint64_t>(time);
    }
    const char* start = p;
    double weight = 0;
    if (scan_real(p, end, weight) != scanned::number || !at_field_end(p, end))
      throw malformed{start, "expected a finite number as weight, found " + shown(start, end, ' ')};
    if (layout_.values == value_kind::weights) out.weights[entry] = weight;
    p = skip_blanks(p, end);
    return std::bit_cast<std::uint64_t>(weight + 0.0);  // -0.0 equals 0.0
  }

  static bool at_field_end(const char* p, const char* end) { return at_line_end(p, end) || is_blank(*p); }

  const adjacency_layout& layout_;
  std::int64_t step_;
};

}  // namespace

adjacency parse_adjacency(std::span<const char> text, const adjacency_layout& layout, std::int64_t first_line,
                          std::int64_t chunk_bytes, std::int64_t max_bytes, int threads, const control& ctl) {
  const adjacency_parser parser(layout);
  auto chunks = split(text, std::max<std::int64_t>(chunk_bytes, 1));
  const auto num_chunks = static_cast<std::int64_t>(chunks.size());
  parallel_chunks(0, num_chunks, 1, threads, ctl, [&](int, std::int64_t i, std::int64_t) { parser.count(chunks[i]); });
  std::int64_t vertices = 0, entries = 0;
  for (auto& lines : chunks) {
    lines.vertex = vertices;
    lines.entry = entries;
    vertices += lines.num_vertices;
    entries += lines.num_entries;
  }

  const bool kept = layout.weighted && layout.values != value_kind::none;
  require_memory(8 * (layout.num_vertices + 1) + (kept ? 16 : 8) * entries, max_bytes);
  adjacency out;
  out.offsets = buffer<std::int64_t>(static_cast<std::size_t>(layout.num_vertices) + 1);
  out.neighbors = buffer<std::int64_t>(static_cast<std::size_t>(entries));
  if (layout.weighted && layout.values == value_kind::weights) out.weights = buffer<double>(out.neighbors.size());
  if (layout.weighted && layout.values == value_kind::times) out.times = buffer<std::int64_t>(out.neighbors.size());

  std::mutex mutex;
  std::optional<malformed> fault;
  std::atomic<std::int64_t> failed{num_chunks};
  parallel_chunks(0, num_chunks, 1, threads, ctl, [&](int, std::int64_t i, std::int64_t) {
    if (i > failed.load(std::memory_order_relaxed)) return;
    try {
      parser.parse(chunks[i], out);
    } catch (malformed& found) {
      const std::lock_guard lock(mutex);
      if (!fault || found.where < fault->where) {
        fault = std::move(found);
        failed.store(i, std::memory_order_relaxed);
      }
    }
    ctl.advance(chunks[i].end - chunks[i].begin);
  });
  if (fault) raise_at(text, first_line, *fault);
  std::uint64_t fingerprint = 0;
  for (const auto& lines : chunks) fingerprint += lines.fingerprint;
  out.symmetric = fingerprint == 0;

  // The last line, if blank, may lack its newline. Then it does not exist in the text.
  const bool last_is_missing = vertices == layout.num_vertices - 1 && layout.skipped == 0;
  if (vertices < layout.num_vertices && !last_is_missing)
    raise_at(text, first_line,
             {text.data() + text.size(), "the file ends after the lines of " + std::to_string(vertices) + " of " +
                                             std::to_string(layout.num_vertices) + " vertices"});
  for (auto v = vertices; v <= layout.num_vertices; ++v) out.offsets[v] = entries;
  out.offsets[layout.num_vertices] = entries;
  return out;
}

}  // namespace graphlode::io
