// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "ir/graph.h"
#include "kernels/pointwise.h"

namespace onepass::plan {

/// A Transpose of f32 as rows and columns that change places, once axes of extent 1 are dropped and axes that
/// stay side by side count as one. Nothing when it does not come down to that.
std::optional<kernels::TransposeSpec> transpose_spec_of(const ir::Graph& graph, ir::NodeId node);

}  // namespace onepass::plan
