// SPDX-License-Identifier: Apache-2.0
#include "zoo/moments.h"

#include <algorithm>
#include <cmath>

namespace onepass::zoo {

namespace {

constexpr double k_smallest_variance = 1e-3;

/// e^x as (1 + t + t^2/2 + t^3/6 + t^4/24)^1024 with t = x / 1024: the library's exp rounds as it likes.
double exponential(double x) {
  const double t = std::clamp(x, -700.0, 700.0) / 1024;
  double power = 1 + t * (1 + t / 2 * (1 + t / 3 * (1 + t / 4)));
  for (int i = 0; i < 10; ++i) power *= power;
  return power;
}

/// Points of the standard normal distribution, and weights that sum to 1.
struct Quadrature {
  std::vector<double> points, weights;

  Quadrature() {
    constexpr double k_end = 5, k_step = 0.25;
    double total = 0;
    for (double point = -k_end; point <= k_end; point += k_step) {
      points.push_back(point);
      weights.push_back(exponential(-point * point / 2));
      total += weights.back();
    }
    for (double& weight : weights) weight /= total;
  }
};

}  // namespace

Moments Moments::uniform(int64_t channels, double mean, double variance) {
  const auto count = static_cast<size_t>(channels);
  return {std::vector<double>(count, mean), std::vector<double>(count, variance)};
}

void Moments::append(const Moments& other) {
  mean.insert(mean.end(), other.mean.begin(), other.mean.end());
  variance.insert(variance.end(), other.variance.begin(), other.variance.end());
}

Moments Moments::slice(int64_t begin, int64_t count) const {
  return {{mean.begin() + begin, mean.begin() + begin + count},
          {variance.begin() + begin, variance.begin() + begin + count}};
}

Moments Moments::scaled(double factor) const {
  Moments result = *this;
  for (double& value : result.variance) value *= factor;
  return result;
}

double Moments::mean_variance() const {
  double total = 0;
  for (const double value : variance) total += value;
  return total / static_cast<double>(channels());
}

double Moments::mean_second_moment() const {
  double total = 0;
  for (const double value : mean) total += value * value;
  return total / static_cast<double>(channels()) + mean_variance();
}

double relu(double x) {
  return std::max(x, 0.0);
}

double relu6(double x) {
  return std::clamp(x, 0.0, 6.0);
}

double sigmoid(double x) {
  return 1 / (1 + exponential(-x));
}

double silu(double x) {
  return x / (1 + exponential(-x));
}

double hard_sigmoid(double x) {
  return std::clamp(x / 6 + 0.5, 0.0, 1.0);
}

double hard_swish(double x) {
  return x * hard_sigmoid(x);
}

Moments through(const Moments& moments, double (*function)(double)) {
  const Quadrature quadrature;
  Moments result;
  for (size_t c = 0; c < moments.mean.size(); ++c) {
    const double deviation = std::sqrt(moments.variance[c]);
    double first = 0, second = 0;
    for (size_t i = 0; i < quadrature.points.size(); ++i) {
      const double value = function(moments.mean[c] + deviation * quadrature.points[i]);
      first += quadrature.weights[i] * value;
      second += quadrature.weights[i] * value * value;
    }
    result.mean.push_back(first);
    result.variance.push_back(std::max(second - first * first, k_smallest_variance));
  }
  return result;
}

Moments through_filters(const Moments& moments, std::span<const float> filters, int64_t outputs,
                        int64_t groups) {
  const int64_t inputs = moments.channels() / groups;
  const int64_t taps = static_cast<int64_t>(filters.size()) / (outputs * inputs);
  const float* weight = filters.data();
  Moments result;
  for (int64_t output = 0; output < outputs; ++output) {
    const int64_t first_input = output / (outputs / groups) * inputs;
    double mean = 0, variance = 0;
    for (int64_t input = first_input; input < first_input + inputs; ++input) {
      double total = 0, squares = 0;
      for (int64_t tap = 0; tap < taps; ++tap, ++weight) {
        total += *weight;
        squares += static_cast<double>(*weight) * *weight;
      }
      mean += total * moments.mean[input];
      variance += squares * moments.variance[input];
    }
    result.mean.push_back(mean);
    result.variance.push_back(std::max(variance, k_smallest_variance));
  }
  return result;
}

Moments sum(const Moments& a, const Moments& b) {
  Moments result = a;
  for (size_t c = 0; c < result.mean.size(); ++c) {
    result.mean[c] += b.mean[c];
    result.variance[c] += b.variance[c];
  }
  return result;
}

Moments product(const Moments& a, const Moments& b) {
  Moments result = a;
  for (size_t c = 0; c < result.mean.size(); ++c) {
    const double a_square = a.mean[c] * a.mean[c], b_square = b.mean[c] * b.mean[c];
    result.mean[c] *= b.mean[c];
    result.variance[c] = a_square * b.variance[c] + a.variance[c] * b_square + a.variance[c] * b.variance[c];
  }
  return result;
}

}  // namespace onepass::zoo
