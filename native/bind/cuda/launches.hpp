// launches.hpp - kernels that Python starts one at a time.
#pragma once
#include <nanobind/nanobind.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "arguments.hpp"
#include "graphlode/cuda/queue.hpp"
#include "graphlode/errors.hpp"

namespace graphlode::bind {

class bound_kernel {
 public:
  bound_kernel(const std::shared_ptr<cuda::queue>& in, std::uint64_t function, const std::string& entry,
               const nb::type_object& array_type)
      : kernel_(in, reinterpret_cast<cuda::function>(function)), reader_(entry, array_type, kernel_.parameters()) {}

  void launch(unsigned grid, unsigned block, unsigned shared_bytes, nb::handle values) {
    cuda::arguments read = reader_.read(values);
    start(grid, block, shared_bytes, read);
  }

  // The driver may wait until there is room for another launch. Other Python threads continue meanwhile.
  void start(unsigned grid, unsigned block, unsigned shared_bytes, cuda::arguments& values) {
    const nb::gil_scoped_release released;
    kernel_.launch(grid, block, shared_bytes, values);
  }

  // The same for callers that have released the GIL.
  void start_released(unsigned grid, unsigned block, unsigned shared_bytes, cuda::arguments& values) {
    kernel_.launch(grid, block, shared_bytes, values);
  }

  const argument_reader& reader() const { return reader_; }

 private:
  cuda::kernel kernel_;
  argument_reader reader_;
};

// A launch to repeat, in which some arguments change. Keeps the arrays among the other arguments alive.
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

}  // namespace graphlode::bind
