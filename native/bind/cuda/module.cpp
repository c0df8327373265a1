// module.cpp - graphlode.cuda._driver: a GPU's stream without the detour through Python.
//
// An extension of its own, since the CUDA device must not need what belongs to the CPU's. Nothing here links to CUDA.
#include <nanobind/nanobind.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <string>
#include <vector>

#include "arguments.hpp"
#include "graphlode/cuda_queue.hpp"
#include "graphlode/errors.hpp"

namespace graphlode::bind {
namespace {

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

class bound_kernel {
 public:
  bound_kernel(const std::shared_ptr<cuda::queue>& in, std::uint64_t function, const std::string& entry,
               const nb::type_object& array_type)
      : kernel_(in, reinterpret_cast<cuda::function>(function)), reader_(entry, array_type, kernel_.parameters()) {}

  void launch(unsigned grid, unsigned block, unsigned shared_bytes, nb::handle values) {
    cuda::arguments read = reader_.read(values);
    start(grid, block, shared_bytes, read);
  }

  // The driver may wait until there is room for another launch: other threads go on meanwhile.
  void start(unsigned grid, unsigned block, unsigned shared_bytes, cuda::arguments& values) {
    const nb::gil_scoped_release released;
    kernel_.launch(grid, block, shared_bytes, values);
  }

  const argument_reader& reader() const { return reader_; }

 private:
  cuda::kernel kernel_;
  argument_reader reader_;
};

// A launch to repeat: its arguments, of which some change. It keeps the arrays among the others alive.
class prepared_launch {
 public:
  prepared_launch(std::shared_ptr<bound_kernel> of, nb::tuple values, std::vector<std::size_t> changing)
      : kernel_(std::move(of)),
        values_(std::move(values)),
        words_(kernel_->reader().read(values_)),
        changing_(std::move(changing)) {
    for (const std::size_t position : changing_) {
      if (position >= words_.count)
        throw input_error(kernel_->reader().entry() + " has no argument " + std::to_string(position) + " to change");
      slots_.push_back(kernel_->reader().slot_of(values_[position], position));
    }
  }

  void launch(unsigned grid, unsigned block, unsigned shared_bytes, const nb::tuple& changed) const {
    if (changed.size() != changing_.size())
      throw input_error(kernel_->reader().entry() + " was prepared to change " + std::to_string(changing_.size()) +
                        " arguments, got " + std::to_string(changed.size()));
    cuda::arguments words = words_;
    for (std::size_t i = 0; i < changing_.size(); ++i)
      words.words[changing_[i]] = kernel_->reader().word_of(PyTuple_GET_ITEM(changed.ptr(), static_cast<Py_ssize_t>(i)),
                                                            slots_[i], changing_[i]);
    kernel_->start(grid, block, shared_bytes, words);
  }

 private:
  std::shared_ptr<bound_kernel> kernel_;
  nb::tuple values_;
  cuda::arguments words_;
  std::vector<std::size_t> changing_;
  std::vector<slot> slots_;
};

void send(cuda::queue& to, std::uint64_t address, nb::handle array, int threads) {
  const bytes_of from(array, PyBUF_C_CONTIGUOUS);
  const nb::gil_scoped_release released;
  if (threads > 1)
    to.send_large(address, from.data(), from.size(), threads);
  else
    to.send(address, from.data(), from.size());
}

void fetch(cuda::queue& from, nb::handle array, std::uint64_t address, int threads) {
  const bytes_of to(array, PyBUF_C_CONTIGUOUS | PyBUF_WRITABLE);
  const nb::gil_scoped_release released;
  if (threads > 1)
    from.fetch_large(to.data(), address, to.size(), threads);
  else
    from.fetch(to.data(), address, to.size());
}

void translate_errors() {
  const nb::module_ errors = nb::module_::import_("graphlode.errors");
  static PyObject* const input = nb::object(errors.attr("InputError")).release().ptr();
  static PyObject* const unavailable = nb::object(errors.attr("DeviceUnavailableError")).release().ptr();
  static PyObject* const memory = nb::object(errors.attr("DeviceMemoryError")).release().ptr();
  static PyObject* const fault = nb::object(errors.attr("KernelFaultError")).release().ptr();
  nb::register_exception_translator([](const std::exception_ptr& p, void*) {
    try {
      std::rethrow_exception(p);
    } catch (const input_error& e) {
      PyErr_SetString(input, e.what());
    } catch (const cuda::driver_missing& e) {
      PyErr_SetString(unavailable, e.what());
    } catch (const cuda::out_of_memory& e) {
      PyErr_SetString(memory, e.what());
    } catch (const cuda::driver_fault& e) {
      PyErr_SetString(fault, e.what());
    }
  });
}

}  // namespace
}  // namespace graphlode::bind

NB_MODULE(_driver, m) {
  using namespace graphlode;
  using namespace graphlode::bind;
  m.doc() = "Launches and arrays in the hands of NVIDIA's driver, which is opened when a queue is made.";
  nb::set_leak_warnings(false);  // devices live until the process ends
  translate_errors();
  const auto released = nb::call_guard<nb::gil_scoped_release>();
  nb::class_<cuda::queue>(m, "Queue", "A stream of the context that is current, from any thread.")
      .def(
          "__init__",
          [](cuda::queue* self, const std::string& device, const nb::object& stream, const std::string& library) {
            const auto handle = nb::cast<std::uint64_t>(stream.attr("ptr"));
            new (self) cuda::queue(library, device, reinterpret_cast<cuda::stream>(handle));
          },
          nb::arg("device"), nb::arg("stream"), nb::arg("library") = "libcuda.so.1", nb::keep_alive<1, 3>())
      .def("send", &send, nb::arg("address"), nb::arg("array"), nb::arg("threads") = 1,
           "Copy a contiguous array of the host; it may be changed as soon as this returns.")
      .def("fetch", &fetch, nb::arg("array"), nb::arg("address"), nb::arg("threads") = 1,
           "Fill a contiguous array of the host, after all that was queued before.")
      .def("synchronize", &cuda::queue::synchronize, released);
  nb::class_<bound_kernel>(m, "Kernel", "A function of the driver, ready to be launched in a queue.")
      .def(nb::init<const std::shared_ptr<cuda::queue>&, std::uint64_t, const std::string&, const nb::type_object&>(),
           nb::arg("queue"), nb::arg("function"), nb::arg("entry"), nb::arg("array_type"))
      .def("launch", &bound_kernel::launch, nb::arg("grid"), nb::arg("block"), nb::arg("shared_bytes"),
           nb::arg("args"));
  nb::class_<prepared_launch>(m, "PreparedLaunch",
                              "A launch to repeat, in which the arguments `changing` are replaced.")
      .def(nb::init<std::shared_ptr<bound_kernel>, nb::tuple, std::vector<std::size_t>>(), nb::arg("kernel"),
           nb::arg("args"), nb::arg("changing"))
      .def("launch", &prepared_launch::launch, nb::arg("grid"), nb::arg("block"), nb::arg("shared_bytes"),
           nb::arg("changed"));
}
