// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "ops/interpreter.h"
#include "ops/shape_of.h"
#include "passes/passes.h"

namespace onepass::passes {

namespace {

bool computes_output(const ir::Graph& graph, const ir::Node& node) {
  return std::any_of(node.outputs.begin(), node.outputs.end(),
                     [&](ir::ValueId output) { return output.valid() && graph.is_output(output); });
}

bool reads_constants_alone(const ir::Graph& graph, const ir::Node& node) {
  return std::all_of(node.inputs.begin(), node.inputs.end(),
                     [&](ir::ValueId input) { return !input.valid() || graph.is_constant(input); });
}

/// Every reader takes the node's first output as the weights or bias of a convolution or matrix product,
/// which need them as constants whatever their size.
bool is_weights(const ir::Graph& graph, const ir::Node& node) {
  if (!node.outputs[0].valid()) return false;
  const auto& uses = graph.value(node.outputs[0]).uses;
  return !uses.empty() && std::all_of(uses.begin(), uses.end(), [&](const ir::Use& use) {
    return use.input > 0 && ir::info(graph.node(use.node).op).kind == ir::OpKind::anchor;
  });
}

/// The result stays below the cap or shrinks what it is made of; its extents are known.
bool pays(const ir::Graph& graph, const ir::Node& node, int64_t max_bytes) {
  int64_t before_bytes = 0, after_bytes = 0;
  for (const ir::ValueId input : node.inputs)
    if (input.valid()) before_bytes += graph.value(input).constant.size_bytes();
  for (const ir::ValueId output : node.outputs) {
    if (!output.valid()) continue;
    const ir::TensorType& type = graph.value(output).type;
    if (type.dtype == ir::DType::undefined || type.counted_axis >= 0) return false;
    after_bytes += ir::element_count(type.dims) * ir::size_bytes(type.dtype);
  }
  constexpr int64_t k_max_weight_bytes = int64_t{1} << 30;
  const int64_t cap = is_weights(graph, node) ? std::max(max_bytes, k_max_weight_bytes) : max_bytes;
  return after_bytes <= cap || after_bytes < before_bytes;
}

std::vector<ir::Tensor> contents(const ir::Graph& graph, const ir::Node& node, int64_t max_bytes) {
  if (node.op == ir::Op::Shape) {
    auto extents = ops::shape_value(node, graph.value(node.inputs[0]).type);
    return extents ? std::vector{*extents} : std::vector<ir::Tensor>{};
  }
  if (!reads_constants_alone(graph, node) || !pays(graph, node, max_bytes)) return {};
  std::vector<const ir::Tensor*> inputs;
  for (const ir::ValueId input : node.inputs)
    inputs.push_back(input.valid() ? &graph.value(input).constant : nullptr);
  return ops::evaluate(node, inputs);
}

/// The node's outputs become constants of the same names; the node goes.
void settle(ir::Graph& graph, ir::NodeId id, const std::vector<ir::Tensor>& tensors) {
  ir::Node& node = graph.node(id);
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (!node.outputs[i].valid()) continue;
    ir::Value& value = graph.value(node.outputs[i]);
    value.constant = tensors.at(i);
    value.type = value.constant.type();
    value.producer = {};
    node.outputs[i] = {};
  }
  graph.remove_node(id);
}

}  // namespace

bool fold_constants(ir::Graph& graph, int64_t max_bytes) {
  bool changed = false;
  for (const ir::NodeId id : graph.topological_order()) {
    const ir::Node& node = graph.node(id);
    if (computes_output(graph, node)) continue;
    const std::vector<ir::Tensor> tensors = contents(graph, node, max_bytes);
    if (tensors.empty()) continue;
    settle(graph, id, tensors);
    changed = true;
  }
  return changed;
}

}  // namespace onepass::passes
