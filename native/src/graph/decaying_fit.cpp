#include "graphlode/graph/decaying_fit.hpp"

#include <algorithm>
#include <cmath>

namespace graphlode::graph {
namespace {

using numbers = decaying_fit::numbers;
using matrix = std::array<numbers, decaying_fit::most_features>;

constexpr double shortest = 1e-7;      // seconds
constexpr double most_surprise = 100;  // an expectation that is further off counts as if it were not
constexpr double tiny = 1e-300;
// Added to the diagonal of equations whose diagonal is 1: where features say the same, they share what it takes.
constexpr double ridge = 1e-9;

// The solution of the equations of the features in `chosen`, a set of bits; the others are 0. The matrix is symmetric
// and, with the ridge, positive definite: it is eliminated without looking for pivots.
numbers solution(const matrix& equations, const numbers& right, unsigned chosen, int count) {
  std::array<int, decaying_fit::most_features> of{};
  int size = 0;
  for (int i = 0; i < count; ++i)
    if (chosen >> i & 1u) of[static_cast<std::size_t>(size++)] = i;
  matrix rows{};
  numbers values{};
  const auto at = [&](int i) { return static_cast<std::size_t>(of[static_cast<std::size_t>(i)]); };
  for (int i = 0; i < size; ++i) {
    for (int j = 0; j < size; ++j) rows[at(i)][at(j)] = equations[at(i)][at(j)] + (i == j ? ridge : 0.0);
    values[at(i)] = right[at(i)];
  }
  for (int i = 0; i < size; ++i) {
    for (int k = i + 1; k < size; ++k) {
      const double factor = rows[at(k)][at(i)] / rows[at(i)][at(i)];
      for (int j = i; j < size; ++j) rows[at(k)][at(j)] -= factor * rows[at(i)][at(j)];
      values[at(k)] -= factor * values[at(i)];
    }
  }
  numbers found{};
  for (int i = size - 1; i >= 0; --i) {
    double rest = values[at(i)];
    for (int j = i + 1; j < size; ++j) rest -= rows[at(i)][at(j)] * found[at(j)];
    found[at(i)] = rest / rows[at(i)][at(i)];
  }
  return found;
}

// The sum of squared errors, less what no coefficients change.
double error_of(const matrix& equations, const numbers& right, const numbers& x) {
  double error = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    error -= 2 * right[i] * x[i];
    for (std::size_t j = 0; j < x.size(); ++j) error += x[i] * equations[i][j] * x[j];
  }
  return error;
}

}  // namespace

decaying_fit::decaying_fit(int num_features, double decay) : num_features_(num_features), decay_(decay) {}

void decaying_fit::observe(std::span<const double> features, double seconds) {
  const double y = std::max(seconds, shortest);
  const double expected = observations_ == 0 ? y : std::clamp(predict(features), y / most_surprise, y * most_surprise);
  const double weight = 1 / (y * expected);
  for (std::size_t i = 0; i < features.size(); ++i) {
    for (std::size_t j = 0; j < features.size(); ++j)
      seen_.squares[i][j] = decay_ * seen_.squares[i][j] + weight * features[i] * features[j];
    seen_.products[i] = decay_ * seen_.products[i] + weight * features[i] * y;
  }
  ++observations_;
  solved_ = false;
}

void decaying_fit::anchor(double share) {
  anchored_ = seen_;
  for (auto& row : anchored_.squares)
    for (double& x : row) x *= share;
  for (double& x : anchored_.products) x *= share;
  solved_ = false;
}

double decaying_fit::predict(std::span<const double> features) {
  const auto found = coefficients();
  double seconds = 0;
  for (std::size_t i = 0; i < features.size(); ++i) seconds += found[i] * features[i];
  return seconds;
}

std::span<const double> decaying_fit::coefficients() {
  if (!solved_) solve();
  return {found_.data(), static_cast<std::size_t>(num_features_)};
}

// The minimum over all sets of features, those that are left out having the coefficient 0; features are two or three.
void decaying_fit::solve() {
  const auto count = static_cast<std::size_t>(num_features_);
  matrix equations{};
  numbers right{}, scale{};
  for (std::size_t i = 0; i < count; ++i)
    scale[i] = std::sqrt(std::max(seen_.squares[i][i] + anchored_.squares[i][i], tiny));
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t j = 0; j < count; ++j)
      equations[i][j] = (seen_.squares[i][j] + anchored_.squares[i][j]) / (scale[i] * scale[j]);
    right[i] = (seen_.products[i] + anchored_.products[i]) / scale[i];
  }
  numbers best{};
  double lowest = 0;
  const unsigned all = (1u << num_features_) - 1;
  for (unsigned chosen = all; chosen != 0; --chosen) {
    const numbers found = solution(equations, right, chosen, num_features_);
    if (*std::min_element(found.begin(), found.end()) < 0) continue;
    const double error = error_of(equations, right, found);
    if (error < lowest - ridge * std::abs(lowest)) {
      lowest = error;
      best = found;
    }
    if (chosen == all) break;  // the minimum without the condition fulfills it
  }
  for (std::size_t i = 0; i < count; ++i) found_[i] = best[i] / scale[i];
  solved_ = true;
}

}  // namespace graphlode::graph
