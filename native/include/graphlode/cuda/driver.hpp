// cuda/driver.hpp - the functions of NVIDIA's driver library that are needed to start kernels and copy small arrays.
//
// The library is opened when a device is created, not linked: graphlode builds without CUDA and runs without a GPU. The
// declarations follow the driver's published binary interface, whose names and types do not change.
#pragma once
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace graphlode::cuda {

using context = void*;
using stream = void*;
using function = void*;
using event = void*;
using address = std::uint64_t;  // in the memory of a GPU

// The library or one of its functions is missing.
struct driver_missing : std::runtime_error {
  using std::runtime_error::runtime_error;
};
// A driver call failed, or reported the failure of an earlier asynchronous one.
struct driver_fault : std::runtime_error {
  using std::runtime_error::runtime_error;
};
struct out_of_memory : driver_fault {
  using driver_fault::driver_fault;
};

class driver {
 public:
  // `device` is the prefix of every message.
  driver(const std::string& library, std::string device);
  ~driver();
  driver(const driver&) = delete;
  driver& operator=(const driver&) = delete;

  // Throws unless `code` means success. `call` names the call.
  void check(int code, const char* call) const {
    if (code != 0) fail(code, call);
  }

  int (*get_current)(context*) = nullptr;
  int (*set_current)(context) = nullptr;
  int (*launch_kernel)(function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, stream, void**,
                       void**) = nullptr;
  int (*get_attribute)(int*, int, function) = nullptr;
  int (*set_attribute)(function, int, int) = nullptr;
  int (*synchronize)(stream) = nullptr;
  int (*copy_to_device)(address, const void*, std::size_t, stream) = nullptr;
  int (*copy_to_host)(void*, address, std::size_t, stream) = nullptr;
  int (*allocate_host)(void**, std::size_t, unsigned) = nullptr;
  int (*free_host)(void*) = nullptr;
  int (*create_event)(event*, unsigned) = nullptr;
  int (*record_event)(event, stream) = nullptr;
  int (*wait_for_event)(event) = nullptr;
  int (*destroy_event)(event) = nullptr;
  int (*parameter_info)(function, std::size_t, std::size_t*, std::size_t*) = nullptr;  // null before CUDA 12.4

 private:
  [[noreturn]] void fail(int code, const char* call) const;

  void* library_;
  std::string device_;
  int (*error_string_)(int, const char**) = nullptr;
};

// Makes a context current on this thread for the lifetime of the object, then restores the previous one. Cheap if it is
// already current, as on a device's own thread.
class context_scope {
 public:
  context_scope(const driver& of, context wanted) : driver_(of) {
    driver_.check(driver_.get_current(&before_), "cuCtxGetCurrent");
    changed_ = before_ != wanted;
    if (changed_) driver_.check(driver_.set_current(wanted), "cuCtxSetCurrent");
  }
  ~context_scope() {
    if (changed_) driver_.set_current(before_);
  }
  context_scope(const context_scope&) = delete;
  context_scope& operator=(const context_scope&) = delete;

 private:
  const driver& driver_;
  context before_ = nullptr;
  bool changed_ = false;
};

}  // namespace graphlode::cuda
