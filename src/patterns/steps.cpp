// SPDX-License-Identifier: Apache-2.0
#include "patterns/steps.h"

#include <fmt/format.h>

#include <cmath>

#include "patterns/batchnorm.h"

namespace onepass::patterns {

namespace {

using ir::Op;

const ir::TensorType& accumulator_type(const ir::Graph& graph, const GroupDraft& draft) {
  return graph.value(draft.result).type;
}

ir::Op anchor_op(const ir::Graph& graph, const GroupDraft& draft) {
  return graph.node(draft.nodes.front()).op;
}

std::optional<Failure> f32_failure(const ir::Graph& graph, const ir::Node& node, const char* condition) {
  for (const ir::ValueId input : node.inputs) {
    if (!input.valid() || graph.value(input).type.dtype == ir::DType::f32) continue;
    return Failure{condition, fmt::format("operand '{}' of '{}' is {}", graph.value(input).name, node.name,
                                          ir::to_string(graph.value(input).type))};
  }
  return std::nullopt;
}

/// Whether extents other than 1 stand on the axes from `first` to `last` alone, where they equal the
/// accumulator's.
bool varies_within(const ir::Shape& operand, const ir::Shape& accumulator, size_t first, size_t last) {
  const size_t offset = accumulator.size() - operand.size();
  for (size_t i = 0; i < operand.size(); ++i) {
    const size_t axis = i + offset;
    const bool free = axis >= first && axis <= last && operand[i] == accumulator[axis];
    if (operand[i] != 1 && !free) return false;
  }
  return true;
}

bool operand_fits(const ir::Graph& graph, const GroupDraft& draft, const ir::Shape& operand) {
  const ir::Shape& accumulator = accumulator_type(graph, draft).dims;
  if (operand == accumulator) return true;
  if (operand.size() > accumulator.size()) return false;
  if (varies_within(operand, accumulator, 0, 1)) return true;
  const size_t last = accumulator.size() - 1;
  return anchor_op(graph, draft) == Op::MatMul && varies_within(operand, accumulator, last, last);
}

ir::Tensor rounded(const std::vector<double>& values) {
  ir::Tensor tensor(ir::DType::f32, {static_cast<int64_t>(values.size())});
  for (size_t i = 0; i < values.size(); ++i) tensor.data<float>()[i] = static_cast<float>(values[i]);
  return tensor;
}

/// NaN is no failure: the operator gives NaN there too.
std::optional<Failure> infinity_failure(const ir::Tensor& values, const char* what, const char* condition) {
  const std::span<const float> channels = values.data<float>();
  for (size_t c = 0; c < channels.size(); ++c)
    if (std::isinf(channels[c]))
      return Failure{condition, fmt::format("channel {} has an infinite {}", c, what)};
  return std::nullopt;
}

}  // namespace

bool is_binary(const ir::Node& node) {
  const bool fits = node.op == Op::Add || node.op == Op::Sub || node.op == Op::Mul || node.op == Op::Div ||
                    node.op == Op::Min || node.op == Op::Max;
  return fits && node.inputs.size() == 2;
}

bool has_conv_anchor(const ir::Graph& graph, const GroupDraft& draft) {
  return ir::info(anchor_op(graph, draft)).kind == ir::OpKind::anchor;
}

bool has_elementwise_anchor(const ir::Graph& graph, const GroupDraft& draft) {
  const ir::OpKind kind = ir::info(anchor_op(graph, draft)).kind;
  return kind == ir::OpKind::pointwise || kind == ir::OpKind::broadcast;
}

StepOrFailure activation_step(const ir::Graph& graph, ir::NodeId next, const ActivationConditions& ids) {
  const ir::Node& node = graph.node(next);
  const ir::TensorType& type = graph.value(node.inputs[0]).type;
  if (type.dtype != ir::DType::f32)
    return Failure{ids.f32, fmt::format("'{}' reads {}", node.name, ir::to_string(type))};
  const auto activation = ir::activation_of(graph, next);
  if (!activation) return Failure{ids.bounds, fmt::format("'{}' has a bound that is no constant", node.name)};
  return Step{.kind = Step::Kind::activation, .node = next, .activation = *activation};
}

StepOrFailure affine_step(const ir::Graph& graph, const GroupDraft& draft, ir::NodeId next,
                          const AffineConditions& ids) {
  const BatchNormConditions bn{.inference = ids.inference, .spatial = ids.spatial, .constant = ids.constant};
  if (auto failure = batchnorm_failure(graph, next, bn)) return *failure;
  const ir::Shape& dims = accumulator_type(graph, draft).dims;
  const int64_t channels = dims.size() > 1 ? dims[1] : 1;
  if (auto failure = batchnorm_length_failure(graph, next, channels, ids.length)) return *failure;
  const ChannelAffine affine = batchnorm_affine(graph, next);
  Step step{.kind = Step::Kind::affine, .node = next};
  step.scale = rounded(affine.scale);
  step.shift = rounded(affine.shift);
  if (auto failure = infinity_failure(step.scale, "gain", ids.finite)) return *failure;
  if (auto failure = infinity_failure(step.shift, "shift", ids.finite)) return *failure;
  return step;
}

StepOrFailure binary_step(const ir::Graph& graph, const GroupDraft& draft, ir::NodeId next,
                          const BinaryConditions& ids) {
  const ir::Node& node = graph.node(next);
  if (auto failure = f32_failure(graph, node, ids.f32)) return *failure;
  const bool left = node.inputs[0] == draft.result;
  const ir::ValueId operand = node.inputs[left ? 1 : 0];
  if (operand == draft.result)
    return Failure{ids.distinct,
                   fmt::format("both operands of '{}' are '{}'", node.name, graph.value(operand).name)};
  const ir::TensorType& type = graph.value(operand).type;
  if (!operand_fits(graph, draft, type.dims))
    return Failure{ids.shape, fmt::format("operand '{}' of '{}' is {}, the accumulator {}",
                                          graph.value(operand).name, node.name, ir::to_string(type),
                                          ir::to_string(accumulator_type(graph, draft)))};
  Step step{.kind = Step::Kind::binary, .node = next};
  step.op = node.op;
  step.operand = operand;
  step.accumulator_left = left;
  return step;
}

bool is_feature_map(const ir::Graph& graph, const GroupDraft& draft, ir::ValueId operand) {
  return !graph.is_constant(operand) && graph.value(operand).type.dims == accumulator_type(graph, draft).dims;
}

}  // namespace onepass::patterns
