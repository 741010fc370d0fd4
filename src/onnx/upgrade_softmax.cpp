// SPDX-License-Identifier: Apache-2.0
#include "onnx/upgrade.h"

namespace onepass::onnx {

/// Softmax and LogSoftmax. Before opset 13 they see a matrix: all axes from `axis` on are one row. Where
/// `axis` is the last one that is the newest form; elsewhere Flatten, Softmax over the last axis, Reshape say
/// it exactly.
void upgrade_softmax(Importer& importer, SourceNode& node) {
  if (node.opset >= 13 || !node.has_input(0)) return importer.emit(node);
  expect_inputs(node, 1);
  const ir::ValueId source = node.inputs[0];
  const int64_t axis = node.attributes.get_int("axis", 1);
  const int rank = importer.rank(source);
  node.attributes.set("axis", int64_t{-1});
  if (axis == -1 || (rank > 0 && axis == rank - 1)) return importer.emit(node);

  ir::Attributes flatten;
  flatten.set("axis", axis);
  const ir::ValueId matrix = importer.emit_step(node, ir::Op::Flatten, {source}, flatten);
  ir::Attributes last_axis;
  last_axis.set("axis", int64_t{-1});
  const ir::Op op = node.op == "Softmax" ? ir::Op::Softmax : ir::Op::LogSoftmax;
  const ir::ValueId normal = importer.emit_step(node, op, {matrix}, last_axis);
  const ir::ValueId shape = importer.emit_step(node, ir::Op::Shape, {source});
  node.op = "Reshape";
  node.inputs = {normal, shape};
  node.attributes = {};
  importer.emit(node);
}

}  // namespace onepass::onnx
