// SPDX-License-Identifier: Apache-2.0
//
// Conv | ConvTranspose | Gemm | MatMul | pool -> steps -> BatchNormalization: one kernel
//
// A BatchNormalization behind an activation or an Add is never folded across it: it stays an affine step in
// its place. Exactness: rounding (scale and shift are computed in double and rounded once). Pays: one write
// and one read of the feature map disappear.
#include "patterns/patterns.h"
#include "patterns/steps.h"

namespace onepass::patterns {

namespace {

constexpr Condition k_conditions[] = {
    {"C1", "the BatchNormalization is in inference form: training_mode 0 and one output"},
    {"C2", "it has one statistic for each channel (spatial is not 0)"},
    {"C3", "its scale, bias, mean and variance are constants of type f32; a graph input is none"},
    {"C4", "the four parameters have one entry for each channel of the accumulator"},
    {"C5", "no gain or shift is infinite in f32"}};

bool applies(const ir::Graph& graph, const GroupDraft& draft, ir::NodeId next) {
  return has_conv_anchor(graph, draft) && graph.node(next).op == ir::Op::BatchNormalization;
}

StepOrFailure legal(const ir::Graph& graph, const GroupDraft& draft, ir::NodeId next, const JoinOptions&) {
  return affine_step(graph, draft, next,
                     {.inference = "C1", .spatial = "C2", .constant = "C3", .length = "C4", .finite = "C5"});
}

}  // namespace

JoinPattern conv_post_affine() {
  return {.name = "conv_post_affine",
          .before_after =
              "Conv | ConvTranspose | Gemm | MatMul | pool -> steps -> BatchNormalization: one kernel",
          .formula = "acc = acc * s[c] + t[c], s = scale / sqrt(variance + epsilon), t = bias - mean * s",
          .exactness = "rounding",
          .conditions = k_conditions,
          .applies = applies,
          .legal = legal};
}

}  // namespace onepass::patterns
