// arguments.hpp - the arguments of a launch, from Python objects into words.
//
// An argument is an array of the device, known by its type, of which the kernel gets the address, or a numpy scalar of
// the parameter's own width. Reading one takes tens of nanoseconds, which is why it is not done in Python.
#pragma once
#include <nanobind/nanobind.h>

#include <cstdint>
#include <string>
#include <vector>

#include "graphlode/cuda/queue.hpp"

namespace nb = nanobind;

namespace graphlode::bind {

enum class form : std::uint8_t { array, integer, natural, real, truth };

// What a parameter is, as far as its argument tells.
struct slot {
  form kind;
  std::uint8_t bytes;
};

// Where an array of the device begins.
std::uint64_t address_of(nb::handle array);
// Whether a word that was read as a whole number is one of that slot; never for arrays and real numbers.
bool fits_slot(long long number, slot to);

// Words from Python objects for the parameters of one kernel. Throws input_error with the position of a wrong argument.
class argument_reader {
 public:
  argument_reader(std::string entry, nb::type_object array_type, std::vector<std::size_t> parameters);

  // What the type of an argument says, checked against the width of the parameter.
  slot slot_of(nb::handle value, std::size_t position) const;
  // The word of a value in a slot: an array for an array, else anything that is a number of that range.
  std::uint64_t word_of(nb::handle value, slot to, std::size_t position) const;
  // Whether a value is an array of the device.
  bool is_array(nb::handle value) const;
  // All arguments, a tuple or a list.
  cuda::arguments read(nb::handle values) const;

  // Throws if the kernel has another number of parameters or more than can be passed.
  void check_count(std::size_t given) const;
  const std::string& entry() const { return entry_; }

 private:
  [[noreturn]] void refuse(std::size_t position, const std::string& why) const;

  std::string entry_;
  nb::type_object array_type_;
  std::vector<std::size_t> parameters_;
};

}  // namespace graphlode::bind
