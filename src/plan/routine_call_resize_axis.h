// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kernels/pointwise.h"
#include "plan/routine_call_support.h"

namespace onepass::plan::routines {

/// Where the entries of one resized axis come from: entry i is the sum over t < taps of weights[i * taps + t]
/// * src[indices[i * taps + t]]; indices of an entry outside the crop are -1.
struct AxisTaps {
  int64_t taps = 1;
  Ints indices;
  std::vector<double> weights;

  bool is_identity(int64_t src_extent) const;
};

/// The taps of every axis of a Resize; nothing when scales, sizes or roi are not known or antialias is asked
/// for.
std::optional<std::vector<AxisTaps>> resize_taps(const NodeView& view);

/// Rows and columns of a linear Resize of f32[n, c, h, w] along h and w alone, in integers.
struct LinearAxes {
  kernels::LinearAxis rows, columns;
};
/// Nothing for other modes, crops, extrapolation and scales that have no such form.
std::optional<LinearAxes> linear_axes(const NodeView& view);

}  // namespace onepass::plan::routines
