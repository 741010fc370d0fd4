// SPDX-License-Identifier: Apache-2.0
//
// Max(x, alpha * x) | PRelu(x, slopes that are all alpha) => LeakyRelu(x)
//
// Exactness: bitwise. Pays always: one step without a second operand.
#include <fmt/format.h>

#include <algorithm>

#include "patterns/fold.h"
#include "patterns/patterns.h"
#include "patterns/spelling.h"

namespace onepass::patterns {

namespace {

constexpr Condition k_conditions[] = {{"C1", "x is of type f32"},
                                      {"C2", "in the form with Max, 0 < alpha <= 1"}};

struct Parts {
  Match match;
  ir::ValueId x;
  double alpha;
};

std::optional<Parts> prelu_parts(const ir::Graph& graph, ir::NodeId root) {
  const ir::Node& node = graph.node(root);
  const ir::Tensor* slopes = known_constant(graph, node.inputs[1]);
  if (slopes == nullptr || slopes->size() == 0) return std::nullopt;
  const std::vector<double> values = slopes->to_doubles();
  const bool equal = std::all_of(values.begin(), values.end(), [&](double v) { return v == values[0]; });
  return equal ? std::optional(Parts{{{root}}, node.inputs[0], values[0]}) : std::nullopt;
}

std::optional<Parts> parts(const ir::Graph& graph, ir::NodeId root) {
  const ir::Node& node = graph.node(root);
  if (node.op == ir::Op::PRelu) return prelu_parts(graph, root);
  if (node.op != ir::Op::Max || node.inputs.size() != 2) return std::nullopt;
  for (size_t i = 0; i < 2; ++i) {
    const Scaled operand = scaled(graph, node.inputs[i]);
    if (operand.node.valid() && operand.base == node.inputs[1 - i] &&
        graph.node(operand.node).op == ir::Op::Mul)
      return Parts{{{operand.node, root}}, operand.base, operand.factor};
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
  const bool is_max = graph.node(match.nodes.back()).op == ir::Op::Max;
  if (!is_max || (found.alpha > 0 && found.alpha <= 1)) return std::nullopt;
  return Failure{"C2", fmt::format("'{}' has alpha {}", graph.node(match.nodes.back()).name, found.alpha)};
}

std::vector<ir::ValueId> replace(ir::Graph& graph, const Match& match, Journal&) {
  const Parts found = *parts(graph, match.nodes.back());
  return {add_activation(graph, match, found.x, {ir::Op::LeakyRelu, found.alpha, 0})};
}

}  // namespace

RewritePattern leaky_relu() {
  return {.name = "leaky_relu",
          .before_after = "Max(x, alpha * x) | PRelu(x, alpha) => LeakyRelu(x)",
          .formula = "",
          .exactness = "bitwise",
          .conditions = k_conditions,
          .match = match,
          .check = check,
          .replace = replace};
}

}  // namespace onepass::patterns
