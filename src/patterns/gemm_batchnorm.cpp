// SPDX-License-Identifier: Apache-2.0
//
// Gemm -> BatchNormalization => Gemm
//
// Both orders of B; alpha stays, beta goes into the new bias.
// Conditions, formula: linear_batchnorm.h. Exactness: rounding (computed in double, rounded once to f32).
// Pays always: one pass over the feature map and four parameters for each channel disappear.
#include "patterns/linear_batchnorm.h"
#include "patterns/patterns.h"

namespace onepass::patterns {

namespace {

std::optional<Match> match(const ir::Graph& graph, ir::NodeId node) {
  return match_linear_batchnorm(graph, node, ir::Op::Gemm);
}

}  // namespace

RewritePattern gemm_batchnorm() {
  return {.name = "gemm_batchnorm",
          .before_after = "Gemm -> BatchNormalization => Gemm",
          .formula = "B'[:,o] = B[:,o] * s[o], C'[o] = (beta * C[o] - mean[o]) * s[o] + bias[o], beta' = 1",
          .exactness = "rounding",
          .conditions = k_linear_batchnorm_conditions,
          .match = match,
          .check = check_linear_batchnorm,
          .replace = replace_linear_batchnorm};
}

}  // namespace onepass::patterns
