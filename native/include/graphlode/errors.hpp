// errors.hpp - the exceptions of the core. The binding translates each into its Python class in one table.
#pragma once
#include <stdexcept>

namespace graphlode {

struct input_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};
// More memory is needed than the caller allows.
struct memory_limit_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};
struct count_overflow : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace graphlode
