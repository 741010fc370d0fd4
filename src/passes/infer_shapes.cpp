// SPDX-License-Identifier: Apache-2.0
#include "passes/infer_shapes.h"

#include <fmt/format.h>

#include <algorithm>

#include "ops/interpreter.h"
#include "ops/meaning.h"
#include "ops/shape_of.h"

namespace onepass::passes {

namespace {

// Shape arithmetic is about extents and scales; anything larger is constant folding's business.
constexpr int64_t k_max_known_int_elems = int64_t{1} << 20;
constexpr int64_t k_max_known_float_elems = 1024;

struct Inference {
  ir::Graph& graph;
  std::vector<ir::Tensor> known;  ///< by value, contents computed here; empty: not known
  std::vector<bool> failed;       ///< by value: its producer, or one before it, was refused
  std::vector<Diagnostic> errors;
};

bool is_float(ir::DType dtype) {
  return dtype == ir::DType::f32 || dtype == ir::DType::f64;
}

const ir::Tensor* known_value(const Inference& inference, ir::ValueId id) {
  if (!id.valid()) return nullptr;
  if (inference.graph.is_constant(id)) return &inference.graph.value(id).constant;
  const ir::Tensor& tensor = inference.known[id.index];
  return tensor.empty() ? nullptr : &tensor;
}

std::vector<const ir::Tensor*> known_inputs(const Inference& inference, const ir::Node& node) {
  std::vector<const ir::Tensor*> tensors;
  for (const ir::ValueId input : node.inputs) tensors.push_back(known_value(inference, input));
  return tensors;
}

/// Whether every input was typed; a value that nobody computes is refused here, by the node that reads it.
bool inputs_ready(Inference& inference, const ir::Node& node) {
  for (const ir::ValueId input : node.inputs) {
    if (!input.valid()) continue;
    if (inference.failed[input.index]) return false;
    const ir::Value& value = inference.graph.value(input);
    if (value.type.dtype != ir::DType::undefined) continue;
    Diagnostic diagnostic =
        ir::diagnostic_at(node, "unknown_shape", fmt::format("'{}' has no known shape", value.name));
    diagnostic.hint = fmt::format("bind it with --shape {}=1x3x320x320", value.name);
    inference.errors.push_back(std::move(diagnostic));
    return false;
  }
  return true;
}

std::vector<ir::TensorType> output_types(const Inference& inference, const ir::Node& node) {
  ops::ShapeContext context{.node = node, .inputs = {}, .constants = known_inputs(inference, node)};
  for (const ir::ValueId input : node.inputs)
    context.inputs.push_back(input.valid() ? &inference.graph.value(input).type : nullptr);
  std::vector<ir::TensorType> types = ops::meaning(node.op).shape(context);
  require(types.size() == node.outputs.size(), "a shape rule gives one type per output");
  return types;
}

/// Small enough, on both sides, to be worked out at compile time.
bool is_foldable(const ir::Node& node, const std::vector<const ir::Tensor*>& inputs,
                 const std::vector<ir::TensorType>& outputs) {
  const auto small = [](ir::DType dtype, int64_t count) {
    return count <= (is_float(dtype) ? k_max_known_float_elems : k_max_known_int_elems);
  };
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i] == nullptr && node.inputs[i].valid()) return false;
    if (inputs[i] != nullptr && inputs[i]->size() > k_max_known_int_elems) return false;
  }
  return std::all_of(outputs.begin(), outputs.end(), [&](const ir::TensorType& type) {
    return type.counted_axis < 0 && small(type.dtype, ir::element_count(type.dims));
  });
}

std::vector<ir::Tensor> output_values(const Inference& inference, const ir::Node& node,
                                      const std::vector<ir::TensorType>& types) {
  if (node.op == ir::Op::Shape) {
    std::optional<ir::Tensor> extents = ops::shape_value(node, inference.graph.value(node.inputs[0]).type);
    return extents ? std::vector<ir::Tensor>{std::move(*extents)} : std::vector<ir::Tensor>{};
  }
  const std::vector<const ir::Tensor*> inputs = known_inputs(inference, node);
  if (!is_foldable(node, inputs, types)) return {};
  return ops::evaluate(node, inputs);
}

/// A node that stays dynamic reads the known integers (and Resize its scales) as constants from here on.
void pin_known_inputs(Inference& inference, ir::NodeId id) {
  const std::vector<ir::ValueId> inputs = inference.graph.node(id).inputs;
  const bool float_operands = inference.graph.node(id).op == ir::Op::Resize;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const ir::Tensor* tensor = known_value(inference, inputs[i]);
    if (tensor == nullptr || inference.graph.is_constant(inputs[i])) continue;
    if (is_float(tensor->dtype()) && !(float_operands && i > 0)) continue;
    const ir::Tensor contents = *tensor;
    const std::string name = inference.graph.unique_name(inference.graph.value(inputs[i]).name + "_known");
    const ir::ValueId constant = inference.graph.add_constant(name, contents);
    inference.known.resize(inference.graph.value_capacity());
    inference.failed.resize(inference.graph.value_capacity(), false);
    inference.graph.set_input(id, static_cast<int>(i), constant);
  }
}

void infer_node(Inference& inference, ir::NodeId id) {
  const std::vector<ir::ValueId> outputs = inference.graph.node(id).outputs;
  const std::vector<ir::TensorType> types = output_types(inference, inference.graph.node(id));
  for (size_t i = 0; i < outputs.size(); ++i)
    if (outputs[i].valid()) inference.graph.value(outputs[i]).type = types[i];
  std::vector<ir::Tensor> values = output_values(inference, inference.graph.node(id), types);
  if (values.empty()) return pin_known_inputs(inference, id);
  for (size_t i = 0; i < outputs.size(); ++i)
    if (outputs[i].valid()) inference.known[outputs[i].index] = std::move(values[i]);
}

/// Adds what the node's own rule could not: who it is about, and what to do about a dynamic operand.
void record(Inference& inference, const ir::Node& node, const Error& error) {
  for (Diagnostic diagnostic : error.diagnostics()) {
    if (diagnostic.node.empty()) diagnostic.node = node.name;
    if (diagnostic.op.empty()) diagnostic.op = ir::name(node.op);
    if (diagnostic.opset == 0) diagnostic.opset = node.opset;
    if (diagnostic.code == "dynamic_operand" && diagnostic.hint.empty())
      diagnostic.hint = "bind the symbolic dimensions that it comes from with --shape name=1x3x320x320";
    inference.errors.push_back(std::move(diagnostic));
  }
}

void mark_failed(Inference& inference, const ir::Node& node) {
  for (const ir::ValueId output : node.outputs)
    if (output.valid()) inference.failed[output.index] = true;
}

}  // namespace

void infer_shapes(ir::Graph& graph) {
  const size_t count = graph.value_capacity();
  Inference inference{.graph = graph,
                      .known = std::vector<ir::Tensor>(count),
                      .failed = std::vector<bool>(count, false),
                      .errors = {}};
  for (const ir::NodeId id : graph.topological_order()) {
    if (!inputs_ready(inference, graph.node(id))) {
      mark_failed(inference, graph.node(id));
      continue;
    }
    try {
      infer_node(inference, id);
    } catch (const Error& error) {
      record(inference, graph.node(id), error);
      mark_failed(inference, graph.node(id));
    }
  }
  if (!inference.errors.empty()) throw Error(std::move(inference.errors));
}

}  // namespace onepass::passes
