// scan.hpp - parses numbers in text that may end anywhere, and reports the line of an error.
//
// The scanners never read beyond `end`. The exception is the fast path: `scan_short` takes eight digits with one load
// and three multiplications and may read up to 16 bytes, which the caller must guarantee.
#pragma once
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>

#include "graphlode/errors.hpp"

namespace graphlode::io {

// A malformed place in the text. It is converted to an input_error with its line number once, at the end.
struct malformed {
  const char* where;
  std::string message;
};

enum class scanned { number, nothing, too_large };

inline bool is_blank(char c) { return c == ' ' || c == '\t'; }
inline bool is_digit(char c) { return static_cast<unsigned char>(c - '0') < 10; }

inline const char* skip_blanks(const char* p, const char* end) {
  while (p < end && is_blank(*p)) ++p;
  return p;
}

inline const char* line_end(const char* p, const char* end) {
  const auto* found = static_cast<const char*>(std::memchr(p, '\n', static_cast<std::size_t>(end - p)));
  return found ? found : end;
}

// The start of the line after the line of `p`.
inline const char* next_line(const char* p, const char* end) {
  p = line_end(p, end);
  return p < end ? p + 1 : end;
}

// Whether only blanks and at most one carriage return are left on the line.
inline bool at_line_end(const char* p, const char* end) {
  if (p == end || *p == '\n') return true;
  return *p == '\r' && (p + 1 == end || p[1] == '\n');
}

// Parses the digits at `p`, at most eight. Reads eight bytes.
inline int scan_eight(const char* p, std::uint64_t& value) {
  static_assert(std::endian::native == std::endian::little, "the first digit must be the lowest byte");
  std::uint64_t word;
  std::memcpy(&word, p, 8);
  word ^= 0x3030303030303030u;  // digits become 0..9
  // The high bit of a byte is set if it is not a digit. Carries only affect bytes behind the first such byte.
  const std::uint64_t others = ((word + 0x7676767676767676u) | word) & 0x8080808080808080u;
  const int count = std::countr_zero(others) >> 3;  // 8 if all are digits
  if (count == 0) return 0;
  word <<= 64 - 8 * count;  // put zeros in front
  word = word * 10 + (word >> 8);
  value = ((word & 0x000000FF000000FFu) * 0x000F424000000064u +
           ((word >> 16) & 0x000000FF000000FFu) * 0x0000271000000001u) >>
          32;
  return count;
}

// Parses the unsigned number at `p` if it has at most 16 digits. Reads 16 bytes and returns the number of digits. If a
// 17th digit follows, the caller finds a digit where it expects a separator.
inline int scan_short(const char* p, std::uint64_t& value) {
  static constexpr std::uint64_t powers[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};
  const int count = scan_eight(p, value);
  if (count < 8) [[likely]]
    return count;
  std::uint64_t low = 0;
  const int more = scan_eight(p + 8, low);
  value = value * powers[more] + low;
  return 8 + more;
}

// Parses the plain decimal `digits[.digits]` at `p` if a single rounding makes it a double: both the digits as an
// integer and the power of ten are exact, so their quotient is the nearest double. Reads 33 bytes. Returns the number
// of characters, or 0 if the number has another form.
inline int scan_short_real(const char* p, double& value) {
  static constexpr double powers[] = {1e0, 1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7, 1e8,
                                      1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16};
  static constexpr std::uint64_t exact = std::uint64_t{1} << 53;
  std::uint64_t whole = 0, part = 0;
  const int before = scan_short(p, whole);
  if (before == 0 || before == 16) return 0;
  if (p[before] != '.') {
    value = static_cast<double>(whole);
    return before;
  }
  const int after = scan_short(p + before + 1, part);
  if (before + after > 16) return 0;  // up to here, digits cannot overflow 64 bits
  auto power = std::uint64_t{1};
  for (int i = 0; i < after; ++i) power *= 10;
  const auto digits = whole * power + part;
  if (digits > exact) return 0;
  value = static_cast<double>(digits) / powers[after];
  return before + 1 + after;
}

// Parses any signed 64-bit integer. Moves `p` behind it on success, otherwise not at all.
inline scanned scan_integer(const char*& p, const char* end, std::int64_t& value) {
  const char* q = p;
  const bool negative = q < end && *q == '-';
  if (q < end && (*q == '-' || *q == '+')) ++q;
  const char* digits = q;
  std::uint64_t magnitude = 0;
  bool overflow = false;
  const char* safe = end - q > 18 ? q + 18 : end;  // 18 digits cannot overflow
  for (; q < safe && is_digit(*q); ++q) magnitude = magnitude * 10 + static_cast<std::uint64_t>(*q - '0');
  for (; q < end && is_digit(*q); ++q) {
    overflow |= __builtin_mul_overflow(magnitude, std::uint64_t{10}, &magnitude);
    overflow |= __builtin_add_overflow(magnitude, static_cast<std::uint64_t>(*q - '0'), &magnitude);
  }
  if (q == digits) return scanned::nothing;
  if (overflow || magnitude > static_cast<std::uint64_t>(INT64_MAX) + negative) return scanned::too_large;
  value = static_cast<std::int64_t>(negative ? 0 - magnitude : magnitude);
  p = q;
  return scanned::number;
}

// Parses a finite decimal number. Moves `p` behind it on success, otherwise not at all.
inline scanned scan_real(const char*& p, const char* end, double& value) {
  const char* q = p;
  if (q + 1 < end && *q == '+' && q[1] != '-') ++q;  // from_chars accepts no plus sign
  const auto [behind, error] = std::from_chars(q, end, value);
  if (error == std::errc::result_out_of_range) return scanned::too_large;
  if (error != std::errc() || !std::isfinite(value)) return scanned::nothing;
  p = behind;
  return scanned::number;
}

// Throws if the arrays for what the text holds take more memory than the caller allows.
inline void require_memory(std::int64_t needed, std::int64_t allowed) {
  if (needed > allowed)
    throw memory_limit_error("the content takes up to " + std::to_string(needed) + " bytes in memory, " +
                             std::to_string(allowed) + " are free");
}

// The field at `p` for a message: quoted, shortened, printable characters only.
std::string shown(const char* p, const char* end, char separator);

// The number of newlines in [begin, end).
std::int64_t count_newlines(const char* begin, const char* end);

// Throws the input_error "line N: message" for a place in the text.
[[noreturn]] void raise_at(std::span<const char> text, std::int64_t first_line, const malformed& fault);

}  // namespace graphlode::io
