// SPDX-License-Identifier: Apache-2.0
//
// Conv | ConvTranspose -> Mul | Add | Sub | Div by a constant => Conv | ConvTranspose
//
// Either operand order; Sub(constant, conv) negates weights and bias. Exactness: rounding (computed in
// double, rounded once to f32). Pays always: one pass over the feature map disappears.
#include <fmt/format.h>

#include "patterns/affine.h"
#include "patterns/patterns.h"

namespace onepass::patterns {

namespace {

constexpr Condition k_conditions[] = {
    {"C1", "a division has the constant as its divisor"},
    {"C2", "the other operand is a constant of type f32; a graph input is none"},
    {"C3", "the constant is a scalar or one value for each output channel, and does not raise the rank"},
    {"C4", "weights and bias of the convolution are constants of type f32; a graph input is none"},
    {"C5", "weights and bias have the shapes of the standard"},
    {"C6", "no factor is infinite, no divisor 0, and no finite weight leaves the range of f32"}};

bool is_convolution(const ir::Graph& graph, ir::NodeId node) {
  if (!node.valid()) return false;
  return graph.node(node).op == ir::Op::Conv || graph.node(node).op == ir::Op::ConvTranspose;
}

std::optional<Match> match(const ir::Graph& graph, ir::NodeId id) {
  const auto operands = affine_node(graph, id);
  if (!operands) return std::nullopt;
  const ir::NodeId conv = graph.producer(graph.node(id).inputs[operands->variable]);
  if (!is_convolution(graph, conv)) return std::nullopt;
  return Match{{conv, id}};
}

std::optional<ChannelAffine> affine_behind(const ir::Graph& graph, const Match& match) {
  const ir::NodeId conv = match.nodes[0];
  const ir::Node& node = graph.node(match.nodes[1]);
  const AffineNode operands = *affine_node(graph, match.nodes[1]);
  const size_t rank = known_constant(graph, graph.node(conv).inputs[1])->shape().size();
  const ir::Tensor& constant = *known_constant(graph, node.inputs[operands.constant]);
  const auto values = per_channel(constant, rank, output_channels(graph, conv));
  return values ? affine_of(node.op, operands.variable == 0, *values) : std::nullopt;
}

std::optional<Failure> check(const ir::Graph& graph, const Match& match) {
  const ir::NodeId conv = match.nodes[0];
  const ir::Node& node = graph.node(match.nodes[1]);
  const AffineNode operands = *affine_node(graph, match.nodes[1]);
  if (node.op == ir::Op::Div && operands.variable != 0)
    return Failure{"C1", fmt::format("'{}' divides by the convolution's result", node.name)};
  if (auto failure = constant_failure(graph, match.nodes[1], operands.constant, "operand", "C2"))
    return failure;
  if (auto failure = linear_failure(graph, conv, {.constant = "C4", .shape = "C5"})) return failure;
  const auto affine = affine_behind(graph, match);
  if (!affine)
    return Failure{"C3", fmt::format("operand of '{}' is {} for {} output channels", node.name,
                                     ir::to_string(graph.value(node.inputs[operands.constant]).type.dims),
                                     output_channels(graph, conv))};
  return overflow_failure(graph, conv, *affine, fold_behind(graph, conv, *affine), "C6");
}

std::vector<ir::ValueId> replace(ir::Graph& graph, const Match& match, Journal&) {
  const ir::NodeId conv = match.nodes[0];
  const FoldedWeights folded = fold_behind(graph, conv, *affine_behind(graph, match));
  const ir::TensorType type = graph.value(graph.node(match.nodes[1]).outputs[0]).type;
  return {rebuild_linear(graph, conv, graph.node(conv).inputs[0], folded, type)};
}

}  // namespace

RewritePattern conv_affine() {
  return {
      .name = "conv_affine",
      .before_after = "Conv | ConvTranspose -> Mul | Add | Sub | Div by a constant => Conv | ConvTranspose",
      .formula = "w'[o] = w[o] * s[o], b'[o] = b[o] * s[o] + t[o] for x * s + t",
      .exactness = "rounding",
      .conditions = k_conditions,
      .match = match,
      .check = check,
      .replace = replace};
}

}  // namespace onepass::patterns
