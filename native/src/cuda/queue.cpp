#include "graphlode/cuda/queue.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstring>
#include <limits>

#include "graphlode/parallel.hpp"

namespace graphlode::cuda {
namespace {

constexpr unsigned portable = 1;           // of allocate_host: page-locked for every context
constexpr unsigned without_time = 2;       // of create_event
constexpr int error_invalid_value = 1;     // of parameter_info: no such parameter
constexpr int shared_bytes_attribute = 8;  // the dynamic shared memory that a function may request
constexpr std::size_t alignment = 256;
constexpr std::chrono::milliseconds longest_look{5};
constexpr int looks_per_clock = 64;
constexpr std::size_t least_chunk_bytes = std::size_t{1} << 17;  // the driver takes one at a time, in microseconds

// Copies bytes unchanged.
auto copied(const void* from) {
  return [from](std::size_t begin, std::size_t part, std::byte* room) {
    std::memcpy(room, static_cast<const std::byte*>(from) + begin, part);
  };
}

// Writes 64-bit integers as 32-bit ones. Returns the OR of all of them.
std::uint64_t narrow(std::span<const std::int64_t> from, std::int32_t* to) {
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < from.size(); ++i) {
    bits |= static_cast<std::uint64_t>(from[i]);
    to[i] = static_cast<std::int32_t>(from[i]);
  }
  return bits;
}

// The same for `count` elements of two consecutive arrays, from element `begin` on.
std::uint64_t narrow_pair(const std::array<std::span<const std::int64_t>, 2>& from, std::size_t begin,
                          std::size_t count, std::int32_t* to) {
  const std::size_t first = from[0].size(), end = begin + count;
  if (end <= first) return narrow(from[0].subspan(begin, count), to);
  if (begin >= first) return narrow(from[1].subspan(begin - first, count), to);
  return narrow(from[0].subspan(begin), to) | narrow(from[1].first(end - first), to + (first - begin));
}

}  // namespace

locked_memory::locked_memory(const driver& of, std::size_t bytes) : driver_(of) {
  void* data = nullptr;
  of.check(of.allocate_host(&data, bytes, portable), "cuMemHostAlloc");
  data_ = static_cast<std::byte*>(data);
}

mark::mark(const driver& of) : driver_(of) { of.check(of.create_event(&event_, without_time), "cuEventCreate"); }

void mark::record(stream in) {
  driver_.check(driver_.record_event(event_, in), "cuEventRecord");
  recorded_ = true;
}

void mark::wait() {
  if (recorded_) driver_.check(driver_.wait_for_event(event_), "cuEventSynchronize");
}

// Sections are filled one after the other. A section is marked when it is left, and waited for when it is entered
// again.
struct queue::ring {
  explicit ring(const driver& of) : memory(of, num_sections * section_bytes) {
    for (auto& left : marks) left = std::make_unique<mark>(of);
  }

  locked_memory memory;
  std::array<std::unique_ptr<mark>, num_sections> marks;
  std::size_t section = 0;
  std::size_t used = 0;
};

// The chunks of one thread in a large copy, used in turn.
struct queue::chunks {
  explicit chunks(const driver& of) : memory(of, chunks_per_thread * chunk_bytes) {
    for (auto& left : marks) left = std::make_unique<mark>(of);
  }

  locked_memory memory;
  std::array<std::unique_ptr<mark>, chunks_per_thread> marks;
};

queue::queue(const std::string& library, const std::string& device, stream of) : driver_(library, device), stream_(of) {
  driver_.check(driver_.get_current(&context_), "cuCtxGetCurrent");
  if (!context_) throw driver_fault(device + ": no CUDA context is current");
}

queue::~queue() {
  // At process end the driver may be gone. It then returns an error, and has freed everything itself.
  context before = nullptr;
  if (driver_.get_current(&before) != 0 || driver_.set_current(context_) != 0) return;
  driver_.synchronize(stream_);
  ring_.reset();
  chunks_.clear();
  fetched_.reset();
  driver_.set_current(before);
}

std::byte* queue::room_in_ring(std::size_t bytes) {
  if (!ring_) ring_ = std::make_unique<ring>(driver_);
  if (ring_->used + bytes > section_bytes) {
    ring_->marks[ring_->section]->record(stream_);
    ring_->section = (ring_->section + 1) % num_sections;
    ring_->used = 0;
    ring_->marks[ring_->section]->wait();
  }
  std::byte* room = ring_->memory.data() + ring_->section * section_bytes + ring_->used;
  ring_->used += (bytes + alignment - 1) / alignment * alignment;
  return room;
}

template <class Fill>
void queue::send_by_ring(address to, std::size_t bytes, const Fill& fill) {
  const context_scope current(driver_, context_);
  const std::lock_guard lock(sending_);
  for (std::size_t done = 0; done < bytes;) {
    const std::size_t part = std::min(bytes - done, section_bytes);
    std::byte* room = room_in_ring(part);
    fill(done, part, room);
    driver_.check(driver_.copy_to_device(to + done, room, part, stream_), "cuMemcpyHtoDAsync");
    done += part;
  }
}

// Calls `move(begin, bytes, room, left)` for every chunk, on several threads. `room` is page-locked and belongs to the
// thread. `left` is the mark to record after the copy from or to the room is queued, and to wait for before the room
// is used again.
template <class Move>
void queue::in_chunks(std::size_t bytes, int threads, const Move& move) {
  const std::lock_guard lock(moving_);
  const auto team = static_cast<std::size_t>(std::max(1, threads));
  if (chunks_.size() < team) {
    const context_scope current(driver_, context_);
    while (chunks_.size() < team) chunks_.push_back(std::make_unique<chunks>(driver_));
  }
  const std::size_t chunk = std::clamp(std::bit_ceil(bytes / team), least_chunk_bytes, chunk_bytes);
  std::atomic<std::size_t> next{0};
  std::atomic<bool> failed{false};
  with_helpers(static_cast<int>(team), [&](int member) {
    const context_scope here(driver_, context_);
    const chunks& own = *chunks_[static_cast<std::size_t>(member)];
    try {
      for (std::size_t turn = 0; !failed; turn = (turn + 1) % chunks_per_thread) {
        const std::size_t begin = chunk * next++;
        if (begin >= bytes) return;
        move(begin, std::min(chunk, bytes - begin), own.memory.data() + turn * chunk_bytes, *own.marks[turn]);
      }
    } catch (...) {
      failed = true;
      throw;
    }
  });
}

template <class Fill>
void queue::send_in_chunks(address to, std::size_t bytes, int threads, const Fill& fill) {
  in_chunks(bytes, threads, [&](std::size_t begin, std::size_t part, std::byte* room, mark& left) {
    left.wait();
    fill(begin, part, room);
    driver_.check(driver_.copy_to_device(to + begin, room, part, stream_), "cuMemcpyHtoDAsync");
    left.record(stream_);
  });
}

void queue::send(address to, const void* from, std::size_t bytes) { send_by_ring(to, bytes, copied(from)); }

void queue::send_large(address to, const void* from, std::size_t bytes, int threads) {
  send_in_chunks(to, bytes, threads, copied(from));
}

bool queue::send_narrow(address to, std::array<std::span<const std::int64_t>, 2> from, int threads) {
  constexpr std::size_t width = sizeof(std::int32_t);
  const std::size_t bytes = (from[0].size() + from[1].size()) * width;
  std::atomic<std::uint64_t> bits{0};
  const auto fill = [&](std::size_t begin, std::size_t part, std::byte* room) {
    bits |= narrow_pair(from, begin / width, part / width, reinterpret_cast<std::int32_t*>(room));
  };
  if (threads > 1)
    send_in_chunks(to, bytes, threads, fill);
  else
    send_by_ring(to, bytes, fill);
  return bits <= std::numeric_limits<std::int32_t>::max();
}

void queue::fetch_large(void* to, address from, std::size_t bytes, int threads) {
  synchronize();  // once instead of in every thread
  in_chunks(bytes, threads, [&](std::size_t begin, std::size_t part, std::byte* room, mark& left) {
    left.wait();
    driver_.check(driver_.copy_to_host(room, from + begin, part, stream_), "cuMemcpyDtoHAsync");
    left.record(stream_);
    left.wait();
    std::memcpy(static_cast<std::byte*>(to) + begin, room, part);
  });
}

void queue::fetch(void* to, address from, std::size_t bytes) {
  const context_scope current(driver_, context_);
  const std::lock_guard lock(fetching_);
  if (!fetched_) fetched_ = std::make_unique<locked_memory>(driver_, section_bytes);
  for (std::size_t done = 0; done < bytes;) {
    const std::size_t part = std::min(bytes - done, section_bytes);
    driver_.check(driver_.copy_to_host(fetched_->data(), from + done, part, stream_), "cuMemcpyDtoHAsync");
    driver_.check(driver_.synchronize(stream_), "cuStreamSynchronize");
    std::memcpy(static_cast<std::byte*>(to) + done, fetched_->data(), part);
    done += part;
  }
}

void queue::synchronize() { wait_for(stream_); }

template <class IsThere>
void queue::look_for(IsThere is_there) {
  const auto patience = std::chrono::steady_clock::now() + longest_look;
  do {
    for (int look = 0; look < looks_per_clock; ++look)
      if (is_there()) return;
  } while (std::chrono::steady_clock::now() < patience);
  synchronize();
  if (!is_there()) throw driver_fault("a kernel ended without the word that was waited for");
}

void queue::wait_for_word(const std::uint32_t* word, std::uint32_t value) {
  look_for([&] { return __atomic_load_n(word, __ATOMIC_ACQUIRE) == value; });
}

void queue::wait_for_words(std::span<const std::uint64_t> words, std::uint32_t value) {
  look_for([&, next = words.begin()]() mutable {
    while (next != words.end() && __atomic_load_n(&*next, __ATOMIC_ACQUIRE) >> 32 == value) ++next;
    return next == words.end();
  });
}

void queue::wait_for(stream other) {
  const context_scope current(driver_, context_);
  driver_.check(driver_.synchronize(other), "cuStreamSynchronize");
}

kernel::kernel(std::shared_ptr<queue> in, function entry) : queue_(std::move(in)), function_(entry) {
  const driver& of = queue_->of_driver();
  const context_scope current(of, queue_->of_context());
  of.check(of.get_attribute(&allowed_shared_bytes_, shared_bytes_attribute, function_), "cuFuncGetAttribute");
  if (!of.parameter_info) return;
  std::size_t offset = 0;
  std::size_t bytes = 0;
  for (;;) {
    const int code = of.parameter_info(function_, parameters_.size(), &offset, &bytes);
    if (code == error_invalid_value) return;
    of.check(code, "cuFuncGetParamInfo");
    parameters_.push_back(bytes);
  }
}

void kernel::launch(unsigned grid, unsigned block, unsigned shared_bytes, arguments& values) {
  const driver& of = queue_->of_driver();
  const context_scope current(of, queue_->of_context());
  {
    const std::lock_guard lock(allowing_);
    if (static_cast<int>(shared_bytes) > allowed_shared_bytes_) {
      of.check(of.set_attribute(function_, shared_bytes_attribute, static_cast<int>(shared_bytes)),
               "cuFuncSetAttribute");
      allowed_shared_bytes_ = static_cast<int>(shared_bytes);
    }
  }
  std::array<void*, arguments::most> pointers;
  for (std::size_t i = 0; i < values.count; ++i) pointers[i] = &values.words[i];
  of.check(
      of.launch_kernel(function_, grid, 1, 1, block, 1, 1, shared_bytes, queue_->of_stream(), pointers.data(), nullptr),
      "cuLaunchKernel");
}

}  // namespace graphlode::cuda
