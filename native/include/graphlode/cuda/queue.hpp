// cuda/queue.hpp - a GPU stream as the host uses it: starts kernels, sends and fetches arrays.
//
// Copies between the GPU and pageable memory start slowly, because the driver stages them and waits. So arrays go
// through the queue's own page-locked memory. Small arrays use a ring of sections; a section is reused when the copies
// from it are finished. Large arrays are split into chunks, which several threads fill while the GPU copies earlier
// ones. All functions may be called from any thread; the stream defines the order.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "graphlode/cuda/driver.hpp"

namespace graphlode::cuda {

// Page-locked memory. The owner must have made the context current.
class locked_memory {
 public:
  locked_memory(const driver& of, std::size_t bytes);
  ~locked_memory() { driver_.free_host(data_); }
  locked_memory(const locked_memory&) = delete;
  locked_memory& operator=(const locked_memory&) = delete;

  std::byte* data() const { return data_; }

 private:
  const driver& driver_;
  std::byte* data_ = nullptr;
};

// A driver event: recorded in a stream, waited for on the host.
class mark {
 public:
  explicit mark(const driver& of);
  ~mark() { driver_.destroy_event(event_); }
  mark(const mark&) = delete;
  mark& operator=(const mark&) = delete;

  void record(stream in);
  void wait();  // returns at once if it was never recorded

 private:
  const driver& driver_;
  event event_ = nullptr;
  bool recorded_ = false;
};

class queue {
 public:
  static constexpr std::size_t section_bytes = std::size_t{1} << 20;
  static constexpr std::size_t num_sections = 4;
  static constexpr std::size_t chunk_bytes = std::size_t{1} << 20;
  static constexpr std::size_t chunks_per_thread = 2;

  // Uses the context that is current on this thread.
  queue(const std::string& library, const std::string& device, stream of);
  ~queue();

  // Returns when `from` may be changed again. The copy is then queued in the stream.
  void send(address to, const void* from, std::size_t bytes);
  // The same for large arrays, with several threads.
  void send_large(address to, const void* from, std::size_t bytes, int threads);
  // Sends two arrays of ids, one after the other, as 32-bit integers: half the bytes. Returns false if an id is
  // negative or does not fit; the contents sent are then undefined.
  bool send_narrow(address to, std::array<std::span<const std::int64_t>, 2> from, int threads);
  // Waits for the stream.
  void fetch(void* to, address from, std::size_t bytes);
  void fetch_large(void* to, address from, std::size_t bytes, int threads);
  void synchronize();
  // Waits until a kernel of the stream has written the value there, in page-locked memory. Polls, because the value
  // arrives before the stream becomes idle. If it takes long, waits for the stream; if the value is still missing then,
  // throws driver_fault.
  void wait_for_word(const std::uint32_t* word, std::uint32_t value);
  // The same for words that all have the value in their upper half. They may arrive in any order.
  void wait_for_words(std::span<const std::uint64_t> words, std::uint32_t value);
  // Waits until another stream of the same GPU has finished what was started in it.
  void wait_for(stream other);

  const driver& of_driver() const { return driver_; }
  context of_context() const { return context_; }
  stream of_stream() const { return stream_; }

 private:
  struct ring;
  struct chunks;
  template <class IsThere>
  void look_for(IsThere is_there);
  std::byte* room_in_ring(std::size_t bytes);
  // `fill(begin, bytes, room)` writes that part of the bytes to send.
  template <class Fill>
  void send_by_ring(address to, std::size_t bytes, const Fill& fill);
  template <class Fill>
  void send_in_chunks(address to, std::size_t bytes, int threads, const Fill& fill);
  template <class Move>
  void in_chunks(std::size_t bytes, int threads, const Move& move);

  driver driver_;
  context context_ = nullptr;
  stream stream_;
  std::mutex sending_;
  std::unique_ptr<ring> ring_;
  std::mutex moving_;
  std::vector<std::unique_ptr<chunks>> chunks_;  // of each thread
  std::mutex fetching_;
  std::unique_ptr<locked_memory> fetched_;
};

// The values of a kernel's parameters, one word each. The driver reads as many bytes as the parameter has.
struct arguments {
  static constexpr std::size_t most = 96;
  std::array<std::uint64_t, most> words;
  std::size_t count = 0;
};

class kernel {
 public:
  kernel(std::shared_ptr<queue> in, function entry);

  // The size of each parameter in bytes, in order; empty if the driver cannot report it.
  const std::vector<std::size_t>& parameters() const { return parameters_; }
  void launch(unsigned grid, unsigned block, unsigned shared_bytes, arguments& values);

 private:
  std::shared_ptr<queue> queue_;
  function function_;
  std::vector<std::size_t> parameters_;
  std::mutex allowing_;
  int allowed_shared_bytes_ = 0;
};

}  // namespace graphlode::cuda
