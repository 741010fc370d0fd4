// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ops/reference_support.h"
#include "ops/shape_support.h"

namespace onepass::ops {

/// The `group` attribute, at least 1.
int64_t conv_groups(const ir::Node& node);

/// What Conv and ConvTranspose share: float src and weight of the same rank 3 to 5, kernel_shape as the
/// weight says, extents of at least 1.
void check_conv_operands(const ShapeContext& context);

/// The optional bias has one element per output channel.
void check_conv_bias(const ShapeContext& context, int64_t dst_channels);

/// dst[n, c, ...] += bias[c]; no bias adds nothing.
template <class T>
void add_conv_bias(const ir::Tensor* bias, ir::Tensor& dst) {
  if (bias == nullptr || dst.size() == 0) return;
  const int64_t channels = dst.shape()[1];
  const int64_t plane = dst.size() / (dst.shape()[0] * channels);
  T* row = elements<T>(dst);
  for (int64_t n = 0; n < dst.shape()[0]; ++n)
    for (int64_t c = 0; c < channels; ++c, row += plane)
      for (int64_t i = 0; i < plane; ++i) row[i] += elements<T>(*bias)[c];
}

}  // namespace onepass::ops
