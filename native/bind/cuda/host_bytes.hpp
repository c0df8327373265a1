// host_bytes.hpp - host memory that Python objects expose.
#pragma once
#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace nb = nanobind;

namespace graphlode::bind {

// The contiguous bytes of a Python object.
class bytes_of {
 public:
  bytes_of(nb::handle object, int flags) {
    if (PyObject_GetBuffer(object.ptr(), &view_, flags) != 0) throw nb::python_error();
  }
  ~bytes_of() { PyBuffer_Release(&view_); }
  bytes_of(const bytes_of&) = delete;
  bytes_of& operator=(const bytes_of&) = delete;

  void* data() const { return view_.buf; }
  std::size_t size() const { return static_cast<std::size_t>(view_.len); }
  std::size_t item_size() const { return static_cast<std::size_t>(view_.itemsize); }

 private:
  Py_buffer view_;
};

// Words that kernels write for the host, in memory that both see. The number in the upper half of each word
// shows that the word has arrived, so the words may arrive in any order.
class reported_words {
 public:
  explicit reported_words(nb::handle words) : bytes_(words, PyBUF_C_CONTIGUOUS) {}

  std::span<const std::uint64_t> words() const {
    return {static_cast<const std::uint64_t*>(bytes_.data()), bytes_.size() / sizeof(std::uint64_t)};
  }
  nb::list lower_halves() const {
    const auto from = words();
    nb::list found = nb::steal<nb::list>(PyList_New(static_cast<Py_ssize_t>(from.size())));
    for (std::size_t i = 0; i < from.size(); ++i)
      PyList_SET_ITEM(found.ptr(), static_cast<Py_ssize_t>(i),
                      PyLong_FromUnsignedLong(static_cast<std::uint32_t>(from[i])));
    return found;
  }

 private:
  bytes_of bytes_;
};

}  // namespace graphlode::bind
