// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <variant>

#include "patterns/join.h"

namespace onepass::patterns {

using StepOrFailure = std::variant<Step, Failure>;

bool is_binary(const ir::Node& node);  ///< Add Sub Mul Div Min Max of two operands
bool has_conv_anchor(const ir::Graph& graph, const GroupDraft& draft);  ///< a node of kind anchor
bool has_elementwise_anchor(const ir::Graph& graph, const GroupDraft& draft);

/// The ids that a rule gives to the conditions of an activation.
struct ActivationConditions {
  const char* f32;     ///< the value is f32
  const char* bounds;  ///< a Clip has constant bounds
};
StepOrFailure activation_step(const ir::Graph& graph, ir::NodeId next, const ActivationConditions& ids);

/// The ids that a rule gives to the conditions of a BatchNormalization behind other steps.
struct AffineConditions {
  const char* inference;
  const char* spatial;
  const char* constant;
  const char* length;
  const char* finite;  ///< no gain is infinite in f32
};
StepOrFailure affine_step(const ir::Graph& graph, const GroupDraft& draft, ir::NodeId next,
                          const AffineConditions& ids);

/// The ids that a rule gives to the conditions of a binary operator.
struct BinaryConditions {
  const char* f32;       ///< both operands are f32
  const char* distinct;  ///< the second operand is not the accumulator itself
  const char* shape;     ///< same shape, scalar, one value per channel or per frame and channel
};
StepOrFailure binary_step(const ir::Graph& graph, const GroupDraft& draft, ir::NodeId next,
                          const BinaryConditions& ids);

/// A second operand that is computed at run time and as large as the accumulator: a branched block.
bool is_feature_map(const ir::Graph& graph, const GroupDraft& draft, ir::ValueId operand);

}  // namespace onepass::patterns
