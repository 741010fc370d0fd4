// SPDX-License-Identifier: Apache-2.0
//
// x * HardSigmoid(x, 1/6, 1/2) | x * Clip(x + 3, 0, 6) / 6 => HardSwish(x)
//
// The product may stand in any order. Exactness: rounding. Pays always: one step in place of up to four.
#include <fmt/format.h>

#include "patterns/patterns.h"
#include "patterns/spelling.h"

namespace onepass::patterns {

namespace {

constexpr Condition k_conditions[] = {{"C1", "x is of type f32"},
                                      {"C2",
                                       "the gate is HardSigmoid with alpha 1/6 and beta 1/2, or a Clip from "
                                       "0 to 6 of x + 3 divided by 6, up to "
                                       "the rounding of the constants to f32"}};

struct Parts {
  Match match;
  ir::ValueId x;
  ir::NodeId gate;
  double addend = 3;    ///< inside the Clip
  double constant = 1;  ///< of the product
};

Parts with_product(const Gated& gated, std::vector<ir::NodeId> inner) {
  Parts found{{std::move(inner)}, gated.x, gated.gate};
  found.constant = gated.product.constant;
  found.match.nodes.insert(found.match.nodes.end(), gated.product.nodes.begin(), gated.product.nodes.end());
  return found;
}

std::optional<Parts> parts(const ir::Graph& graph, ir::NodeId root) {
  for (const Gated& gated : gated_products(graph, root, ir::Op::HardSigmoid))
    if (graph.node(gated.gate).inputs[0] == gated.x && gated.product.constant == 1)
      return with_product(gated, {gated.gate});
  for (const Gated& gated : gated_products(graph, root, ir::Op::Clip)) {
    const auto sum = shifted(graph, graph.node(gated.gate).inputs[0]);
    if (!sum || sum->base != gated.x || gated.product.constant == 1) continue;
    Parts found = with_product(gated, {sum->node, gated.gate});
    found.addend = sum->addend;
    return found;
  }
  return std::nullopt;
}

std::optional<Match> match(const ir::Graph& graph, ir::NodeId root) {
  const auto found = parts(graph, root);
  return found ? std::optional(found->match) : std::nullopt;
}

std::optional<Failure> check(const ir::Graph& graph, const Match& match) {
  const Parts found = *parts(graph, match.nodes.back());
  if (auto failure = f32_failure(graph, found.x, "C1")) return failure;
  const std::string& name = graph.node(found.gate).name;
  const auto gate = ir::activation_of(graph, found.gate);
  if (!gate) return Failure{"C2", fmt::format("'{}' has bounds that are not constant", name)};
  const bool is_clip = gate->op == ir::Op::Clip;
  const bool fits =
      is_clip ? gate->alpha == 0 && gate->beta == 6 && found.addend == 3 && nearly(found.constant, 1.0 / 6)
              : nearly(gate->alpha, 1.0 / 6) && nearly(gate->beta, 0.5);
  if (fits) return std::nullopt;
  return Failure{"C2", fmt::format("'{}' has {} and {}, addend {}, factor {}", name, gate->alpha, gate->beta,
                                   found.addend, found.constant)};
}

std::vector<ir::ValueId> replace(ir::Graph& graph, const Match& match, Journal&) {
  return {add_activation(graph, match, parts(graph, match.nodes.back())->x, {ir::Op::HardSwish, 0, 0})};
}

}  // namespace

RewritePattern hard_swish() {
  return {.name = "hard_swish",
          .before_after = "x * HardSigmoid(x) | x * Clip(x + 3, 0, 6) / 6 => HardSwish(x)",
          .formula = "",
          .exactness = "rounding",
          .conditions = k_conditions,
          .match = match,
          .check = check,
          .replace = replace};
}

}  // namespace onepass::patterns
