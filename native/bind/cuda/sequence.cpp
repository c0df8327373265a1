#include "sequence.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <string>

#include "graphlode/errors.hpp"

namespace graphlode::bind {
namespace {

nb::handle at(const nb::tuple& values, std::size_t place) {
  return PyTuple_GET_ITEM(values.ptr(), static_cast<Py_ssize_t>(place));
}

}  // namespace

launch_sequence::launch_sequence(std::shared_ptr<cuda::queue> in, const std::vector<step>& steps)
    : queue_(std::move(in)) {
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

void launch_sequence::run(const nb::tuple& values, std::optional<std::uint64_t> after) const {
  std::vector<ready_step> steps = ready(values);
  const nb::gil_scoped_release released;
  start(steps, after);
}

unsigned launch_sequence::read_value::size_of_launch() const {
  if (kind != whole || number < 0 || number > 0x7fffffff)
    throw input_error("a grid or block is a whole number from 0 to 2^31 - 1");
  return static_cast<unsigned>(number);
}

launch_sequence::read_value launch_sequence::read(nb::handle value) const {
  if (steps_.front().kernel->reader().is_array(value))
    return {read_value::array, static_cast<long long>(address_of(value))};
  if (PyLong_CheckExact(value.ptr())) {
    int overflow = 0;
    const long long number = PyLong_AsLongLongAndOverflow(value.ptr(), &overflow);
    if (!overflow) return {read_value::whole, number};
  }
  return {};
}

std::vector<launch_sequence::ready_step> launch_sequence::ready(const nb::tuple& values) const {
  if (values.size() < num_values_)
    throw input_error("a sequence takes " + std::to_string(num_values_) + " values, got " +
                      std::to_string(values.size()));
  std::vector<read_value> known(values.size());
  for (std::size_t i = 0; i < known.size(); ++i) known[i] = read(at(values, i));
  std::vector<ready_step> found;
  found.reserve(steps_.size());
  for (const fixed_step& one : steps_) {
    const auto grid = known[one.grid_at].size_of_launch(), block = known[one.block_at].size_of_launch();
    if (grid == 0) continue;
    found.push_back({&one, grid, block, one.words});
    for (const change& to : one.changing)
      found.back().words.words[to.position] = word_of(one, to, at(values, to.value), known[to.value]);
  }
  return found;
}

void launch_sequence::start(std::vector<ready_step>& steps, std::optional<std::uint64_t> after) const {
  if (after) queue_->wait_for(reinterpret_cast<cuda::stream>(*after));
  for (ready_step& one : steps) one.of->kernel->start_released(one.grid, one.block, one.of->shared_bytes, one.words);
}

std::uint64_t launch_sequence::word_of(const fixed_step& one, const change& to, nb::handle value, read_value known) {
  const bool fits = known.kind == read_value::array ? to.as.kind == form::array
                                                    : known.kind == read_value::whole && fits_slot(known.number, to.as);
  if (fits) return static_cast<std::uint64_t>(known.number);
  return one.kernel->reader().word_of(value, to.as, to.position);
}

bound_sequence::bound_sequence(std::shared_ptr<launch_sequence> of, nb::tuple values,
                               const std::vector<std::size_t>& changing, const nb::object& reported)
    : sequence_(std::move(of)),
      kept_(std::move(values)),
      ready_(sequence_->ready(kept_)),
      num_changing_(changing.size()),
      reported_(reported) {
  for (std::size_t number = 0; number < ready_.size(); ++number) {
    for (launch_sequence::change to : ready_[number].of->changing) {
      const auto found = std::ranges::find(changing, to.value);
      if (found == changing.end()) continue;
      to.value = static_cast<std::size_t>(found - changing.begin());
      changes_.push_back({number, to});
    }
  }
}

nb::list bound_sequence::run(const nb::tuple& changed, std::uint32_t awaited,
                             std::optional<std::uint64_t> after) const {
  if (changed.size() != num_changing_)
    throw input_error(std::to_string(num_changing_) + " values change, got " + std::to_string(changed.size()));
  std::vector<launch_sequence::ready_step> steps = ready_;  // several threads may run it
  for (const auto& [number, to] : changes_) {
    const nb::handle value = at(changed, to.value);
    steps[number].words.words[to.position] =
        launch_sequence::word_of(*steps[number].of, to, value, sequence_->read(value));
  }
  {
    const nb::gil_scoped_release released;
    sequence_->start(steps, after);
    sequence_->queue_->wait_for_words(reported_.words(), awaited);
  }
  return reported_.lower_halves();
}

void bind_sequences(nb::module_& m) {
  nb::class_<launch_sequence>(
      m, "LaunchSequence",
      "Launches that always follow each other. A step is a kernel, its arguments, pairs (position of an argument, "
      "number of the value that replaces it), the numbers of the values for grid and block, and its shared bytes.")
      .def(nb::init<std::shared_ptr<cuda::queue>, const std::vector<launch_sequence::step>&>(), nb::arg("queue"),
           nb::arg("steps"))
      .def("run", &launch_sequence::run, nb::arg("values"), nb::arg("after") = nb::none(),
           "Start all launches, after another stream has finished its work.")
      .def(
          "bind",
          [](std::shared_ptr<launch_sequence> self, nb::tuple values, const std::vector<std::size_t>& changing,
             const nb::object& reported) {
            return std::make_shared<bound_sequence>(std::move(self), std::move(values), changing, reported);
          },
          nb::arg("values"), nb::arg("changing"), nb::arg("reported"),
          "Bind the values; only those with the numbers `changing` can change later. The kernels report to the host in "
          "the words `reported`, as for `Queue.read_report`.");
  nb::class_<bound_sequence>(m, "BoundSequence", "A sequence with most values bound.")
      .def("run", &bound_sequence::run, nb::arg("changed"), nb::arg("awaited"), nb::arg("after") = nb::none(),
           "Start all launches and return their report with the number `awaited` as soon as it arrives. They may still "
           "be running.");
}

}  // namespace graphlode::bind
