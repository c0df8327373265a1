// host_bytes.hpp - memory of the host as Python objects lend it.
#pragma once
#include <nanobind/nanobind.h>

#include <cstddef>

namespace nb = nanobind;

namespace graphlode::bind {

// The contiguous bytes of an object of the host.
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

 private:
  Py_buffer view_;
};

}  // namespace graphlode::bind
