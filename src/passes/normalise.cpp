// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "passes/passes.h"

namespace onepass::passes {

namespace {

using ir::Op;

/// Adds a node that stands for `old`, and returns its output.
ir::ValueId add_for(ir::Graph& graph, const ir::Node& old, Op op, std::vector<ir::ValueId> inputs,
                    const ir::TensorType& type, ir::Attributes attributes = {}) {
  const ir::ValueId output = graph.add_node(op, old.name, std::move(inputs), type, std::move(attributes));
  graph.node(graph.producer(output)).origins = old.origins;
  return output;
}

/// Readers of the node read `value`, which takes over its name; the node goes.
void replace_node(ir::Graph& graph, ir::NodeId id, ir::ValueId value) {
  const ir::ValueId old = graph.node(id).outputs[0];
  graph.replace_uses(old, value);
  std::swap(graph.value(old).name, graph.value(value).name);
  graph.remove_node(id);
}

ir::TensorType broadcast_type(const ir::TensorType& a, const ir::TensorType& b) {
  ir::TensorType type = a.dims.size() >= b.dims.size() ? a : b;
  const ir::Shape& shorter = a.dims.size() >= b.dims.size() ? b.dims : a.dims;
  const size_t offset = type.dims.size() - shorter.size();
  for (size_t i = 0; i < shorter.size(); ++i)
    if (type.dims[i + offset] == 1) type.dims[i + offset] = shorter[i];
  return type;
}

/// Sum(a, b, c) => Add(Add(a, b), c); Min and Max alike.
bool split_variadic(ir::Graph& graph, ir::NodeId id) {
  const ir::Node node = graph.node(id);
  const bool variadic =
      node.op == Op::Sum || ((node.op == Op::Min || node.op == Op::Max) && node.inputs.size() != 2);
  const bool counted = std::any_of(node.inputs.begin(), node.inputs.end(), [&](ir::ValueId v) {
    return v.valid() && graph.value(v).type.counted_axis >= 0;
  });
  if (!variadic || counted) return false;
  if (node.inputs.size() == 1) {
    graph.replace_uses(node.outputs[0],
                       add_for(graph, node, Op::Identity, node.inputs, graph.value(node.outputs[0]).type));
    graph.remove_node(id);
    return true;
  }
  const Op op = node.op == Op::Sum ? Op::Add : node.op;
  ir::ValueId chain = node.inputs[0];
  for (size_t i = 1; i < node.inputs.size(); ++i) {
    const ir::TensorType type = broadcast_type(graph.value(chain).type, graph.value(node.inputs[i]).type);
    ir::Node part = node;
    if (i + 1 < node.inputs.size()) part.name = fmt::format("{}.{}", node.name, i);
    chain = add_for(graph, part, op, {chain, node.inputs[i]}, type);
  }
  replace_node(graph, id, chain);
  return true;
}

std::vector<int64_t> permutation_of(const ir::Graph& graph, const ir::Node& transpose) {
  std::vector<int64_t> permutation = transpose.attributes.get_ints("perm");
  const size_t rank = graph.value(transpose.inputs[0]).type.dims.size();
  for (size_t i = 0; permutation.size() < rank; ++i)
    permutation.push_back(static_cast<int64_t>(rank - 1 - i));
  return permutation;
}

/// Transpose(Transpose(x)) => Transpose(x) with the product of both; eliminate_identity removes one that
/// moves nothing.
bool merge_transposes(ir::Graph& graph, ir::NodeId id) {
  const ir::Node outer = graph.node(id);
  if (outer.op != Op::Transpose) return false;
  const ir::NodeId before = graph.producer(outer.inputs[0]);
  if (!before.valid() || graph.node(before).op != Op::Transpose) return false;
  const ir::Node inner = graph.node(before);
  const std::vector<int64_t> first = permutation_of(graph, inner), second = permutation_of(graph, outer);
  std::vector<int64_t> both;
  for (const int64_t axis : second) both.push_back(first.at(axis));
  ir::Node pair = outer;
  pair.origins.insert(pair.origins.end(), inner.origins.begin(), inner.origins.end());
  ir::Attributes attributes;
  attributes.set("perm", both);
  const ir::TensorType type = graph.value(outer.outputs[0]).type;
  replace_node(graph, id, add_for(graph, pair, Op::Transpose, {inner.inputs[0]}, type, attributes));
  if (graph.use_count(inner.outputs[0]) == 0) graph.remove_node(before);
  return true;
}

/// Whether a reduction of a rank-4 tensor covers h and w and nothing else.
bool reduces_plane(const ir::Graph& graph, ir::NodeId id) {
  const ir::TensorType& type = graph.value(graph.node(id).inputs[0]).type;
  const ir::Tensor* axes = graph.constant_input(id, 1);
  if (type.dims.size() != 4 || type.dtype != ir::DType::f32 || type.counted_axis >= 0 || axes == nullptr)
    return false;
  std::vector<int64_t> covered;
  for (const int64_t axis : axes->to_ints()) covered.push_back(axis < 0 ? axis + 4 : axis);
  std::sort(covered.begin(), covered.end());
  return covered == std::vector<int64_t>{2, 3};
}

/// ReduceMean over h and w => GlobalAveragePool, and Flatten when the axes are dropped.
bool name_global_pool(ir::Graph& graph, ir::NodeId id) {
  const ir::Node node = graph.node(id);
  if (node.op != Op::ReduceMean || !reduces_plane(graph, id)) return false;
  const ir::TensorType result = graph.value(node.outputs[0]).type;
  ir::TensorType pooled = graph.value(node.inputs[0]).type;
  pooled.dims[2] = pooled.dims[3] = 1;
  ir::ValueId value = add_for(graph, node, Op::GlobalAveragePool, {node.inputs[0]}, pooled);
  if (node.attributes.get_int("keepdims", 1) == 0) {
    ir::Node flat = node;
    flat.name += ".flatten";
    ir::Attributes attributes;
    attributes.set("axis", int64_t{1});
    value = add_for(graph, flat, Op::Flatten, {value}, result, attributes);
  }
  replace_node(graph, id, value);
  return true;
}

/// Dropout at rest => Identity, and its mask an Identity of a constant that is true everywhere.
bool settle_dropout_mask(ir::Graph& graph, ir::NodeId id) {
  const ir::Node node = graph.node(id);
  const bool asked = node.op == Op::Dropout && node.outputs.size() > 1 && node.outputs[1].valid();
  if (!asked || graph.use_count(node.outputs[1]) == 0) return false;
  const ir::TensorType type = graph.value(node.inputs[0]).type, mask_type = graph.value(node.outputs[1]).type;
  if (type.counted_axis >= 0 || mask_type.dtype != ir::DType::boolean) return false;
  ir::Tensor all(ir::DType::boolean, mask_type.dims);
  std::ranges::fill(all.data<bool>(), true);
  ir::Node mask = node;
  mask.name += ".mask";
  const ir::ValueId constant = graph.add_constant(graph.unique_name(mask.name), std::move(all));
  const ir::ValueId copies[] = {add_for(graph, node, Op::Identity, {node.inputs[0]}, type),
                                add_for(graph, mask, Op::Identity, {constant}, mask_type)};
  for (size_t i = 0; i < 2; ++i) {
    if (!node.outputs[i].valid()) continue;
    graph.replace_uses(node.outputs[i], copies[i]);
    std::swap(graph.value(node.outputs[i]).name, graph.value(copies[i]).name);
  }
  graph.remove_node(id);
  return true;
}

/// Pow(x, 2) => Mul(x, x): at most one rounding from any power function, and of a fraction of its cost.
bool name_square(ir::Graph& graph, ir::NodeId id) {
  const ir::Node node = graph.node(id);
  if (node.op != Op::Pow) return false;
  const ir::TensorType type = graph.value(node.outputs[0]).type;
  const ir::Tensor* exponent = graph.constant_input(id, 1);
  const bool square = exponent != nullptr && exponent->size() == 1 && exponent->to_doubles()[0] == 2;
  if (!square || type.dtype != ir::DType::f32 || type.counted_axis >= 0) return false;
  if (graph.value(node.inputs[0]).type != type) return false;
  replace_node(graph, id, add_for(graph, node, Op::Mul, {node.inputs[0], node.inputs[0]}, type));
  return true;
}

}  // namespace

bool normalise(ir::Graph& graph) {
  bool changed = false;
  for (const ir::NodeId id : graph.topological_order()) {
    if (graph.node(id).removed) continue;
    changed = split_variadic(graph, id) || merge_transposes(graph, id) || name_global_pool(graph, id) ||
              settle_dropout_mask(graph, id) || name_square(graph, id) || changed;
  }
  return changed;
}

}  // namespace onepass::passes
