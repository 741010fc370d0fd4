// SPDX-License-Identifier: Apache-2.0
//
// Max(x, 0) => Relu(x); Max(x, c) | Min(x, c) => Clip(x)
//
// Exactness: bitwise. Pays always: one step without a second operand.
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "patterns/patterns.h"
#include "patterns/spelling.h"

namespace onepass::patterns {

namespace {

constexpr Condition k_conditions[] = {{"C1", "x is of type f32"}, {"C2", "the bound is not NaN"}};

constexpr double k_infinity = std::numeric_limits<double>::infinity();

struct Parts {
  ir::ValueId x;
  double bound;
};

std::optional<Parts> parts(const ir::Graph& graph, ir::NodeId root) {
  const ir::Node& node = graph.node(root);
  const bool fits = (node.op == ir::Op::Max || node.op == ir::Op::Min) && node.inputs.size() == 2;
  if (!fits) return std::nullopt;
  const auto left = scalar_constant(graph, node.inputs[0]);
  const auto right = scalar_constant(graph, node.inputs[1]);
  if (left.has_value() == right.has_value()) return std::nullopt;
  return left ? Parts{node.inputs[1], *left} : Parts{node.inputs[0], *right};
}

std::optional<Match> match(const ir::Graph& graph, ir::NodeId root) {
  return parts(graph, root) ? std::optional(Match{{root}}) : std::nullopt;
}

std::optional<Failure> check(const ir::Graph& graph, const Match& match) {
  const Parts found = *parts(graph, match.nodes.back());
  if (auto failure = f32_failure(graph, found.x, "C1")) return failure;
  if (!std::isnan(found.bound)) return std::nullopt;
  return Failure{"C2", fmt::format("the bound of '{}' is NaN", graph.node(match.nodes.back()).name)};
}

std::vector<ir::ValueId> replace(ir::Graph& graph, const Match& match, Journal&) {
  const Parts found = *parts(graph, match.nodes.back());
  const bool is_max = graph.node(match.nodes.back()).op == ir::Op::Max;
  if (is_max && found.bound == 0) return {add_activation(graph, match, found.x, {ir::Op::Relu, 0, 0})};
  const ir::Activation clip{ir::Op::Clip, is_max ? found.bound : -k_infinity,
                            is_max ? k_infinity : found.bound};
  return {add_activation(graph, match, found.x, clip)};
}

}  // namespace

RewritePattern min_max_clip() {
  return {.name = "min_max_clip",
          .before_after = "Max(x, 0) => Relu(x); Max(x, c) | Min(x, c) => Clip(x)",
          .formula = "",
          .exactness = "bitwise",
          .conditions = k_conditions,
          .match = match,
          .check = check,
          .replace = replace};
}

}  // namespace onepass::patterns
