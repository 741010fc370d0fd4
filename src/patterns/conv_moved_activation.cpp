// SPDX-License-Identifier: Apache-2.0
//
// Conv | ConvTranspose | Gemm | MatMul -> Reshape | Transpose .. -> activation
//   => Conv -> activation -> Reshape | Transpose ..
//
// Legal: an activation maps each element by itself, wherever it lies. Exactness: bitwise. Pays always: the
// activation joins the kernel of the convolution, and a pass over the map is left out.
#include <fmt/format.h>

#include <algorithm>

#include "patterns/patterns.h"
#include "patterns/spelling.h"

namespace onepass::patterns {

namespace {

using ir::NodeId;
using ir::Op;
using ir::ValueId;

constexpr Condition k_conditions[] = {
    {"C1", "the value is of type f32, and the bounds of a Clip are constants"},
    {"C2",
     "the value in front of the Reshape or Transpose is computed by a Conv, ConvTranspose, Gemm or MatMul"},
    {"C3", "nobody else reads that value"}};

bool moves(Op op) {
  return op == Op::Reshape || op == Op::Transpose || op == Op::Flatten || op == Op::Squeeze ||
         op == Op::Unsqueeze;
}

bool makes_sums(Op op) {
  return op == Op::Conv || op == Op::ConvTranspose || op == Op::Gemm || op == Op::MatMul;
}

/// The value that the first node of the match moves.
ValueId moved_value(const ir::Graph& graph, const Match& match) {
  return graph.node(match.nodes.front()).inputs[0];
}

std::optional<Match> match(const ir::Graph& graph, NodeId root) {
  if (!ir::is_activation(graph.node(root).op)) return std::nullopt;
  Match match{{root}};
  for (NodeId node = graph.producer(graph.node(root).inputs[0]); node.valid() && moves(graph.node(node).op);
       node = graph.producer(graph.node(node).inputs[0]))
    match.nodes.insert(match.nodes.begin(), node);
  return match.nodes.size() > 1 ? std::optional(std::move(match)) : std::nullopt;
}

std::optional<Failure> check(const ir::Graph& graph, const Match& match) {
  const ValueId x = moved_value(graph, match);
  const std::string& name = graph.value(x).name;
  if (!ir::activation_of(graph, match.nodes.back()))
    return Failure{"C1",
                   fmt::format("'{}' is {} or has bounds that are not constant",
                               graph.node(match.nodes.back()).name, ir::to_string(graph.value(x).type))};
  const NodeId producer = graph.producer(x);
  if (!producer.valid() || !makes_sums(graph.node(producer).op))
    return Failure{"C2", fmt::format("'{}' is no sum of products", name)};
  if (!graph.only_consumer(x).valid()) return Failure{"C3", fmt::format("'{}' is read elsewhere too", name)};
  return std::nullopt;
}

std::vector<ValueId> replace(ir::Graph& graph, const Match& match, Journal&) {
  const ir::Activation activation = ir::activation_of(graph, match.nodes.back()).value();
  ValueId value = add_activation(graph, match, moved_value(graph, match), activation);
  for (const NodeId id : match.nodes) {
    if (id == match.nodes.back()) break;
    const ir::Node node = graph.node(id);
    std::vector<ValueId> inputs = node.inputs;
    inputs[0] = value;
    value = graph.add_node(node.op, node.name, std::move(inputs), graph.value(node.outputs[0]).type,
                           node.attributes);
  }
  return {value};
}

}  // namespace

RewritePattern conv_moved_activation() {
  return {.name = "conv_moved_activation",
          .before_after =
              "Conv | ConvTranspose | Gemm | MatMul -> Reshape | Transpose -> activation => Conv -> "
              "activation -> Reshape | Transpose",
          .formula = "",
          .exactness = "bitwise",
          .conditions = k_conditions,
          .match = match,
          .check = check,
          .replace = replace};
}

}  // namespace onepass::patterns
