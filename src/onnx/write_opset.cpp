// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "onnx/schema.h"
#include "onnx/write_file.h"

namespace onepass::onnx {

namespace {

using ir::Op;

constexpr int k_first_written_opset = 13;

/// From this opset on, the operator takes its input `input`.
struct InputRow {
  Op op;
  size_t input;
  int opset;
};

constexpr InputRow k_inputs[] = {
    {Op::ReduceMean, 1, 18}, {Op::ReduceMax, 1, 18}, {Op::ReduceMin, 1, 18},
    {Op::ReduceProd, 1, 18}, {Op::Pad, 3, 18},
};

/// From this opset on, the attribute may have this value.
struct TextRow {
  Op op;
  const char* attribute;
  const char* text;
  int opset;
};

constexpr TextRow k_texts[] = {
    {Op::Pad, "mode", "wrap", 19},
    {Op::Resize, "coordinate_transformation_mode", "half_pixel_symmetric", 19},
};

/// Integers that the arithmetic operators and Relu take from opset 14 on.
bool has_small_integers(const ir::Graph& graph, const ir::Node& node) {
  constexpr Op k_widened[] = {Op::Add, Op::Sub, Op::Mul, Op::Div, Op::Relu};
  if (std::find(std::begin(k_widened), std::end(k_widened), node.op) == std::end(k_widened)) return false;
  const ir::DType dtype = graph.value(node.inputs[0]).type.dtype;
  return dtype == ir::DType::i8 || dtype == ir::DType::u8 ||
         (node.op == Op::Relu && dtype != ir::DType::f32 && dtype != ir::DType::f64 &&
          dtype != ir::DType::undefined);
}

int lowest_opset_of(const ir::Graph& graph, const ir::Node& node) {
  int opset = operator_opsets(ir::name(node.op)).first;
  for (const auto& [name, value] : node.attributes.items())
    opset = std::max(opset, attribute_since(ir::name(node.op), name));
  for (const InputRow& row : k_inputs)
    if (row.op == node.op && row.input < node.inputs.size() && node.inputs[row.input].valid())
      opset = std::max(opset, row.opset);
  for (const TextRow& row : k_texts)
    if (row.op == node.op && node.attributes.has(row.attribute) &&
        node.attributes.get_string(row.attribute, "") == row.text)
      opset = std::max(opset, row.opset);
  return has_small_integers(graph, node) ? std::max(opset, 14) : opset;
}

}  // namespace

int lowest_opset(const ir::Graph& graph) {
  int opset = k_first_written_opset;
  for (ir::NodeId id : graph.topological_order())
    opset = std::max(opset, lowest_opset_of(graph, graph.node(id)));
  return opset;
}

}  // namespace onepass::onnx
