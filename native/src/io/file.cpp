#include "graphlode/io/file.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "graphlode/errors.hpp"
#include "graphlode/parallel.hpp"

namespace graphlode::io {
namespace {

constexpr std::int64_t block_bytes = 1 << 22;

// Fills [begin, end) of the buffer with the same bytes of the file.
void read_block(int descriptor, buffer<std::uint8_t>& text, std::int64_t begin, std::int64_t end) {
  while (begin < end) {
    const auto count = ::pread(descriptor, text.data() + begin, static_cast<std::size_t>(end - begin), begin);
    if (count == 0) throw input_error("the file became shorter while it was read");
    if (count < 0 && errno != EINTR) throw input_error(std::string("the file cannot be read: ") + std::strerror(errno));
    begin += std::max<std::int64_t>(count, 0);
  }
}

}  // namespace

buffer<std::uint8_t> read_file(int descriptor, std::int64_t size, int threads, const control& ctl) {
  buffer<std::uint8_t> text(static_cast<std::size_t>(size));
  const auto num_blocks = (size + block_bytes - 1) / block_bytes;
  parallel_chunks(0, num_blocks, 1, threads, ctl, [&](int, std::int64_t block, std::int64_t) {
    read_block(descriptor, text, block * block_bytes, std::min(size, (block + 1) * block_bytes));
  });
  return text;
}

}  // namespace graphlode::io
