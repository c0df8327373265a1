// text.cpp - the parallel parser of edge lists.
//
// The text is cut into chunks of equal size; a line belongs to the chunk in which it starts. A first pass counts the
// lines of each chunk at memory speed, which determines where its edges go in the output. So the second pass writes
// every edge once, in its final place, in file order. Only comments and blank lines between edges leave gaps, which are
// closed at the end. Line numbers are computed only for an error.
#include "graphlode/io/text.hpp"

#include <array>
#include <atomic>
#include <cstring>
#include <mutex>
#include <optional>

#include "graphlode/io/scan.hpp"
#include "graphlode/parallel.hpp"

namespace graphlode::io {
namespace {

struct chunk {
  const char* begin;       // start of its first line; == end if no line starts here
  const char* end;         // lines start before this
  std::int64_t offset;     // of its first edge in the output
  std::int64_t num_edges;  // the number of lines; after parsing, of edges
};

class line_parser {
 public:
  line_parser(std::span<const char> text, const text_layout& layout)
      : layout_(layout),
        end_(text.data() + text.size()),
        alternative_(layout.separator == ' ' ? '\t' : layout.separator) {
    for (const char c : layout.comments) comment_[static_cast<unsigned char>(c)] = true;
  }

  // Skips everything before the first edge and learns the number of columns from it. Returns the start of that edge.
  const char* begin(const char* p) {
    bool names_allowed = layout_.header;
    columns_ = layout_.columns ? layout_.columns : 2;
    if (end_ - p >= 3 && std::memcmp(p, "\xEF\xBB\xBF", 3) == 0) p += 3;  // byte order mark
    for (; p < end_; p = next_line(p, end_)) {
      const char* field = skip_blanks(p, end_);
      if (skipped(field)) continue;
      if (names_allowed && holds_names(field)) {
        names_allowed = false;
        continue;
      }
      if (!layout_.columns) columns_ = count_columns(field);
      return p;
    }
    return end_;
  }

  int columns() const { return columns_; }

  // Parses the lines of a chunk into `out`. Returns the number of edges.
  template <value_kind Values>
  std::int64_t parse(const chunk& lines, edge_columns& out) const {
    std::int64_t* src = out.src.data() + lines.offset;
    std::int64_t* dst = out.dst.data() + lines.offset;
    std::int64_t at = 0;
    for (const char* p = lines.begin; p < lines.end;) {
      row edge;
      // Almost every line of almost every file is plain: `digits separator digits [separator digits] newline`.
      if (end_ - p < plain_bytes || !parse_plain<Values>(p, edge)) {
        if (!parse_any<Values>(p, edge)) continue;
      }
      src[at] = edge.src;
      dst[at] = edge.dst;
      if constexpr (Values == value_kind::weights) out.weights[lines.offset + at] = edge.weight;
      if constexpr (Values == value_kind::times) out.times[lines.offset + at] = edge.time;
      ++at;
    }
    return at;
  }

 private:
  struct row {
    std::int64_t src = 0, dst = 0, time = 0;
    double weight = 0;
  };
  static constexpr std::ptrdiff_t plain_bytes = 2 + 2 * 17 + 33;  // the bytes that parse_plain may read

  bool skipped(const char* field) const {
    return at_line_end(field, end_) || comment_[static_cast<unsigned char>(*field)];
  }

  bool separates(char c) const { return c == layout_.separator || c == alternative_; }

  // Both ids start like a word: a line of names. A line with one number is malformed, not a header.
  bool holds_names(const char* field) const {
    const auto starts_name = [&](const char* p) {
      return p < end_ && ((*p | 32) >= 'a' && (*p | 32) <= 'z' ? true : *p == '_' || *p == '"' || *p == '\'');
    };
    if (!starts_name(field)) return false;
    const char* stop = line_end(field, end_);
    while (field < stop && !separates(*field)) ++field;
    return field < stop && starts_name(skip_blanks(field + 1, stop));
  }

  int count_columns(const char* p) const {
    int columns = 1;
    while (columns < 3 && !at_line_end(p, end_)) {
      while (p < end_ && *p != '\n' && *p != '\r' && !separates(*p)) ++p;
      const char* behind = skip_blanks(p, end_);
      if (layout_.separator != ' ') {
        if (p == end_ || *p != layout_.separator) break;
        p = behind = skip_blanks(p + 1, end_);
      } else if (at_line_end(behind, end_)) {
        break;
      }
      p = behind;
      ++columns;
    }
    return std::max(columns, 2);  // a single column is reported with its line when the edge is parsed
  }

  template <value_kind Values>
  bool parse_plain(const char*& p, row& edge) const {
    std::uint64_t number = 0;
    const char* q = p;
    if (layout_.tag) {
      if (q[0] != layout_.tag || q[1] != ' ') return false;
      q += 2;
    }
    int count = scan_short(q, number);
    q += count;
    if (count == 0 || !separates(*q)) return false;
    edge.src = static_cast<std::int64_t>(number);
    count = scan_short(++q, number);
    q += count;
    if (count == 0) return false;
    edge.dst = static_cast<std::int64_t>(number);
    if (layout_.num_vertices >= 0 && !number_vertices(edge)) return false;
    if (columns_ == 3) {
      if (!separates(*q)) return false;
      ++q;
      if constexpr (Values == value_kind::weights) {
        count = scan_short_real(q, edge.weight);
        if (count == 0 && scan_real(q, end_, edge.weight) != scanned::number) return false;
      } else {
        count = scan_short(q, number);
        if (count == 0) return false;
        edge.time = static_cast<std::int64_t>(number);
      }
      q += count;
      if (q == end_) return false;
    }
    if (*q == '\r' && ++q == end_) return false;  // a long real number may reach the end of the text
    if (*q != '\n') return false;
    p = q + 1;
    return true;
  }

  // Makes the ids of a format that numbers its vertices 0-based. Returns false if something must be reported.
  bool number_vertices(row& edge) const {
    const auto outside = [&](std::int64_t id) { return id < 1 || id > layout_.num_vertices; };
    if (outside(edge.src) || outside(edge.dst) || (layout_.lower_triangle && edge.dst > edge.src)) return false;
    --edge.src;
    --edge.dst;
    return true;
  }

  // Parses one line of any kind and moves p to the next line. Returns false if the line has no edge.
  template <value_kind Values>
  bool parse_any(const char*& p, row& edge) const {
    const char* q = skip_blanks(p, end_);
    if (skipped(q)) {
      p = next_line(q, end_);
      return false;
    }
    if (layout_.tag) q = behind_tag(q);
    edge.src = parse_id(q);
    if (!next_field(q)) throw malformed{q, "expected 2 columns, found 1"};
    edge.dst = parse_id(q);
    if (layout_.lower_triangle && edge.dst > edge.src)
      throw malformed{q, "an entry above the diagonal; a symmetric matrix stores the lower triangle"};
    const int columns = next_field(q) ? 3 : 2;
    if (columns != columns_)
      throw malformed{q, std::to_string(columns) + " columns where " + std::to_string(columns_) + " are expected" +
                             (layout_.columns ? "" : ", as in the first line of edges")};
    if (columns == 3) {
      if constexpr (Values == value_kind::weights) edge.weight = parse_weight(q);
      if constexpr (Values == value_kind::times) edge.time = parse_time(q);
      skip_rest(q);
    }
    p = next_line(q, end_);
    return true;
  }

  const char* behind_tag(const char* q) const {
    if (*q != layout_.tag || q + 1 >= end_ || !is_blank(q[1]))
      throw malformed{q, std::string("expected a line that starts with \"") + layout_.tag + "\", found " + show(q)};
    return skip_blanks(q + 1, end_);
  }

  std::int64_t parse_id(const char*& q) const {
    const char* start = q;
    std::int64_t id = 0;
    switch (scan_integer(q, end_, id)) {
      case scanned::nothing:
        throw malformed{q, "expected an integer id, found " + show(start)};
      case scanned::too_large:
        throw malformed{q, "the id " + show(start) + " does not fit in 64 bits"};
      case scanned::number:
        break;
    }
    if (!at_field_end(q)) throw malformed{q, "expected an integer id, found " + show(start)};
    if (layout_.num_vertices < 0) return id;
    if (id < 1 || id > layout_.num_vertices)
      throw malformed{q, "the vertex " + std::to_string(id) + " is not in 1.." + std::to_string(layout_.num_vertices)};
    return id - 1;
  }

  double parse_weight(const char*& q) const {
    const char* start = q;
    double weight = 0;
    const auto found = scan_real(q, end_, weight);
    if (found == scanned::too_large) throw malformed{q, "the weight " + show(start) + " does not fit in a double"};
    if (found == scanned::nothing || !at_field_end(q))
      throw malformed{q, "expected a finite number as weight, found " + show(start)};
    return weight;
  }

  std::int64_t parse_time(const char*& q) const {
    const char* start = q;
    std::int64_t time = 0;
    const auto found = scan_integer(q, end_, time);
    if (found == scanned::too_large) throw malformed{q, "the time " + show(start) + " does not fit in 64 bits"};
    if (found == scanned::nothing || !at_field_end(q))
      throw malformed{q, "expected an integer as time, found " + show(start)};
    return time;
  }

  bool at_field_end(const char* q) const { return at_line_end(q, end_) || is_blank(*q) || *q == layout_.separator; }

  // Moves from the end of a field to the next one. Returns false at the end of the line.
  bool next_field(const char*& q) const {
    q = skip_blanks(q, end_);
    if (at_line_end(q, end_)) return false;
    if (layout_.separator == ' ') return true;
    if (*q != layout_.separator)
      throw malformed{q, std::string("expected \"") + layout_.separator + "\" between fields, found " + show(q)};
    q = skip_blanks(q + 1, end_);
    return true;
  }

  // Further columns are ignored, but a bare carriage return would hide whole lines.
  void skip_rest(const char*& q) const {
    const char* stop = line_end(q, end_);
    const auto* bare = static_cast<const char*>(std::memchr(q, '\r', static_cast<std::size_t>(stop - q)));
    if (bare && bare + 1 != stop) throw malformed{bare, "a carriage return in the middle of the line"};
    q = stop;
  }

  std::string show(const char* field) const { return shown(field, end_, layout_.separator); }

  const text_layout& layout_;
  const char* end_;
  char alternative_;
  int columns_ = 2;
  std::array<bool, 256> comment_{};
};

// Finds where the lines of each chunk start, and how many start there.
buffer<chunk> split(const char* begin, const char* end, std::int64_t chunk_bytes, int threads, const control& ctl) {
  const std::int64_t num_chunks = (end - begin + chunk_bytes - 1) / chunk_bytes;
  buffer<chunk> chunks(static_cast<std::size_t>(num_chunks));
  parallel_chunks(0, num_chunks, 1, threads, ctl, [&](int, std::int64_t i, std::int64_t) {
    const char* from = begin + i * chunk_bytes;
    const char* to = i + 1 == num_chunks ? end : from + chunk_bytes;
    // A line starts after every newline in [from - 1, to - 1), and at the beginning of the text.
    const char* first = i == 0 ? from : next_line(from - 1, to - 1);
    const std::int64_t lines = first == to - 1 && i > 0 && first[-1] != '\n' ? 0 : 1 + count_newlines(first, to - 1);
    chunks[i] = {lines ? first : to, to, 0, lines};
  });
  std::int64_t offset = 0;
  for (auto& lines : chunks) {
    lines.offset = offset;
    offset += lines.num_edges;
  }
  return chunks;
}

template <class T>
void close_gaps(buffer<T>& column, const buffer<chunk>& chunks) {
  if (!column.size()) return;
  std::int64_t at = 0;
  for (const auto& lines : chunks) {
    if (at != lines.offset)
      std::memmove(column.data() + at, column.data() + lines.offset,
                   static_cast<std::size_t>(lines.num_edges) * sizeof(T));
    at += lines.num_edges;
  }
}

}  // namespace

edge_columns parse_edges(std::span<const char> text, const text_layout& layout, std::int64_t first_line,
                         std::int64_t chunk_bytes, std::int64_t max_bytes, int threads, const control& ctl) {
  line_parser parser(text, layout);
  const char* end = text.data() + text.size();
  const char* begin = parser.begin(text.data());
  auto chunks = split(begin, end, std::max<std::int64_t>(chunk_bytes, 1), threads, ctl);
  const auto num_chunks = static_cast<std::int64_t>(chunks.size());
  edge_columns out;
  out.columns = parser.columns();
  const auto num_lines =
      num_chunks ? static_cast<std::size_t>(chunks[num_chunks - 1].offset + chunks[num_chunks - 1].num_edges) : 0;
  const auto values = parser.columns() == 3 ? layout.values : value_kind::none;
  require_memory(static_cast<std::int64_t>(num_lines) * (values == value_kind::none ? 16 : 24), max_bytes);
  out.src = buffer<std::int64_t>(num_lines);
  out.dst = buffer<std::int64_t>(num_lines);
  if (values == value_kind::weights) out.weights = buffer<double>(num_lines);
  if (values == value_kind::times) out.times = buffer<std::int64_t>(num_lines);

  // The reported error is the first one in the text, so chunks before a failed one are still parsed.
  std::mutex mutex;
  std::optional<malformed> fault;
  std::atomic<std::int64_t> failed{num_chunks};
  parallel_chunks(0, num_chunks, 1, threads, ctl, [&](int, std::int64_t i, std::int64_t) {
    if (i > failed.load(std::memory_order_relaxed)) return;
    auto& lines = chunks[i];
    try {
      switch (values) {
        case value_kind::none:
          lines.num_edges = parser.parse<value_kind::none>(lines, out);
          break;
        case value_kind::weights:
          lines.num_edges = parser.parse<value_kind::weights>(lines, out);
          break;
        case value_kind::times:
          lines.num_edges = parser.parse<value_kind::times>(lines, out);
          break;
      }
    } catch (malformed& found) {
      const std::lock_guard lock(mutex);
      if (!fault || found.where < fault->where) {
        fault = std::move(found);
        failed.store(i, std::memory_order_relaxed);
      }
    }
    ctl.advance(lines.end - lines.begin);
  });
  if (fault) raise_at(text, first_line, *fault);

  for (const auto& lines : chunks) out.num_edges += lines.num_edges;
  if (out.num_edges != static_cast<std::int64_t>(num_lines)) {
    close_gaps(out.src, chunks);
    close_gaps(out.dst, chunks);
    close_gaps(out.weights, chunks);
    close_gaps(out.times, chunks);
  }
  return out;
}

}  // namespace graphlode::io
