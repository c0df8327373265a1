// module.cpp - graphlode.cpu._native: the translation of errors, and one bind_* function per stage.
#include "arrays.hpp"
#include "graphlode/errors.hpp"

namespace graphlode::bind {

void bind_memory(nb::module_& m) {
  m.def("live_bytes", &live_bytes, "Bytes that the core holds now.");
  m.def("peak_bytes", &peak_bytes, "Most bytes that the core held since reset_peak_bytes().");
  m.def("reset_peak_bytes", &reset_peak_bytes);
#ifdef __clang__
  m.attr("compiler") = __VERSION__;
#else
  m.attr("compiler") = "GCC " __VERSION__;
#endif
  m.def("fail_allocation", &fail_allocation, nb::arg("n"), "Make the n-th allocation from now fail; 0 turns it off.");
}

}  // namespace graphlode::bind

NB_MODULE(_native, m) {
  using namespace graphlode;
  nb::object errors = nb::module_::import_("graphlode.errors");
  static PyObject* input = nb::object(errors.attr("InputError")).release().ptr();
  static PyObject* overflow = nb::object(errors.attr("CountOverflowError")).release().ptr();
  static PyObject* memory = nb::object(errors.attr("DeviceMemoryError")).release().ptr();
  static PyObject* interrupted = PyExc_InterruptedError;
  nb::register_exception_translator([](const std::exception_ptr& p, void*) {
    try {
      std::rethrow_exception(p);
    } catch (const input_error& e) {
      PyErr_SetString(input, e.what());
    } catch (const count_overflow& e) {
      PyErr_SetString(overflow, e.what());
    } catch (const memory_limit_error& e) {
      PyErr_SetString(memory, e.what());
    } catch (const cancelled& e) {
      PyErr_SetString(interrupted, e.what());
    }
  });
  bind::bind_memory(m);
  bind::bind_io(m);
  bind::bind_generate(m);
  bind::bind_graph(m);
  bind::bind_id_map(m);
  bind::bind_packed(m);
  bind::bind_analytics(m);
  bind::bind_analytics_walks(m);
  bind::bind_analytics_paths(m);
  bind::bind_mining(m);
  bind::bind_mining_lists(m);
  bind::bind_mining_maximal(m);
  bind::bind_motifs(m);
  bind::bind_mining_motif_parts(m);
  bind::bind_locality(m);
  bind::bind_tiles(m);
}
