// arguments.hpp - converts the arguments of a launch from Python objects to words.
//
// An argument is either a device array, recognized by its type, whose address is passed, or a NumPy scalar of exactly
// the parameter's width. Reading one takes tens of nanoseconds, which Python code could not reach.
#pragma once
#include <nanobind/nanobind.h>

#include <cstdint>
#include <string>
#include <vector>

#include "graphlode/cuda/queue.hpp"

namespace nb = nanobind;

namespace graphlode::bind {

enum class form : std::uint8_t { array, integer, natural, real, truth };

// The kind and size of a parameter, as its argument shows them.
struct slot {
  form kind;
  std::uint8_t bytes;
};

// The address of the first element of a device array.
std::uint64_t address_of(nb::handle array);
// Whether a word that was read as an integer fits the slot. Always false for arrays and real numbers.
bool fits_slot(long long number, slot to);

// Converts Python objects to the parameter words of one kernel. Throws input_error with the position of a wrong
// argument.
class argument_reader {
 public:
  argument_reader(std::string entry, nb::type_object array_type, std::vector<std::size_t> parameters);

  // The slot of an argument by its type, checked against the size of the parameter.
  slot slot_of(nb::handle value, std::size_t position) const;
  // The word of a value in a slot: an array for an array, otherwise any number within the range.
  std::uint64_t word_of(nb::handle value, slot to, std::size_t position) const;
  // Whether a value is a device array.
  bool is_array(nb::handle value) const;
  // All arguments, from a tuple or a list.
  cuda::arguments read(nb::handle values) const;

  // Throws if the number of arguments is not that of the parameters, or is larger than can be passed.
  void check_count(std::size_t given) const;
  const std::string& entry() const { return entry_; }

 private:
  [[noreturn]] void refuse(std::size_t position, const std::string& why) const;

  std::string entry_;
  nb::type_object array_type_;
  std::vector<std::size_t> parameters_;
};

}  // namespace graphlode::bind
