// SPDX-License-Identifier: Apache-2.0
#include "patterns/linear_batchnorm.h"

namespace onepass::patterns {

std::optional<Match> match_linear_batchnorm(const ir::Graph& graph, ir::NodeId bn, ir::Op linear) {
  const ir::Node& node = graph.node(bn);
  if (node.op != ir::Op::BatchNormalization) return std::nullopt;
  const ir::NodeId before = graph.producer(node.inputs[0]);
  if (!before.valid() || graph.node(before).op != linear) return std::nullopt;
  return Match{{before, bn}};
}

std::optional<Failure> check_linear_batchnorm(const ir::Graph& graph, const Match& match) {
  const ir::NodeId linear = match.nodes[0], bn = match.nodes[1];
  if (auto failure = batchnorm_failure(graph, bn, {.inference = "C1", .spatial = "C2", .constant = "C3"}))
    return failure;
  if (auto failure = linear_failure(graph, linear, {.constant = "C4", .shape = "C5"})) return failure;
  if (auto failure = batchnorm_length_failure(graph, bn, output_channels(graph, linear), "C6"))
    return failure;
  const ChannelAffine affine = batchnorm_affine(graph, bn);
  return overflow_failure(graph, linear, affine, fold_behind(graph, linear, affine), "C7");
}

std::vector<ir::ValueId> replace_linear_batchnorm(ir::Graph& graph, const Match& match, Journal& journal) {
  const ir::NodeId linear = match.nodes[0], bn = match.nodes[1];
  warn_about_statistics(graph, bn, journal);
  const FoldedWeights folded = fold_behind(graph, linear, batchnorm_affine(graph, bn));
  const ir::TensorType type = graph.value(graph.node(bn).outputs[0]).type;
  return {rebuild_linear(graph, linear, graph.node(linear).inputs[0], folded, type)};
}

}  // namespace onepass::patterns
