// file.hpp - the bytes of a regular file, copied into memory.
#pragma once
#include <cstdint>

#include "graphlode/control.hpp"
#include "graphlode/memory.hpp"

namespace graphlode::io {

// The first `size` bytes of an open file. The result is a copy and not a mapping, because parsers look at their text
// twice: another process may change the file, or truncate it, at any time. Throws input_error if the file ends before
// `size` bytes or cannot be read.
buffer<std::uint8_t> read_file(int descriptor, std::int64_t size, int threads, const control& ctl);

}  // namespace graphlode::io
