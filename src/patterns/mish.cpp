// SPDX-License-Identifier: Apache-2.0
//
// x * Tanh(Softplus(x)) => Mish(x)
//
// Exactness: rounding. Pays always: one step in place of three.
#include "patterns/patterns.h"
#include "patterns/spelling.h"

namespace onepass::patterns {

namespace {

constexpr Condition k_conditions[] = {{"C1", "x is of type f32"}};

std::optional<Match> match(const ir::Graph& graph, ir::NodeId root) {
  for (const Gated& gated : gated_products(graph, root, ir::Op::Tanh)) {
    const ir::NodeId softplus = graph.producer(graph.node(gated.gate).inputs[0]);
    if (gated.product.constant != 1 || !softplus.valid()) continue;
    if (graph.node(softplus).op != ir::Op::Softplus || graph.node(softplus).inputs[0] != gated.x) continue;
    Match found{{softplus, gated.gate}};
    found.nodes.insert(found.nodes.end(), gated.product.nodes.begin(), gated.product.nodes.end());
    return found;
  }
  return std::nullopt;
}

std::optional<Failure> check(const ir::Graph& graph, const Match& match) {
  return f32_failure(graph, graph.node(match.nodes[0]).inputs[0], "C1");
}

std::vector<ir::ValueId> replace(ir::Graph& graph, const Match& match, Journal&) {
  return {add_activation(graph, match, graph.node(match.nodes[0]).inputs[0], {ir::Op::Mish, 0, 0})};
}

}  // namespace

RewritePattern mish() {
  return {.name = "mish",
          .before_after = "x * Tanh(Softplus(x)) => Mish(x)",
          .formula = "",
          .exactness = "rounding",
          .conditions = k_conditions,
          .match = match,
          .check = check,
          .replace = replace};
}

}  // namespace onepass::patterns
