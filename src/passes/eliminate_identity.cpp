// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "passes/passes.h"

namespace onepass::passes {

namespace {

using ir::Op;

bool has_input(const ir::Node& node, size_t input) {
  return input < node.inputs.size() && node.inputs[input].valid();
}

bool same_type(const ir::Graph& graph, const ir::Node& node) {
  const ir::TensorType& before = graph.value(node.inputs[0]).type;
  return before.dtype != ir::DType::undefined && before == graph.value(node.outputs[0]).type;
}

/// An absent operand, or a constant whose elements are all `expected`.
bool all_ints(const ir::Graph& graph, ir::NodeId id, size_t input, int64_t expected) {
  if (!has_input(graph.node(id), input)) return true;
  const ir::Tensor* constant = graph.constant_input(id, input);
  if (constant == nullptr) return false;
  const std::vector<int64_t> values = constant->to_ints();
  return std::all_of(values.begin(), values.end(), [&](int64_t v) { return v == expected; });
}

bool is_idle_dropout(const ir::Graph& graph, ir::NodeId id) {
  const ir::Node& node = graph.node(id);
  const bool mask_read =
      node.outputs.size() > 1 && node.outputs[1].valid() && graph.use_count(node.outputs[1]) > 0;
  return !mask_read && all_ints(graph, id, 2, 0);
}

/// Every axis stays where it is.
bool keeps_order(const ir::Node& transpose, size_t rank) {
  const std::vector<int64_t> permutation = transpose.attributes.get_ints("perm");
  if (permutation.empty()) return rank < 2;
  for (size_t axis = 0; axis < permutation.size(); ++axis)
    if (permutation[axis] != static_cast<int64_t>(axis)) return false;
  return true;
}

bool hands_on(const ir::Graph& graph, ir::NodeId id) {
  const ir::Node& node = graph.node(id);
  switch (node.op) {
    case Op::Identity:
      return true;
    case Op::Dropout:
      return is_idle_dropout(graph, id);
    case Op::Cast:
    case Op::Reshape:
    case Op::Flatten:
    case Op::Squeeze:
    case Op::Unsqueeze:
    case Op::Expand:
      return same_type(graph, node);
    case Op::Tile:
      return all_ints(graph, id, 1, 1);
    case Op::Concat:
      return node.inputs.size() == 1;
    case Op::Slice:
      return same_type(graph, node) && all_ints(graph, id, 4, 1);
    case Op::Pad:
      return all_ints(graph, id, 1, 0);
    case Op::Transpose:
      return keeps_order(node, graph.value(node.inputs[0]).type.dims.size());
    default:
      return false;
  }
}

/// Whether readers of the node's output may read its input instead.
bool may_bypass(const ir::Graph& graph, const ir::Node& node) {
  if (!graph.is_output(node.outputs[0])) return true;
  const ir::ValueId input = node.inputs[0];
  return graph.producer(input).valid() && !graph.is_output(input);
}

}  // namespace

bool eliminate_identity(ir::Graph& graph) {
  bool changed = false;
  for (const ir::NodeId id : graph.topological_order()) {
    const ir::Node& node = graph.node(id);
    if (!node.outputs[0].valid() || !hands_on(graph, id) || !may_bypass(graph, node)) continue;
    graph.replace_uses(node.outputs[0], node.inputs[0]);
    graph.remove_node(id);
    changed = true;
  }
  return changed;
}

}  // namespace onepass::passes
