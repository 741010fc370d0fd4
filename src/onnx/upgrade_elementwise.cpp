// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "onnx/element_types.h"
#include "onnx/upgrade.h"

namespace onepass::onnx {

/// A Sum is a chain of Adds, left to right; of one operand it is an Identity.
void upgrade_sum(Importer& importer, SourceNode& node) {
  if (node.inputs.empty()) return importer.emit(node);
  for (ir::ValueId input : node.inputs)
    if (!input.valid()) return importer.emit(node);
  if (node.inputs.size() == 1) {
    node.op = "Identity";
    return importer.emit(node);
  }
  ir::ValueId partial = node.inputs[0];
  for (size_t i = 1; i + 1 < node.inputs.size(); ++i)
    partial = importer.emit_step(node, ir::Op::Add, {partial, node.inputs[i]});
  node.op = "Add";
  node.inputs = {partial, node.inputs.back()};
  importer.emit(node);
}

/// Half precision is float in the IR; narrower integers would wrap, so they are refused.
void upgrade_cast(Importer& importer, SourceNode& node) {
  const int64_t to = node.attributes.get_int("to", 0);
  const ElementType* type = to > 0 && to < 64 ? element_type(static_cast<int32_t>(to)) : nullptr;
  if (type == nullptr || (!type->same_bits && type->dtype != ir::DType::f32))
    throw refuse(node, {.code = "unsupported_type",
                        .message = fmt::format("to is {} ({})", to, type == nullptr ? "unknown" : type->name),
                        .accepted = "float, float16, bfloat16, double, int64, int32, int8, uint8, bool"});
  node.attributes.set("to", int64_t{element_number(type->dtype)});
  node.attributes.erase("saturate");
  node.attributes.erase("round_mode");
  importer.emit(node);
}

/// stash_type tells how half-precision steps are computed; ours are float.
void upgrade_range(Importer& importer, SourceNode& node) {
  node.attributes.erase("stash_type");
  importer.emit(node);
}

void upgrade_space_to_depth(Importer& importer, SourceNode& node) {
  const std::string mode = node.attributes.get_string("mode", "DCR");
  if (mode != "DCR")
    throw refuse(
        node,
        {.code = "space_to_depth_mode", .message = fmt::format("mode is '{}'", mode), .accepted = "DCR"});
  node.attributes.erase("mode");
  importer.emit(node);
}

}  // namespace onepass::onnx
