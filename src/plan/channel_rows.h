// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "ir/graph.h"
#include "kernels/feature_map.h"

namespace onepass::plan {

/// Conv -> views -> Transpose, where nobody else reads what lies between: each pixel's channels, or each of
/// several runs of them, become a row. A kernel that stores vectors of channels writes the rows at once, and
/// the Transpose moves nothing.
struct ChannelRows {
  ir::NodeId transpose;
  std::vector<ir::NodeId> views;
  kernels::FeatureMap map;  ///< of the convolution's result: the bytes of the Transpose's
};

/// For the result of a convolution; nothing when no such Transpose follows.
std::optional<ChannelRows> channel_rows(const ir::Graph& graph, ir::ValueId result);

}  // namespace onepass::plan
