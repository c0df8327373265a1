// decaying_fit.hpp - non-negative least squares over observations that fade: seconds = c0 * x0 + c1 * x1 + ...
//
// A store asks such fits what a batch will take on each path and each device, and tells them what it took: between two
// batches that take a few dozen microseconds each, so an answer must not take longer than one of them.
#pragma once
#include <array>
#include <span>

namespace graphlode::graph {

class decaying_fit {
 public:
  static constexpr int most_features = 3;
  using numbers = std::array<double, most_features>;

  // Every observation makes the earlier ones count `decay` times what they did.
  decaying_fit(int num_features, double decay);

  // Errors count relative to the geometric mean of what was expected and what came: relative to the latter alone, a
  // device that gets slower would hardly be believed.
  void observe(std::span<const double> features, double seconds);

  // Keeps the part `share` of what has been observed so far for ever: directions that later observations do not explore
  // stay known.
  void anchor(double share);

  double predict(std::span<const double> features);

  // The best coefficients of which none is negative; where several are as good, none stands out.
  std::span<const double> coefficients();

  int num_features() const { return num_features_; }
  long long observations() const { return observations_; }

 private:
  struct sums {
    std::array<numbers, most_features> squares{};
    numbers products{};
  };

  void solve();

  int num_features_;
  double decay_;
  sums seen_, anchored_;
  numbers found_{};
  bool solved_ = true;
  long long observations_ = 0;
};

}  // namespace graphlode::graph
