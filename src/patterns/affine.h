// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "patterns/fold.h"

namespace onepass::patterns {

/// A Mul, Add, Sub or Div of a variable and an operand that no node computes.
struct AffineNode {
  int variable = 0;  ///< input number of the variable
  int constant = 1;  ///< input number of the other operand
};

/// The operands of `node` when it is such an operator and exactly one operand is computed by no node but an
/// Identity of a constant. With both free, the first is the variable.
std::optional<AffineNode> affine_node(const ir::Graph& graph, ir::NodeId node);

/// One value for each channel (axis 1) when `constant` broadcasts over a tensor of `rank` axes as a scalar or
/// along the channels alone, without raising its rank; nothing otherwise.
std::optional<std::vector<double>> per_channel(const ir::Tensor& constant, size_t rank, int64_t channels);

/// The node as x * scale + shift; nothing for a constant divided by the variable.
std::optional<ChannelAffine> affine_of(ir::Op op, bool variable_left, const std::vector<double>& values);

}  // namespace onepass::patterns
