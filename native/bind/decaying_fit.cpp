// decaying_fit.cpp - binding of the fits behind a store's choices.
#include "graphlode/graph/decaying_fit.hpp"

#include <nanobind/stl/vector.h>

#include "arrays.hpp"
#include "graphlode/errors.hpp"

namespace graphlode::bind {
namespace {

using graph::decaying_fit;

const std::vector<double>& accepted(const decaying_fit& fit, const std::vector<double>& features) {
  if (static_cast<int>(features.size()) != fit.num_features()) {
    throw input_error("the fit has " + std::to_string(fit.num_features()) + " features, got " +
                      std::to_string(features.size()));
  }
  return features;
}

nb::tuple coefficients(decaying_fit& fit) {
  const auto found = fit.coefficients();
  nb::list told;
  for (const double one : found) told.append(one);
  return nb::tuple(told);
}

}  // namespace

void bind_decaying_fit(nb::module_& m) {
  using namespace nb::literals;
  nb::class_<decaying_fit>(m, "DecayingFit",
                           "Non-negative least squares over observations that fade: y = c0 * x0 + c1 * x1 + ..")
      .def(
          "__init__",
          [](decaying_fit* at, int num_features, double decay) {
            if (num_features < 1 || num_features > decaying_fit::most_features)
              throw input_error("a fit has 1 to " + std::to_string(decaying_fit::most_features) + " features, got " +
                                std::to_string(num_features));
            if (!(decay > 0 && decay <= 1)) throw input_error("decay is above 0 and at most 1");
            new (at) decaying_fit(num_features, decay);
          },
          "num_features"_a, "decay"_a = 0.9)
      .def(
          "observe",
          [](decaying_fit& fit, const std::vector<double>& features, double seconds) {
            fit.observe(accepted(fit, features), seconds);
          },
          "features"_a, "seconds"_a)
      .def("anchor", &decaying_fit::anchor, "share"_a, "Never forget altogether what has been observed so far.")
      .def(
          "predict",
          [](decaying_fit& fit, const std::vector<double>& features) { return fit.predict(accepted(fit, features)); },
          "features"_a)
      .def("coefficients", &coefficients, nb::sig("def coefficients(self) -> tuple[float, ...]"),
           "The best ones that are not negative; where several are as good, none stands out.")
      .def_prop_ro("observations", &decaying_fit::observations);
}

}  // namespace graphlode::bind
