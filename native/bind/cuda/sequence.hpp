// sequence.hpp - launches that always follow each other, repeated with one call.
#pragma once
#include <nanobind/nanobind.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "graphlode/cuda/queue.hpp"
#include "host_bytes.hpp"
#include "launches.hpp"

namespace graphlode::bind {

// The arguments of the launches are fixed, except for those that are replaced by values of the call. Grid and block are
// such values too; a launch with a grid of 0 is skipped.
class launch_sequence {
 public:
  using replacement = std::pair<std::size_t, std::size_t>;  // of an argument by a value
  using step = std::tuple<std::shared_ptr<bound_kernel>, nb::tuple, std::vector<replacement>, std::size_t, std::size_t,
                          unsigned>;

  launch_sequence(std::shared_ptr<cuda::queue> in, const std::vector<step>& steps);

  void run(const nb::tuple& values, std::optional<std::uint64_t> after) const;

 private:
  friend class bound_sequence;

  struct change {
    std::size_t position;
    std::size_t value;
    slot as;
  };
  struct fixed_step {
    std::shared_ptr<bound_kernel> kernel;
    nb::tuple kept;  // keeps the arrays among the fixed arguments alive
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

  // A value, read as far as possible without knowing its arguments, because several launches may use it.
  struct read_value {
    enum { array, whole, other } kind = other;
    long long number = 0;

    unsigned size_of_launch() const;
  };

  read_value read(nb::handle value) const;
  std::vector<ready_step> ready(const nb::tuple& values) const;
  // Called without the GIL.
  void start(std::vector<ready_step>& steps, std::optional<std::uint64_t> after) const;
  static std::uint64_t word_of(const fixed_step& one, const change& to, nb::handle value, read_value known);

  std::shared_ptr<cuda::queue> queue_;
  std::vector<fixed_step> steps_;
  std::size_t num_values_ = 0;
};

// A sequence with most values known in advance, whose kernels report to the host what they did.
class bound_sequence {
 public:
  bound_sequence(std::shared_ptr<launch_sequence> of, nb::tuple values, const std::vector<std::size_t>& changing,
                 const nb::object& reported);

  // Returns the report as soon as it arrives. The launches may still be running.
  nb::list run(const nb::tuple& changed, std::uint32_t awaited, std::optional<std::uint64_t> after) const;

 private:
  struct changed_word {
    std::size_t step;
    launch_sequence::change to;  // `value` indexes the changing values
  };

  std::shared_ptr<launch_sequence> sequence_;
  nb::tuple kept_;
  std::vector<launch_sequence::ready_step> ready_;
  std::vector<changed_word> changes_;
  std::size_t num_changing_;
  reported_words reported_;
};

void bind_sequences(nb::module_& m);

}  // namespace graphlode::bind
