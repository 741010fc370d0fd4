// SPDX-License-Identifier: Apache-2.0
//
// 0.5 * x * (1 + Erf(x / sqrt(2))) => Gelu(x)
//
// The product may stand in any order. Exactness: rounding. Pays always: one step in place of five.
#include <fmt/format.h>

#include <numbers>

#include "patterns/patterns.h"
#include "patterns/spelling.h"

namespace onepass::patterns {

namespace {

constexpr Condition k_conditions[] = {
    {"C1", "x is of type f32"}, {"C2", "the constants are 0.5, 1 and sqrt(2), up to their rounding to f32"}};

struct Parts {
  Match match;
  ir::ValueId x;
  double half, one, inner;
};

std::optional<Parts> parts(const ir::Graph& graph, ir::NodeId root) {
  for (const Gated& gated : gated_products(graph, root, ir::Op::Add)) {
    const auto sum = shifted(graph, graph.node(gated.gate).outputs[0]);
    const ir::NodeId erf = sum ? graph.producer(sum->base) : ir::NodeId{};
    if (!erf.valid() || graph.node(erf).op != ir::Op::Erf) continue;
    const Scaled argument = scaled(graph, graph.node(erf).inputs[0]);
    if (!argument.node.valid() || argument.base != gated.x) continue;
    Parts found{
        {{argument.node, erf, gated.gate}}, gated.x, gated.product.constant, sum->addend, argument.factor};
    found.match.nodes.insert(found.match.nodes.end(), gated.product.nodes.begin(), gated.product.nodes.end());
    return found;
  }
  return std::nullopt;
}

/// A product that a larger one reads is a part of it: the larger one is the candidate.
bool is_inner(const ir::Graph& graph, ir::NodeId root) {
  const ir::NodeId reader = graph.only_consumer(graph.node(root).outputs[0]);
  if (!reader.valid()) return false;
  const auto larger = parts(graph, reader);
  return larger && larger->half != 1;
}

std::optional<Match> match(const ir::Graph& graph, ir::NodeId root) {
  const auto found = parts(graph, root);
  if (!found || (found->half == 1 && is_inner(graph, root))) return std::nullopt;
  return found->match;
}

std::optional<Failure> check(const ir::Graph& graph, const Match& match) {
  const Parts found = *parts(graph, match.nodes.back());
  if (auto failure = f32_failure(graph, found.x, "C1")) return failure;
  if (nearly(found.half, 0.5) && found.one == 1 && nearly(found.inner, 1 / std::numbers::sqrt2))
    return std::nullopt;
  return Failure{"C2", fmt::format("'{}' computes {} * x * ({} + Erf({} * x))",
                                   graph.node(match.nodes.back()).name, found.half, found.one, found.inner)};
}

std::vector<ir::ValueId> replace(ir::Graph& graph, const Match& match, Journal&) {
  const ir::ValueId x = parts(graph, match.nodes.back())->x;
  return {add_activation(graph, match, x, {ir::Op::Gelu, 0, 0})};
}

}  // namespace

RewritePattern gelu() {
  return {.name = "gelu",
          .before_after = "0.5 * x * (1 + Erf(x / sqrt(2))) => Gelu(x)",
          .formula = "",
          .exactness = "rounding",
          .conditions = k_conditions,
          .match = match,
          .check = check,
          .replace = replace};
}

}  // namespace onepass::patterns
