// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "onnx/upgrade.h"

namespace onepass::onnx {

namespace {

struct ToTensor {
  ir::Tensor operator()(int64_t number) const { return ir::Tensor::scalar(number); }
  ir::Tensor operator()(double number) const { return ir::Tensor::scalar(static_cast<float>(number)); }
  ir::Tensor operator()(const std::vector<int64_t>& numbers) const { return ir::Tensor::of_ints(numbers); }
  ir::Tensor operator()(const std::vector<double>& numbers) const {
    const std::vector<float> floats(numbers.begin(), numbers.end());
    return ir::Tensor::of<float>({static_cast<int64_t>(floats.size())}, floats);
  }
  ir::Tensor operator()(const ir::Tensor& tensor) const { return tensor; }
  ir::Tensor operator()(const std::string&) const {
    throw InternalError("a Constant of strings was let through");
  }
};

}  // namespace

/// A Constant node becomes a constant under its output's name.
void upgrade_constant(Importer& importer, SourceNode& node) {
  expect_inputs(node, 0);
  if (node.outputs.size() != 1 || node.outputs[0].empty())
    throw refuse(node, {.code = "output_count",
                        .message = fmt::format("the node has {} outputs", node.outputs.size()),
                        .accepted = "1"});
  if (node.attributes.items().size() != 1)
    throw refuse(node,
                 {.code = "constant_value",
                  .message = fmt::format("the node has {} values", node.attributes.items().size()),
                  .accepted = "exactly one of value, value_float, value_floats, value_int, value_ints"});
  ir::Tensor tensor = std::visit(ToTensor{}, node.attributes.items().begin()->second);
  importer.define(node.outputs[0], importer.graph.add_constant(node.outputs[0], std::move(tensor)));
}

}  // namespace onepass::onnx
