// SPDX-License-Identifier: Apache-2.0
#include "patterns/affine.h"

namespace onepass::patterns {

namespace {

using ir::Op;

bool is_free(const ir::Graph& graph, ir::ValueId value) {
  return value.valid() && (!graph.producer(value).valid() || known_constant(graph, value) != nullptr);
}

}  // namespace

std::optional<AffineNode> affine_node(const ir::Graph& graph, ir::NodeId id) {
  const ir::Node& node = graph.node(id);
  const bool fits = node.op == Op::Mul || node.op == Op::Add || node.op == Op::Sub || node.op == Op::Div;
  if (!fits || node.inputs.size() != 2) return std::nullopt;
  if (is_free(graph, node.inputs[1]) && known_constant(graph, node.inputs[0]) == nullptr)
    return AffineNode{0, 1};
  if (is_free(graph, node.inputs[0])) return AffineNode{1, 0};
  return std::nullopt;
}

std::optional<std::vector<double>> per_channel(const ir::Tensor& constant, size_t rank, int64_t channels) {
  const ir::Shape& shape = constant.shape();
  if (shape.size() > rank) return std::nullopt;
  const size_t offset = rank - shape.size();
  for (size_t i = 0; i < shape.size(); ++i) {
    const bool along_channels = i + offset == 1 && shape[i] == channels;
    if (shape[i] != 1 && !along_channels) return std::nullopt;
  }
  const std::vector<double> values = constant.to_doubles();
  std::vector<double> spread(channels);
  for (int64_t c = 0; c < channels; ++c) spread[c] = values[values.size() == 1 ? 0 : c];
  return spread;
}

std::optional<ChannelAffine> affine_of(Op op, bool variable_left, const std::vector<double>& values) {
  if (op == Op::Div && !variable_left) return std::nullopt;
  ChannelAffine affine;
  for (const double value : values) {
    const bool adds = op == Op::Add || op == Op::Sub;
    const double scale = op == Op::Mul ? value : op == Op::Div ? 1 / value : 1;
    affine.scale.push_back(op == Op::Sub && !variable_left ? -1 : scale);
    affine.shift.push_back(!adds ? 0 : op == Op::Sub && variable_left ? -value : value);
  }
  return affine;
}

}  // namespace onepass::patterns
