// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "onnx/upgrade.h"

namespace onepass::onnx {

namespace {

/// Before opset 11 a pixel is rounded down where the map grows and up where it shrinks (the standard's own
/// test).
std::string rounding_for(Importer& importer, const SourceNode& node, ir::ValueId scales) {
  if (!importer.graph.is_constant(scales)) {
    importer.warnings.push_back(
        refuse(node, {.severity = Severity::warning,
                      .code = "resize_scales_unknown",
                      .message = "scales are not constant in the file; the map is taken to grow"})
            .diagnostics()
            .front());
    return "floor";
  }
  bool grows = false, shrinks = false;
  for (double scale : importer.graph.value(scales).constant.to_doubles()) {
    grows = grows || scale > 1;
    shrinks = shrinks || scale < 1;
  }
  if (grows && shrinks)
    throw refuse(node, {.code = "resize_scales",
                        .message = "nearest mode enlarges one axis and shrinks another",
                        .accepted = "before opset 11, scales that all enlarge or all shrink",
                        .hint = "export with opset 11 or later"});
  return shrinks ? "ceil" : "floor";
}

/// Before opset 11 a destination pixel d reads source pixel d / scale.
void emit_asymmetric(Importer& importer, SourceNode& node, ir::ValueId scales) {
  std::string mode = node.attributes.get_string("mode", "nearest");
  if (mode == "bilinear") mode = "linear";
  if (mode != "nearest" && mode != "linear")
    throw refuse(
        node,
        {.code = "resize_mode", .message = fmt::format("mode is '{}'", mode), .accepted = "nearest, linear"});
  node.op = "Resize";
  node.inputs = {node.inputs.at(0), {}, scales};
  node.attributes.set("mode", mode);
  node.attributes.set("coordinate_transformation_mode", std::string("asymmetric"));
  if (mode == "nearest") node.attributes.set("nearest_mode", rounding_for(importer, node, scales));
  importer.emit(node);
}

ir::ValueId scales_input(const SourceNode& node) {
  expect_inputs(node, 2);
  if (node.has_input(0) && node.has_input(1)) return node.inputs[1];
  throw refuse(
      node,
      {.code = "missing_input", .message = "the tensor or its scales are missing", .accepted = "2 inputs"});
}

/// Exporters spell an absent input as an empty constant.
void drop_empty(const Importer& importer, SourceNode& node, size_t index) {
  if (node.has_input(index) && importer.graph.is_constant(node.inputs[index]) &&
      importer.graph.value(node.inputs[index]).constant.size() == 0)
    node.inputs[index] = {};
}

}  // namespace

void upgrade_resize(Importer& importer, SourceNode& node) {
  if (node.opset == 10) return emit_asymmetric(importer, node, scales_input(node));
  for (size_t index = 1; index < node.inputs.size(); ++index) drop_empty(importer, node, index);
  const bool reads_roi =
      node.attributes.get_string("coordinate_transformation_mode", "half_pixel") == "tf_crop_and_resize";
  if (!reads_roi && node.has_input(1)) node.inputs[1] = {};
  if (node.has_input(2) == node.has_input(3))
    throw refuse(node, {.code = "resize_target",
                        .message = node.has_input(2) ? "both scales and sizes are given"
                                                     : "neither scales nor sizes are given",
                        .accepted = "one of the two"});
  importer.emit(node);
}

void upgrade_upsample(Importer& importer, SourceNode& node) {
  if (node.opset >= 9) return emit_asymmetric(importer, node, scales_input(node));
  expect_inputs(node, 1);
  if (!node.has_input(0)) throw refuse(node, {.code = "missing_input", .message = "the tensor is missing"});
  const auto& scales = std::get<std::vector<double>>(node.attributes.items().at("scales"));
  const std::vector<float> values(scales.begin(), scales.end());
  node.attributes.erase("scales");
  const ir::Shape shape = {static_cast<int64_t>(values.size())};
  const ir::Tensor tensor = ir::Tensor::of<float>(shape, values);
  emit_asymmetric(importer, node, importer.add_constant(node, "scales", tensor));
}

}  // namespace onepass::onnx
