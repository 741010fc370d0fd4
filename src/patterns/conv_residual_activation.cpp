// SPDX-License-Identifier: Apache-2.0
//
// Conv | ConvTranspose | Gemm | MatMul | pool -> Add | Sub | Mul | Div | Min | Max with a second operand: one
// kernel
//
// The operator is a step behind the finished sum, with the graph's own order of operands; nothing is folded
// or reordered across it, and what follows (an activation) is the next step. Of two convolutions that meet in
// an Add, one takes the step and reads the other's result: the planner picks. Exactness: bitwise. Pays: one
// write and one read of the feature map disappear.
#include <fmt/format.h>

#include "patterns/patterns.h"
#include "patterns/steps.h"

namespace onepass::patterns {

namespace {

constexpr Condition k_conditions[] = {{"C1", "both operands are of type f32"},
                                      {"C2", "the second operand is not the accumulator itself"},
                                      {"C3",
                                       "the second operand has the accumulator's shape, or is a scalar, one "
                                       "value for each channel, or one for each "
                                       "frame and channel; behind a MatMul also one for each column"},
                                      {"C4",
                                       "with --residual=split, the second operand is no feature map computed "
                                       "at run time: a branched block stays "
                                       "split"}};

bool applies(const ir::Graph& graph, const GroupDraft& draft, ir::NodeId next) {
  return has_conv_anchor(graph, draft) && is_binary(graph.node(next));
}

StepOrFailure legal(const ir::Graph& graph, const GroupDraft& draft, ir::NodeId next,
                    const JoinOptions& options) {
  StepOrFailure outcome = binary_step(graph, draft, next, {.f32 = "C1", .distinct = "C2", .shape = "C3"});
  const Step* step = std::get_if<Step>(&outcome);
  if (step == nullptr || options.residual != ResidualMode::split) return outcome;
  if (!is_feature_map(graph, draft, step->operand)) return outcome;
  return Failure{"C4", fmt::format("'{}' joins a branch through '{}', and --residual=split keeps it apart",
                                   graph.node(next).name, graph.value(step->operand).name)};
}

}  // namespace

JoinPattern conv_residual_activation() {
  return {
      .name = "conv_residual_activation",
      .before_after =
          "Conv | ConvTranspose | Gemm | MatMul | pool -> Add | Sub | Mul | Div | Min | Max with a second "
          "operand: one kernel",
      .formula = "acc = acc op operand, or operand op acc, as the graph has it",
      .exactness = "bitwise",
      .conditions = k_conditions,
      .applies = applies,
      .legal = legal};
}

}  // namespace onepass::patterns
