#include "graphlode/io/scan.hpp"

#include <algorithm>
#include <array>

#include "graphlode/clones.hpp"
#include "graphlode/errors.hpp"

namespace graphlode::io {

std::string shown(const char* p, const char* end, char separator) {
  constexpr std::ptrdiff_t longest = 32;
  const char* stop = p;
  while (!at_line_end(stop, end) && !is_blank(*stop) && *stop != separator) ++stop;
  if (stop == p) return "nothing";
  std::string text = "\"";
  for (const char* q = p; q < std::min(stop, p + longest); ++q) {
    const auto c = static_cast<unsigned char>(*q);
    if (c >= 0x20 && c < 0x7F) {
      text += *q;
    } else {
      constexpr char hex[] = "0123456789abcdef";
      text += {'\\', 'x', hex[c >> 4], hex[c & 15]};
    }
  }
  return text + (stop - p > longest ? "...\"" : "\"");
}

GRAPHLODE_CLONES std::int64_t count_newlines(const char* begin, const char* end) {
  // Byte counters of one vector width, added up before they can overflow: the loop runs at memory speed.
  constexpr int width = 64;
  std::int64_t total = 0;
  while (end - begin >= width) {
    std::array<std::uint8_t, width> counters{};
    const int blocks = static_cast<int>(std::min<std::ptrdiff_t>((end - begin) / width, 255));
    for (int block = 0; block < blocks; ++block, begin += width)
      for (int i = 0; i < width; ++i) counters[i] = static_cast<std::uint8_t>(counters[i] + (begin[i] == '\n'));
    for (const auto counter : counters) total += counter;
  }
  return total + std::count(begin, end, '\n');
}

void raise_at(std::span<const char> text, std::int64_t first_line, const malformed& fault) {
  const auto line = first_line + count_newlines(text.data(), fault.where);
  throw input_error("line " + std::to_string(line) + ": " + fault.message);
}

}  // namespace graphlode::io
