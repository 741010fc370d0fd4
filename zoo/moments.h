// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace onepass::zoo {

/// The mean and the variance that each channel of a value is expected to have. Computed with correctly
/// rounded operations alone, so that the weights made from them are the same on every machine.
struct Moments {
  std::vector<double> mean, variance;

  static Moments uniform(int64_t channels, double mean, double variance);
  int64_t channels() const { return static_cast<int64_t>(mean.size()); }
  void append(const Moments& other);
  Moments slice(int64_t begin, int64_t count) const;
  Moments scaled(double factor) const;  ///< with `factor` times the variances
  double mean_variance() const;         ///< of all channels
  double mean_second_moment() const;    ///< of all channels: variance + mean^2
};

double relu(double x);
double relu6(double x);
double sigmoid(double x);
double silu(double x);
double hard_sigmoid(double x);  ///< of slope 1/6
double hard_swish(double x);

/// Behind an elementwise function, each channel taken as normally distributed.
Moments through(const Moments& moments, double (*function)(double));

/// Behind a filter bank [outputs, inputs / groups, taps].
Moments through_filters(const Moments& moments, std::span<const float> filters, int64_t outputs,
                        int64_t groups);

/// Of the sum of two independent values.
Moments sum(const Moments& a, const Moments& b);
/// Of their product.
Moments product(const Moments& a, const Moments& b);

}  // namespace onepass::zoo
