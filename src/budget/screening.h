// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "ir/graph.h"

namespace onepass::budget {

/// The frames of many on which errors show most.
struct Screening {
  std::vector<size_t> frames;  ///< indices, at most `most`, the most sensitive first
  /// How much more sensitive than these the most sensitive of 200 frames is likely to be, at least 1: the
  /// effects of the frames that were looked at, taken as log-normal.
  double beyond = 1;
};

struct ScreeningOptions {
  size_t most = 4;
  /// Bounds the work: two runs a frame. Where not all frames can be looked at, those at equal distances are.
  double flops = 1.5e10;
  int threads = 2;
};

/// Looks at frames with noise in all of `layers` at once. All frames, unscreened, when there are few.
Screening screen(const ir::Graph& graph, const std::vector<std::vector<ir::Tensor>>& frames,
                 const std::vector<ir::NodeId>& layers, const ScreeningOptions& options);

}  // namespace onepass::budget
