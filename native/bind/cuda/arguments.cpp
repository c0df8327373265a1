#include "arguments.hpp"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "graphlode/errors.hpp"

namespace graphlode::bind {
namespace {

struct scalar_type {
  PyTypeObject* type;
  slot as;
};

form form_of(char kind) {
  switch (kind) {
    case 'i':
      return form::integer;
    case 'u':
      return form::natural;
    case 'f':
      return form::real;
    default:
      return form::truth;
  }
}

// The NumPy scalar types that a kernel can take. Types live as long as NumPy, so they are not reference-counted.
const std::vector<scalar_type>& scalar_types() {
  static const std::vector<scalar_type> types = [] {
    const char* names[] = {"int32", "uint32", "int64", "uint64", "float64",  "float32",  "bool_",
                           "int8",  "uint8",  "int16", "uint16", "longlong", "ulonglong"};
    const nb::module_ numpy = nb::module_::import_("numpy");
    std::vector<scalar_type> found;
    for (const char* name : names) {
      const nb::object type = numpy.attr(name);
      const nb::object dtype = numpy.attr("dtype")(type);
      const char kind = nb::cast<std::string>(dtype.attr("kind"))[0];
      const auto bytes = nb::cast<std::uint8_t>(dtype.attr("itemsize"));
      found.push_back({reinterpret_cast<PyTypeObject*>(type.ptr()), {form_of(kind), bytes}});
    }
    return found;
  }();
  return types;
}

// Returns false if the value is not an integer of that range.
bool read_whole(nb::handle value, slot to, std::uint64_t& word) {
  const nb::object whole = nb::steal(PyNumber_Index(value.ptr()));
  if (!whole) return false;
  const int bits = 8 * to.bytes;
  if (to.kind == form::natural) {
    word = PyLong_AsUnsignedLongLong(whole.ptr());
    return !PyErr_Occurred() && (bits == 64 || word >> bits == 0);
  }
  const long long number = PyLong_AsLongLong(whole.ptr());
  word = static_cast<std::uint64_t>(number);
  if (bits < 64 && (number < -(1LL << (bits - 1)) || number >= 1LL << (bits - 1))) return false;
  return !(number == -1 && PyErr_Occurred());
}

bool read_real(nb::handle value, slot to, std::uint64_t& word) {
  const double number = PyFloat_AsDouble(value.ptr());
  if (number == -1.0 && PyErr_Occurred()) return false;
  word =
      to.bytes == 8 ? std::bit_cast<std::uint64_t>(number) : std::bit_cast<std::uint32_t>(static_cast<float>(number));
  return true;
}

std::string name_of_type(nb::handle value) { return nb::cast<std::string>(value.type().attr("__name__")); }

}  // namespace

std::uint64_t address_of(nb::handle array) {
  static PyObject* const data = PyUnicode_InternFromString("data");
  static PyObject* const ptr = PyUnicode_InternFromString("ptr");
  const nb::object memory = nb::steal(PyObject_GetAttr(array.ptr(), data));
  if (!memory) throw nb::python_error();
  const nb::object pointer = nb::steal(PyObject_GetAttr(memory.ptr(), ptr));
  if (!pointer) throw nb::python_error();
  const std::uint64_t found = PyLong_AsUnsignedLongLong(pointer.ptr());
  if (PyErr_Occurred()) throw nb::python_error();
  return found;
}

bool fits_slot(long long number, slot to) {
  const int bits = 8 * to.bytes;
  if (to.kind == form::natural) return number >= 0 && (bits == 64 || number >> bits == 0);
  if (to.kind != form::integer) return false;
  return bits == 64 || (number >= -(1LL << (bits - 1)) && number < 1LL << (bits - 1));
}

argument_reader::argument_reader(std::string entry, nb::type_object array_type, std::vector<std::size_t> parameters)
    : entry_(std::move(entry)), array_type_(std::move(array_type)), parameters_(std::move(parameters)) {
  scalar_types();  // imports numpy now, not during a launch
}

slot argument_reader::slot_of(nb::handle value, std::size_t position) const {
  PyTypeObject* const type = Py_TYPE(value.ptr());
  slot found{form::array, sizeof(cuda::address)};
  if (type != reinterpret_cast<PyTypeObject*>(array_type_.ptr())) {
    const scalar_type* known = nullptr;
    for (const scalar_type& one : scalar_types())
      if (one.type == type) known = &one;
    if (known)
      found = known->as;
    else if (PyObject_IsInstance(value.ptr(), array_type_.ptr()) != 1)
      refuse(position, "expected an array of the device or a numpy scalar, got " + name_of_type(value));
  }
  if (!parameters_.empty() && position < parameters_.size() && parameters_[position] != found.bytes)
    refuse(position, "the parameter has " + std::to_string(parameters_[position]) + " bytes, got " +
                         name_of_type(value) + " with " + std::to_string(found.bytes));
  return found;
}

bool argument_reader::is_array(nb::handle value) const {
  return Py_TYPE(value.ptr()) == reinterpret_cast<PyTypeObject*>(array_type_.ptr());
}

std::uint64_t argument_reader::word_of(nb::handle value, slot to, std::size_t position) const {
  std::uint64_t word = 0;
  bool fits = true;
  switch (to.kind) {
    case form::array:
      if (PyObject_IsInstance(value.ptr(), array_type_.ptr()) != 1)
        refuse(position, "expected an array of the device, got " + name_of_type(value));
      return address_of(value);
    case form::integer:
    case form::natural:
      fits = read_whole(value, to, word);
      break;
    case form::real:
      fits = read_real(value, to, word);
      break;
    case form::truth:
      word = PyObject_IsTrue(value.ptr()) == 1;
      break;
  }
  if (!fits) {
    PyErr_Clear();
    const char* kinds[] = {"", "a signed whole number", "an unsigned whole number", "a real number", ""};
    refuse(position, std::string("expected ") + kinds[static_cast<int>(to.kind)] + " of " + std::to_string(to.bytes) +
                         " bytes, got " + nb::repr(value).c_str());
  }
  return word;
}

cuda::arguments argument_reader::read(nb::handle values) const {
  const nb::object sequence = nb::steal(PySequence_Fast(values.ptr(), "arguments must be a tuple or a list"));
  if (!sequence) throw nb::python_error();
  const auto count = static_cast<std::size_t>(PySequence_Fast_GET_SIZE(sequence.ptr()));
  PyObject** const items = PySequence_Fast_ITEMS(sequence.ptr());
  cuda::arguments found;
  found.count = count;
  // Report a wrong argument before a wrong number of arguments.
  for (std::size_t i = 0; i < std::min(count, cuda::arguments::most); ++i)
    found.words[i] = word_of(items[i], slot_of(items[i], i), i);
  check_count(count);
  return found;
}

void argument_reader::check_count(std::size_t given) const {
  const std::size_t wanted = parameters_.size();
  if (given > cuda::arguments::most || (wanted != 0 && given != wanted))
    throw input_error(entry_ + " takes " + (wanted ? "" : "up to ") +
                      std::to_string(wanted ? wanted : cuda::arguments::most) + " arguments, got " +
                      std::to_string(given));
}

void argument_reader::refuse(std::size_t position, const std::string& why) const {
  throw input_error(entry_ + ", argument " + std::to_string(position) + ": " + why);
}

}  // namespace graphlode::bind
