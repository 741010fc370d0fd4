// SPDX-License-Identifier: Apache-2.0
//
// ConvTranspose -> BatchNormalization => ConvTranspose
//
// The output channel of weight [c, o] is g*(O/g) + o, where g is the group of input channel c.
// Conditions, formula: linear_batchnorm.h. Exactness: rounding (computed in double, rounded once to f32).
// Pays always: one pass over the feature map and four parameters for each channel disappear.
#include "patterns/linear_batchnorm.h"
#include "patterns/patterns.h"

namespace onepass::patterns {

namespace {

std::optional<Match> match(const ir::Graph& graph, ir::NodeId node) {
  return match_linear_batchnorm(graph, node, ir::Op::ConvTranspose);
}

}  // namespace

RewritePattern conv_transpose_batchnorm() {
  return {
      .name = "conv_transpose_batchnorm",
      .before_after = "ConvTranspose -> BatchNormalization => ConvTranspose",
      .formula = "w'[c,o] = w[c,o] * s[g*(O/g)+o] for input channel c of group g; bias as for conv_batchnorm",
      .exactness = "rounding",
      .conditions = k_linear_batchnorm_conditions,
      .match = match,
      .check = check_linear_batchnorm,
      .replace = replace_linear_batchnorm};
}

}  // namespace onepass::patterns
