// SPDX-License-Identifier: Apache-2.0
//
// x * Sigmoid(x) | x * Sigmoid(alpha * x) => Swish(x)
//
// Exactness: rounding. Pays always: one read and one write of the feature map in place of three and two, and
// one step behind a convolution.
#include "patterns/patterns.h"
#include "patterns/spelling.h"

namespace onepass::patterns {

namespace {

constexpr Condition k_conditions[] = {{"C1", "x is of type f32"}};

struct Parts {
  Match match;
  ir::ValueId x;
  double alpha = 1;
};

std::optional<Parts> parts(const ir::Graph& graph, ir::NodeId root) {
  for (const Gated& gated : gated_products(graph, root, ir::Op::Sigmoid)) {
    const Scaled argument = scaled(graph, graph.node(gated.gate).inputs[0]);
    const bool plain = graph.node(gated.gate).inputs[0] == gated.x;
    if (gated.product.constant != 1 || (!plain && argument.base != gated.x)) continue;
    Parts found{{}, gated.x, plain ? 1 : argument.factor};
    if (!plain) found.match.nodes.push_back(argument.node);
    found.match.nodes.push_back(gated.gate);
    found.match.nodes.insert(found.match.nodes.end(), gated.product.nodes.begin(), gated.product.nodes.end());
    return found;
  }
  return std::nullopt;
}

std::optional<Match> match(const ir::Graph& graph, ir::NodeId root) {
  const auto found = parts(graph, root);
  return found ? std::optional(found->match) : std::nullopt;
}

std::optional<Failure> check(const ir::Graph& graph, const Match& match) {
  return f32_failure(graph, parts(graph, match.nodes.back())->x, "C1");
}

std::vector<ir::ValueId> replace(ir::Graph& graph, const Match& match, Journal&) {
  const Parts found = *parts(graph, match.nodes.back());
  return {add_activation(graph, match, found.x, {ir::Op::Swish, found.alpha, 0})};
}

}  // namespace

RewritePattern swish() {
  return {.name = "swish",
          .before_after = "x * Sigmoid(x) | x * Sigmoid(alpha * x) => Swish(x)",
          .formula = "",
          .exactness = "rounding",
          .conditions = k_conditions,
          .match = match,
          .check = check,
          .replace = replace};
}

}  // namespace onepass::patterns
