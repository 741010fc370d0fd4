// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "kernels/feature_map.h"

namespace onepass::kernels {

struct ConvSpec;

/// Which outputs of a transposed convolution a convolution computes. Under strides s every s-th row and
/// column is a convolution of stride 1 of its own, a phase; phases with the same window are computed as one,
/// side by side as output channels, and stored between each other. Vector v of the convolution's outputs
/// holds channel block v / count() of phase v % count(), phases row by row, so that neighbours are written
/// together; output (y, x) of phase (py, px) is
///   map(y * step_h + first_h + py, x * step_w + first_w + px)
struct OutputPhases {
  FeatureMap map;  ///< the whole result
  int64_t step_h = 1, step_w = 1;
  int64_t count_h = 1, count_w = 1;
  int64_t first_h = 0, first_w = 0;
  int64_t tap_h = 0,
          tap_w = 0;        ///< the last tap of phase 0 in the whole kernel; those before it are s further
  bool writes_halo = true;  ///< of its rows: one of the convolutions that share a row does

  int64_t count() const { return count_h * count_w; }
  bool operator==(const OutputPhases&) const = default;
};

/// dst[n, k, i * stride - pad + kh * dilation, ...] += weights[c, k, kh, kw] * src[n, c, i, ...]
struct TransposedConv {
  FeatureMap src, dst;
  int64_t kernel_h = 1, kernel_w = 1;
  int64_t stride_h = 1, stride_w = 1;
  int64_t dilation_h = 1, dilation_w = 1;
  int64_t pad_top = 0, pad_left = 0;
  int64_t groups = 1;
  bool bias = false;
};

/// The convolutions that compute it together, each output once, without layout. Under strides of 1 it is one
/// whose `phases` are absent. Empty when there are none: groups of several channels or dilation under a
/// stride, a kernel smaller than the stride, pads beyond the taps of a phase.
std::vector<ConvSpec> convolutions_of(const TransposedConv& transposed);

/// The maps that `spec` writes to, whole: with phases, `dst` is made to hold them side by side.
const FeatureMap& destination(const ConvSpec& spec);
void set_destination(ConvSpec& spec, const FeatureMap& map);

/// weights[c, k / groups, kh, kw] of the transposed convolution as `part`, one of its convolutions with its
/// destination set, takes them: [outputs, c / groups, kernel].
std::vector<float> part_weights(const TransposedConv& transposed, const ConvSpec& part,
                                std::span<const float> weights);

}  // namespace onepass::kernels
