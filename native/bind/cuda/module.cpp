// module.cpp - graphlode.cuda._driver: a GPU's stream without the detour through Python, and the count of a store's
// pages on a GPU, which small batches would wait for.
//
// An extension of its own, since the CUDA device must not need what belongs to the CPU's. Nothing here links to CUDA.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "arguments.hpp"
#include "graphlode/cuda_queue.hpp"
#include "graphlode/errors.hpp"
#include "page_pool.hpp"

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

  // The same for those who have let go of Python.
  void start_released(unsigned grid, unsigned block, unsigned shared_bytes, cuda::arguments& values) {
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

void wait_for_word(cuda::queue& in, nb::handle words, std::size_t place, std::uint32_t value) {
  const bytes_of from(words, PyBUF_C_CONTIGUOUS);
  const std::size_t count = from.size() / sizeof value;
  if (place >= count) throw input_error("there are " + std::to_string(count) + " words, not " + std::to_string(place));
  const nb::gil_scoped_release released;
  in.wait_for_word(reinterpret_cast<const std::uint32_t*>(from.data()) + place, value);
}

// Launches that always follow each other, to be repeated with one call. Their arguments are fixed, but for those that
// are replaced by one of the values of the call; grid and block are such values too. A grid of 0 leaves a launch out.
class launch_sequence {
 public:
  using replacement = std::pair<std::size_t, std::size_t>;  // of an argument, by a value
  using step = std::tuple<std::shared_ptr<bound_kernel>, nb::tuple, std::vector<replacement>, std::size_t, std::size_t,
                          unsigned>;

  launch_sequence(std::shared_ptr<cuda::queue> in, const std::vector<step>& steps) : queue_(std::move(in)) {
    if (steps.empty()) throw input_error("a sequence has at least one launch");
    for (const auto& [kernel, values, replacements, grid_at, block_at, shared_bytes] : steps) {
      fixed_step one{kernel, values, kernel->reader().read(values), {}, grid_at, block_at, shared_bytes};
      for (const auto& [position, value] : replacements) {
        if (position >= one.words.count)
          throw input_error(kernel->reader().entry() + " has no argument " + std::to_string(position) + " to change");
        one.changing.push_back({position, value, kernel->reader().slot_of(values[position], position)});
        num_values_ = std::max(num_values_, value + 1);
      }
      num_values_ = std::max({num_values_, grid_at + 1, block_at + 1});
      steps_.push_back(std::move(one));
    }
  }

  void run(const nb::tuple& values, bool wait, std::optional<std::uint64_t> after) const {
    if (values.size() < num_values_)
      throw input_error("a sequence takes " + std::to_string(num_values_) + " values, got " +
                        std::to_string(values.size()));
    const std::vector<read_value> read = read_values(values);
    std::vector<ready_step> ready;
    ready.reserve(steps_.size());
    for (const fixed_step& one : steps_) {
      const auto grid = read[one.grid_at].size_of_launch(), block = read[one.block_at].size_of_launch();
      if (grid == 0) continue;
      ready.push_back({&one, grid, block, one.words});
      for (const change& to : one.changing) ready.back().words.words[to.position] = word_of(one, to, values, read);
    }
    const nb::gil_scoped_release released;
    if (after) queue_->wait_for(reinterpret_cast<cuda::stream>(*after));
    for (ready_step& one : ready) one.of->kernel->start_released(one.grid, one.block, one.of->shared_bytes, one.words);
    if (wait) queue_->synchronize();
  }

 private:
  struct change {
    std::size_t position;
    std::size_t value;
    slot as;
  };
  struct fixed_step {
    std::shared_ptr<bound_kernel> kernel;
    nb::tuple kept;  // the arrays among the fixed arguments
    cuda::arguments words;
    std::vector<change> changing;
    std::size_t grid_at;
    std::size_t block_at;
    unsigned shared_bytes;
  };
  struct ready_step {
    const fixed_step* of;
    unsigned grid;
    unsigned block;
    cuda::arguments words;
  };

  // A value as far as it can be read without knowing which arguments it is for: several launches may take it.
  struct read_value {
    enum { array, whole, other } kind = other;
    long long number = 0;

    unsigned size_of_launch() const {
      if (kind != whole || number < 0 || number > 0x7fffffff)
        throw input_error("a grid or block is a whole number from 0 to 2^31 - 1");
      return static_cast<unsigned>(number);
    }
  };

  static nb::handle at(const nb::tuple& values, std::size_t place) {
    return PyTuple_GET_ITEM(values.ptr(), static_cast<Py_ssize_t>(place));
  }

  std::vector<read_value> read_values(const nb::tuple& values) const {
    std::vector<read_value> read(values.size());
    const argument_reader& reader = steps_.front().kernel->reader();
    for (std::size_t i = 0; i < read.size(); ++i) {
      const nb::handle value = at(values, i);
      if (reader.is_array(value)) {
        read[i] = {read_value::array, static_cast<long long>(address_of(value))};
      } else if (PyLong_CheckExact(value.ptr())) {
        int overflow = 0;
        const long long number = PyLong_AsLongLongAndOverflow(value.ptr(), &overflow);
        if (!overflow) read[i] = {read_value::whole, number};
      }
    }
    return read;
  }

  static std::uint64_t word_of(const fixed_step& one, const change& to, const nb::tuple& values,
                               const std::vector<read_value>& read) {
    const read_value& value = read[to.value];
    const bool known = value.kind == read_value::array
                           ? to.as.kind == form::array
                           : value.kind == read_value::whole && fits_slot(value.number, to.as);
    if (known) return static_cast<std::uint64_t>(value.number);
    return one.kernel->reader().word_of(at(values, to.value), to.as, to.position);
  }

  std::shared_ptr<cuda::queue> queue_;
  std::vector<fixed_step> steps_;
  std::size_t num_values_ = 0;
};

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
      "Launches and arrays in the hands of NVIDIA's driver, which is opened when a queue is made; and what the host "
      "counts beside them.";
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
      .def("synchronize", &cuda::queue::synchronize, released)
      .def("wait_for_word", &wait_for_word, nb::arg("words"), nb::arg("place"), nb::arg("value"),
           "Until a kernel has written the value there, among words of 32 bits in memory of the host that the GPU "
           "sees.");
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
  nb::class_<launch_sequence>(m, "LaunchSequence",
                              "Launches that always follow each other, each a kernel, its arguments, which of them are "
                              "replaced by which value, the values that are its grid and block, and its shared bytes.")
      .def(nb::init<std::shared_ptr<cuda::queue>, const std::vector<launch_sequence::step>&>(), nb::arg("queue"),
           nb::arg("steps"))
      .def("run", &launch_sequence::run, nb::arg("values"), nb::arg("wait"), nb::arg("after") = nb::none(),
           "Start all of them, after another stream has done what it has to do, and wait for them if that is wanted.");
  bind_page_pool(m);
}
