// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "ir/graph.h"
#include "kernels/conv.h"
#include "targets/target.h"

namespace onepass::plan {

/// The convolutions that compute a Conv or ConvTranspose together, their maps still without layout: the node
/// itself, or the phases of a ConvTranspose. Empty when no convolution does.
std::vector<kernels::ConvSpec> conv_parts(const ir::Graph& graph, ir::NodeId node);

/// The same with blocked maps, without halo.
std::vector<kernels::ConvSpec> blocked_conv_parts(const ir::Graph& graph, ir::NodeId node,
                                                  const targets::Target& target);

/// The node's weights as `part`, with its destination set, takes them.
std::vector<float> conv_weights(const ir::Graph& graph, ir::NodeId node, const kernels::ConvSpec& part);

}  // namespace onepass::plan
