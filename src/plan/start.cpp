// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "plan/family.h"

namespace onepass::plan {

namespace {

using ir::Graph;
using ir::NodeId;
using ir::Op;
using patterns::Step;

bool all_finite(const ir::Tensor& tensor) {
  return std::ranges::all_of(tensor.data<float>(), [](float value) { return std::isfinite(value); });
}

/// BatchNormalization of its own: scale and shift in double, rounded once. One multiply and add is not the
/// formula where they overflow.
std::optional<Start> batch_normalization(const Graph& graph, NodeId id) {
  const ir::Node& node = graph.node(id);
  if (node.attributes.get_int("spatial", 1) == 0 || node.attributes.get_int("training_mode", 0) != 0)
    return std::nullopt;
  std::vector<std::vector<double>> parameters;
  for (size_t input = 1; input < 5; ++input) {
    const ir::Tensor* constant = graph.constant_input(id, input);
    if (constant == nullptr) return std::nullopt;
    parameters.push_back(constant->to_doubles());
  }
  const double epsilon = node.attributes.get_float("epsilon", 1e-5);
  const auto channels = static_cast<int64_t>(parameters[0].size());
  ir::Tensor scale(ir::DType::f32, {channels}), shift(ir::DType::f32, {channels});
  for (int64_t c = 0; c < channels; ++c) {
    const double gain = parameters[0][c] / std::sqrt(parameters[3][c] + epsilon);
    scale.data<float>()[c] = static_cast<float>(gain);
    shift.data<float>()[c] = static_cast<float>(parameters[1][c] - parameters[2][c] * gain);
  }
  if (!all_finite(scale) || !all_finite(shift)) return std::nullopt;
  return Start{node.inputs[0], {.kind = Step::Kind::affine, .node = id, .scale = scale, .shift = shift}};
}

/// The operand of full shape is the accumulator; the other one is read beside it.
std::optional<Start> binary(const Graph& graph, NodeId id) {
  const ir::Node& node = graph.node(id);
  if (node.inputs.size() != 2) return std::nullopt;
  const ir::Shape& result = graph.value(node.outputs[0]).type.dims;
  const auto full = [&](size_t input) {
    return graph.value(node.inputs[input]).type.dims == result && !graph.is_constant(node.inputs[input]);
  };
  if (!full(0) && !full(1)) return std::nullopt;
  const size_t accumulator = full(0) ? 0 : 1;
  return Start{node.inputs[accumulator],
               {.kind = Step::Kind::binary,
                .node = id,
                .op = node.op,
                .operand = node.inputs[1 - accumulator],
                .accumulator_left = accumulator == 0}};
}

}  // namespace

std::optional<Start> start_of(const Graph& graph, NodeId id) {
  const ir::Node& node = graph.node(id);
  if (graph.value(node.inputs.at(0)).type.dtype != ir::DType::f32) return std::nullopt;
  if (const auto activation = ir::activation_of(graph, id))
    return Start{node.inputs[0], {.kind = Step::Kind::activation, .node = id, .activation = *activation}};
  switch (node.op) {
    case Op::BatchNormalization:
      return batch_normalization(graph, id);
    case Op::Add:
    case Op::Sub:
    case Op::Mul:
    case Op::Div:
    case Op::Min:
    case Op::Max:
      return binary(graph, id);
    default:
      return std::nullopt;
  }
}

}  // namespace onepass::plan
