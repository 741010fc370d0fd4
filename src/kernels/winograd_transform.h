// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "loops/nest.h"

namespace onepass::kernels {

/// The transforms of F(m x m, 3 x 3), by Toom-Cook interpolation at 0, +-p for each p of `points`, and
/// infinity (Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks", 2015; points after Alam et
/// al., "Winograd Convolution for Deep Neural Networks: Efficient Point Selection", 2022). m + 2 = 2 * points
/// + 2.
struct WinogradTransform {
  std::vector<double> points;

  int64_t m() const { return 2 * static_cast<int64_t>(points.size()); }
  int64_t alpha() const { return m() + 2; }  ///< extent of a tile

  /// alpha x 3: row i evaluates a filter at point i, divided by the product of the point's distances to the
  /// others.
  std::vector<std::array<double, 3>> filter_rows() const;
  /// One dimension of B^T d: alpha values in, alpha values out.
  std::vector<loops::Value> input(const std::vector<loops::Value>& d) const;
  /// One dimension of A^T x: alpha values in, m values out.
  std::vector<loops::Value> output(const std::vector<loops::Value>& x) const;
};

/// F(4x4) at {0, +-1/sqrt(2), +-sqrt(2), infinity} and F(2x2) at {0, +-1, infinity}.
const WinogradTransform& winograd_f4();
const WinogradTransform& winograd_f2();

/// G g G^T of one 3 x 3 filter in double: alpha * alpha values, row-major.
std::vector<double> transform_filter(const WinogradTransform& transform, const float* filter);

}  // namespace onepass::kernels
