// SPDX-License-Identifier: Apache-2.0
//
// elementwise node -> activation | binary operator | BatchNormalization: one kernel
//
// Exactness: bitwise; a BatchNormalization: rounding (scale and shift are rounded once). Pays: one write and
// one read of the feature map disappear.
#include <fmt/format.h>

#include "patterns/patterns.h"
#include "patterns/steps.h"

namespace onepass::patterns {

namespace {

constexpr Condition k_conditions[] = {
    {"C1", "all operands are of type f32"},
    {"C2", "the bounds of a Clip are constants"},
    {"C3", "the second operand is not the accumulator itself"},
    {"C4",
     "the second operand has the accumulator's shape, or is a scalar, one value for each channel, or one for "
     "each "
     "frame and channel"},
    {"C5", "a BatchNormalization fulfils the conditions of conv_post_affine"}};

bool applies(const ir::Graph& graph, const GroupDraft& draft, ir::NodeId next) {
  const ir::Node& node = graph.node(next);
  const bool fits = ir::is_activation(node.op) || is_binary(node) || node.op == ir::Op::BatchNormalization;
  return has_elementwise_anchor(graph, draft) && fits;
}

StepOrFailure legal(const ir::Graph& graph, const GroupDraft& draft, ir::NodeId next, const JoinOptions&) {
  const ir::Node& node = graph.node(next);
  if (ir::is_activation(node.op)) return activation_step(graph, next, {.f32 = "C1", .bounds = "C2"});
  if (is_binary(node)) return binary_step(graph, draft, next, {.f32 = "C1", .distinct = "C3", .shape = "C4"});
  return affine_step(graph, draft, next,
                     {.inference = "C5", .spatial = "C5", .constant = "C5", .length = "C5", .finite = "C5"});
}

}  // namespace

JoinPattern elementwise_chain() {
  return {.name = "elementwise_chain",
          .before_after = "elementwise node -> activation | binary operator | BatchNormalization: one kernel",
          .formula = "acc = f(acc), acc op operand, operand op acc, or acc * s[c] + t[c]",
          .exactness = "bitwise; a BatchNormalization: rounding",
          .conditions = k_conditions,
          .applies = applies,
          .legal = legal};
}

}  // namespace onepass::patterns
