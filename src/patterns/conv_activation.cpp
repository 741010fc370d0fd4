// SPDX-License-Identifier: Apache-2.0
//
// Conv | ConvTranspose | Gemm | MatMul | pool -> activation: one kernel
//
// Every activation of activations.def is a step behind the finished sum, in a straight chain. Exactness:
// bitwise (the same formula on the same value). Pays: one write and one read of the feature map disappear.
#include "patterns/patterns.h"
#include "patterns/steps.h"

namespace onepass::patterns {

namespace {

constexpr Condition k_conditions[] = {{"C1", "the value is of type f32"},
                                      {"C2", "the bounds of a Clip are constants"}};

bool applies(const ir::Graph& graph, const GroupDraft& draft, ir::NodeId next) {
  return has_conv_anchor(graph, draft) && ir::is_activation(graph.node(next).op);
}

StepOrFailure legal(const ir::Graph& graph, const GroupDraft&, ir::NodeId next, const JoinOptions&) {
  return activation_step(graph, next, {.f32 = "C1", .bounds = "C2"});
}

}  // namespace

JoinPattern conv_activation() {
  return {.name = "conv_activation",
          .before_after = "Conv | ConvTranspose | Gemm | MatMul | pool -> activation: one kernel",
          .formula = "acc = f(acc)",
          .exactness = "bitwise",
          .conditions = k_conditions,
          .applies = applies,
          .legal = legal};
}

}  // namespace onepass::patterns
