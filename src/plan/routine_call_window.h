// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "plan/routine_call_support.h"

namespace onepass::plan::routines {

/// Per spatial axis.
struct SlidingWindow {
  Ints src, kernel, strides, dilations, pads, pads_end, dst;

  int64_t span(size_t axis) const { return (kernel[axis] - 1) * dilations[axis] + 1; }
};

/// Of a ConvTranspose: the pads are cut from the larger map; where its extent is asked for, they follow.
SlidingWindow transposed_window_of(const NodeView& view, Ints kernel);

}  // namespace onepass::plan::routines
