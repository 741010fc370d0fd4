// SPDX-License-Identifier: Apache-2.0
#include "onnx/upgrade.h"

namespace onepass::onnx {

namespace {

/// The number takes the type of the tensor that it goes with.
ir::ValueId add_number(Importer& importer, const SourceNode& node, const std::string& role, double number) {
  const bool is_double = importer.graph.value(node.inputs[0]).type.dtype == ir::DType::f64;
  return importer.add_constant(
      node, role, is_double ? ir::Tensor::scalar(number) : ir::Tensor::scalar(static_cast<float>(number)));
}

}  // namespace

void upgrade_clip(Importer& importer, SourceNode& node) {
  if (node.opset >= 11) return importer.emit(node);
  expect_inputs(node, 1);
  if (!node.has_input(0)) return importer.emit(node);
  node.inputs.resize(3);
  constexpr const char* k_bounds[] = {"min", "max"};
  for (size_t i = 0; i < 2; ++i) {
    if (!node.attributes.has(k_bounds[i])) continue;
    node.inputs[i + 1] = add_number(importer, node, k_bounds[i], node.attributes.get_float(k_bounds[i], 0));
    node.attributes.erase(k_bounds[i]);
  }
  importer.emit(node);
}

void upgrade_dropout(Importer& importer, SourceNode& node) {
  if (node.opset < 12) {
    expect_inputs(node, 1);
    if (node.attributes.has("ratio") && node.has_input(0))
      node.inputs.push_back(add_number(importer, node, "ratio", node.attributes.get_float("ratio", 0.5)));
  }
  if (node.has_input(2)) {
    const ir::Tensor& flag = importer.graph.value(node.inputs[2]).constant;
    const bool known = !flag.empty() && flag.dtype() == ir::DType::boolean && flag.size() == 1;
    if (!known || flag.data<bool>()[0])
      throw refuse(node, {.code = "training_mode_dropout",
                          .message = known ? "Dropout is in training mode: its output is random"
                                           : "Dropout's training_mode input is not a constant bool",
                          .accepted = "Dropout in inference mode",
                          .hint = "export in inference mode: model.eval() before torch.onnx.export"});
    node.inputs.resize(2);
  }
  if (node.opset < 10 && node.outputs.size() > 1 && importer.is_read(node.outputs[1]))
    throw refuse(node,
                 {.code = "dropout_mask",
                  .message = "the mask output is used; before opset 10 it has no defined value at inference",
                  .accepted = "the first output"});
  node.attributes.erase("ratio");
  node.attributes.erase("seed");
  importer.emit(node);
}

}  // namespace onepass::onnx
