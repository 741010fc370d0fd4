// SPDX-License-Identifier: Apache-2.0
//
// Conv -> BatchNormalization => Conv
//
// With or without a bias, grouped and depthwise. Weights that another node reads too are copied, not changed.
// Conditions, formula: linear_batchnorm.h. Exactness: rounding (computed in double, rounded once to f32).
// Pays always: one pass over the feature map and four parameters for each channel disappear.
#include "patterns/linear_batchnorm.h"
#include "patterns/patterns.h"

namespace onepass::patterns {

namespace {

std::optional<Match> match(const ir::Graph& graph, ir::NodeId node) {
  return match_linear_batchnorm(graph, node, ir::Op::Conv);
}

}  // namespace

RewritePattern conv_batchnorm() {
  return {.name = "conv_batchnorm",
          .before_after = "Conv -> BatchNormalization => Conv",
          .formula = k_linear_batchnorm_formula,
          .exactness = "rounding",
          .conditions = k_linear_batchnorm_conditions,
          .match = match,
          .check = check_linear_batchnorm,
          .replace = replace_linear_batchnorm};
}

}  // namespace onepass::patterns
