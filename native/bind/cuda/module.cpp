// module.cpp - graphlode.cuda._driver: a GPU stream used without Python overhead, and the page pool of a store on a
// GPU, which small batches would wait for.
//
// It is a separate extension because the CUDA device must not need the CPU's extension. Nothing here links to CUDA.
#include <nanobind/nanobind.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <string>
#include <vector>

#include "graphlode/cuda/queue.hpp"
#include "graphlode/errors.hpp"
#include "host_bytes.hpp"
#include "launches.hpp"
#include "page_pool.hpp"
#include "sequence.hpp"

namespace graphlode::bind {
namespace {

void send(cuda::queue& to, std::uint64_t address, nb::handle array, int threads) {
  const bytes_of from(array, PyBUF_C_CONTIGUOUS);
  const nb::gil_scoped_release released;
  if (threads > 1)
    to.send_large(address, from.data(), from.size(), threads);
  else
    to.send(address, from.data(), from.size());
}

std::span<const std::int64_t> ids_in(const bytes_of& array) {
  if (array.item_size() != sizeof(std::int64_t)) throw input_error("ids to be narrowed have 64 bits");
  return {static_cast<const std::int64_t*>(array.data()), array.size() / sizeof(std::int64_t)};
}

bool send_narrow(cuda::queue& to, std::uint64_t address, nb::handle tails, nb::handle heads, int threads) {
  const bytes_of from(tails, PyBUF_C_CONTIGUOUS), and_from(heads, PyBUF_C_CONTIGUOUS);
  const auto first = ids_in(from), second = ids_in(and_from);
  if (first.size() != second.size()) throw input_error("tails and heads have the same length");
  const nb::gil_scoped_release released;
  return to.send_narrow(address, {first, second}, threads);
}

void fetch(cuda::queue& from, nb::handle array, std::uint64_t address, int threads) {
  const bytes_of to(array, PyBUF_C_CONTIGUOUS | PyBUF_WRITABLE);
  const nb::gil_scoped_release released;
  if (threads > 1)
    from.fetch_large(to.data(), address, to.size(), threads);
  else
    from.fetch(to.data(), address, to.size());
}

void wait_for_word(cuda::queue& in, nb::handle words, std::size_t place, std::uint32_t value) {
  const bytes_of from(words, PyBUF_C_CONTIGUOUS);
  const std::size_t count = from.size() / sizeof value;
  if (place >= count) throw input_error("there are " + std::to_string(count) + " words, not " + std::to_string(place));
  const nb::gil_scoped_release released;
  in.wait_for_word(reinterpret_cast<const std::uint32_t*>(from.data()) + place, value);
}

nb::list wait_for_report(cuda::queue& in, nb::handle words, std::uint32_t value) {
  const reported_words reported(words);
  {
    const nb::gil_scoped_release released;
    in.wait_for_words(reported.words(), value);
  }
  return reported.lower_halves();
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
  m.doc() =
      "Kernel launches and array copies by NVIDIA's driver, which is opened when a queue is made, and a store's page "
      "pool.";
  nb::set_leak_warnings(false);  // devices, and the lanes they lend, live until the process ends
  translate_errors();
  const auto released = nb::call_guard<nb::gil_scoped_release>();
  nb::class_<cuda::queue>(m, "Queue", "A stream of the current context, usable from any thread.")
      .def(
          "__init__",
          [](cuda::queue* self, const std::string& device, const nb::object& stream, const std::string& library) {
            const auto handle = nb::cast<std::uint64_t>(stream.attr("ptr"));
            new (self) cuda::queue(library, device, reinterpret_cast<cuda::stream>(handle));
          },
          nb::arg("device"), nb::arg("stream"), nb::arg("library") = "libcuda.so.1", nb::keep_alive<1, 3>())
      .def("send", &send, nb::arg("address"), nb::arg("array"), nb::arg("threads") = 1,
           "Copy a contiguous host array. It may be changed as soon as this returns.")
      .def("send_narrow", &send_narrow, nb::arg("address"), nb::arg("tails"), nb::arg("heads"), nb::arg("threads") = 1,
           "Copy two int64 arrays, one after the other, as int32. False if a value is negative or does not fit: the "
           "copy is then undefined.")
      .def("fetch", &fetch, nb::arg("array"), nb::arg("address"), nb::arg("threads") = 1,
           "Fill a contiguous host array, after everything queued before.")
      .def("synchronize", &cuda::queue::synchronize, released)
      .def("wait_for_word", &wait_for_word, nb::arg("words"), nb::arg("place"), nb::arg("value"),
           "Wait until a kernel has written the value to a 32-bit word in host memory that the GPU sees.")
      .def("read_report", &wait_for_report, nb::arg("words"), nb::arg("value"),
           "Wait until kernels have written the value to the upper halves of 64-bit words in host memory that the GPU "
           "sees. Returns the lower halves.");
  nb::class_<bound_kernel>(m, "Kernel", "A kernel that can be launched in a queue.")
      .def(nb::init<const std::shared_ptr<cuda::queue>&, std::uint64_t, const std::string&, const nb::type_object&>(),
           nb::arg("queue"), nb::arg("function"), nb::arg("entry"), nb::arg("array_type"))
      .def("launch", &bound_kernel::launch, nb::arg("grid"), nb::arg("block"), nb::arg("shared_bytes"),
           nb::arg("args"));
  nb::class_<prepared_launch>(m, "PreparedLaunch",
                              "A launch to repeat, in which the arguments at the positions `changing` are replaced.")
      .def(nb::init<std::shared_ptr<bound_kernel>, nb::tuple, std::vector<std::size_t>>(), nb::arg("kernel"),
           nb::arg("args"), nb::arg("changing"))
      .def("launch", &prepared_launch::launch, nb::arg("grid"), nb::arg("block"), nb::arg("shared_bytes"),
           nb::arg("changed"));
  bind_sequences(m);
  bind_page_pool(m);
}
