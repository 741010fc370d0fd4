// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "onnx/upgrade.h"

namespace onepass::onnx {

namespace {

void move_axes(Importer& importer, SourceNode& node, int opset_of_input) {
  if (node.opset < opset_of_input) {
    expect_inputs(node, 1);
    if (node.attributes.get_ints("axes").empty() && node.op != "Unsqueeze") node.attributes.erase("axes");
    importer.move_ints_to_input(node, "axes", 1);
  }
  importer.emit(node);
}

}  // namespace

/// Squeeze and Unsqueeze.
void upgrade_squeeze(Importer& importer, SourceNode& node) {
  move_axes(importer, node, 13);
}

void upgrade_reduce(Importer& importer, SourceNode& node) {
  move_axes(importer, node, 18);
}

void upgrade_reduce_sum(Importer& importer, SourceNode& node) {
  move_axes(importer, node, 13);
}

void upgrade_slice(Importer& importer, SourceNode& node) {
  if (node.opset < 10) {
    expect_inputs(node, 1);
    importer.move_ints_to_input(node, "starts", 1);
    importer.move_ints_to_input(node, "ends", 2);
    importer.move_ints_to_input(node, "axes", 3);
  }
  importer.emit(node);
}

void upgrade_pad(Importer& importer, SourceNode& node) {
  if (node.opset < 11 && node.has_input(0)) {
    expect_inputs(node, 1);
    importer.move_ints_to_input(node, "pads", 1);
    const double value = node.attributes.get_float("value", 0);
    node.attributes.erase("value");
    const bool is_double = importer.graph.value(node.inputs[0]).type.dtype == ir::DType::f64;
    if (value != 0)
      node.inputs.push_back(importer.add_constant(
          node, "value",
          is_double ? ir::Tensor::scalar(value) : ir::Tensor::scalar(static_cast<float>(value))));
  }
  importer.emit(node);
}

void upgrade_split(Importer& importer, SourceNode& node) {
  if (node.opset < 13) {
    expect_inputs(node, 1);
    if (node.attributes.get_ints("split").empty()) node.attributes.erase("split");
    importer.move_ints_to_input(node, "split", 1);
  }
  const auto outputs = static_cast<int64_t>(node.outputs.size());
  if (!node.has_input(1) && node.opset < 18) node.attributes.set("num_outputs", outputs);
  if (node.attributes.get_int("num_outputs", outputs) != outputs)
    throw refuse(node, {.code = "output_count",
                        .message = fmt::format("num_outputs is {}, but the node has {} outputs",
                                               node.attributes.get_int("num_outputs", 0), outputs)});
  importer.emit(node);
}

void upgrade_top_k(Importer& importer, SourceNode& node) {
  if (node.opset < 10) {
    expect_inputs(node, 1);
    const std::vector<int64_t> k = {node.attributes.get_int("k", 0)};
    node.attributes.erase("k");
    node.inputs.resize(2);
    node.inputs[1] = importer.add_ints(node, "k", k);
  }
  importer.emit(node);
}

}  // namespace onepass::onnx
