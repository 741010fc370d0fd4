// SPDX-License-Identifier: Apache-2.0
#include "ops/interpreter.h"

#include <fmt/format.h>

#include <algorithm>

#include "ops/meaning.h"
#include "ops/shape_support.h"

namespace onepass::ops {

namespace {

using ir::DType;
using ir::Tensor;
using ir::TensorType;

std::vector<TensorType> output_types(const ir::Node& node, const std::vector<const Tensor*>& inputs) {
  std::vector<TensorType> types;
  types.reserve(inputs.size());
  ShapeContext context{node, {}, inputs};
  for (const Tensor* input : inputs) {
    types.push_back(input != nullptr ? input->type() : TensorType{});
    context.inputs.push_back(input != nullptr ? &types.back() : nullptr);
  }
  std::vector<TensorType> result = meaning(node.op).shape(context);
  require(result.size() == node.outputs.size(), "a shape rule gives one type per output");
  return result;
}

bool same_extents(const ir::Shape& actual, const TensorType& expected) {
  if (actual.size() != expected.dims.size()) return false;
  for (size_t axis = 0; axis < actual.size(); ++axis) {
    const bool counted = static_cast<int>(axis) == expected.counted_axis;
    if (counted ? actual[axis] > expected.dims[axis] : actual[axis] != expected.dims[axis]) return false;
  }
  return true;
}

DType in_precision(DType dtype, DType float_type) {
  return is_float(dtype) ? float_type : dtype;
}

/// The operands with every float tensor in f64; `kept` owns the copies.
std::vector<const Tensor*> promoted(const std::vector<const Tensor*>& inputs, std::vector<Tensor>& kept) {
  std::vector<const Tensor*> result;
  kept.reserve(inputs.size());
  for (const Tensor* input : inputs) {
    if (input != nullptr && input->dtype() == DType::f32) {
      kept.push_back(input->cast(DType::f64));
      input = &kept.back();
    }
    result.push_back(input);
  }
  return result;
}

/// Runs the reference whose float type is `float_type` on operands that hold it.
std::vector<Tensor> run(const ir::Node& node, const std::vector<const Tensor*>& inputs, DType float_type) {
  const std::vector<TensorType> types = output_types(node, inputs);
  std::vector<Tensor> outputs;
  for (const TensorType& type : types) outputs.emplace_back(in_precision(type.dtype, float_type), type.dims);
  const Meaning& row = meaning(node.op);
  (float_type == DType::f64 ? row.reference_f64 : row.reference_f32)(node, inputs, outputs);
  for (size_t i = 0; i < types.size(); ++i) {
    require(outputs[i].dtype() == in_precision(types[i].dtype, float_type),
            "a reference keeps the output's type");
    require(same_extents(outputs[i].shape(), types[i]), "a reference keeps the extents of its shape rule");
  }
  return outputs;
}

bool any_f64(const std::vector<const Tensor*>& inputs, const std::vector<TensorType>& outputs) {
  return std::any_of(inputs.begin(), inputs.end(), [](auto* t) { return t && t->dtype() == DType::f64; }) ||
         std::any_of(outputs.begin(), outputs.end(), [](auto& type) { return type.dtype == DType::f64; });
}

/// One run over a graph: the values at hand and how many readers each still has.
class Run {
 public:
  Run(const ir::Graph& graph, const InterpretOptions& options)
      : graph_(graph), options_(options), held_(graph.value_capacity()), readers_(graph.value_capacity(), 0) {
    for (size_t i = 0; i < readers_.size(); ++i) readers_[i] = graph.use_count({static_cast<int32_t>(i)});
  }

  void feed(const std::vector<Tensor>& inputs);
  void execute(ir::NodeId id);
  std::vector<Tensor> outputs() const;

 private:
  const Tensor* at(ir::ValueId id) const;
  void keep(ir::ValueId id, Tensor tensor);
  void release(ir::ValueId id);

  const ir::Graph& graph_;
  const InterpretOptions& options_;
  std::vector<Tensor> held_;
  std::vector<int> readers_;
};

void Run::feed(const std::vector<Tensor>& inputs) {
  const std::vector<ir::ValueId>& ids = graph_.inputs();
  if (inputs.size() != ids.size())
    throw Error({.code = "input_count",
                 .message = fmt::format("{} inputs are given", inputs.size()),
                 .accepted = fmt::format("{} inputs", ids.size())});
  for (size_t i = 0; i < ids.size(); ++i) {
    const ir::Value& value = graph_.value(ids[i]);
    if (inputs[i].empty() || inputs[i].dtype() != value.type.dtype ||
        !same_extents(inputs[i].shape(), value.type))
      throw Error({.code = "input_type",
                   .message = fmt::format("input '{}' is {}", value.name, ir::to_string(inputs[i].type())),
                   .accepted = ir::to_string(value.type)});
    held_[ids[i].index] = inputs[i];
  }
}

const Tensor* Run::at(ir::ValueId id) const {
  if (!id.valid()) return nullptr;
  if (graph_.is_constant(id)) return &graph_.value(id).constant;
  require(!held_[id.index].empty(), "a value is computed before it is read");
  return &held_[id.index];
}

void Run::keep(ir::ValueId id, Tensor tensor) {
  const ir::Value& value = graph_.value(id);
  if (value.type.dtype != DType::undefined) {
    const bool same_type =
        tensor.dtype() == value.type.dtype || (is_float(tensor.dtype()) && is_float(value.type.dtype));
    require(same_type && same_extents(tensor.shape(), value.type), "a computed value has its static type");
  }
  if (options_.on_value) options_.on_value(id, tensor);
  if (readers_[id.index] > 0) held_[id.index] = std::move(tensor);
}

void Run::release(ir::ValueId id) {
  if (id.valid() && --readers_[id.index] == 0) held_[id.index] = {};
}

void Run::execute(ir::NodeId id) {
  const ir::Node& node = graph_.node(id);
  std::vector<const Tensor*> inputs;
  for (ir::ValueId input : node.inputs) inputs.push_back(at(input));
  std::vector<Tensor> outputs = evaluate(node, inputs, options_.precision);
  for (ir::ValueId input : node.inputs) release(input);
  for (size_t i = 0; i < outputs.size(); ++i)
    if (node.outputs[i].valid()) keep(node.outputs[i], std::move(outputs[i]));
}

std::vector<Tensor> Run::outputs() const {
  std::vector<Tensor> result;
  for (const ir::GraphOutput& output : graph_.outputs()) {
    const Tensor& tensor = *at(output.value);
    const bool widen = options_.precision == Precision::f64 && is_float(tensor.dtype());
    result.push_back(widen ? tensor.cast(DType::f64) : tensor);
  }
  return result;
}

}  // namespace

std::vector<Tensor> evaluate(const ir::Node& node, const std::vector<const Tensor*>& inputs,
                             Precision precision) {
  std::vector<Tensor> kept;
  if (precision == Precision::f64) return run(node, promoted(inputs, kept), DType::f64);
  const std::vector<TensorType> types = output_types(node, inputs);
  if (!any_f64(inputs, types)) return run(node, inputs, DType::f32);
  // The file itself asks for f64 here: compute in double and give each output its declared type.
  std::vector<Tensor> outputs = run(node, promoted(inputs, kept), DType::f64);
  for (size_t i = 0; i < outputs.size(); ++i) outputs[i] = outputs[i].cast(types[i].dtype);
  return outputs;
}

std::vector<Tensor> interpret(const ir::Graph& graph, const std::vector<Tensor>& inputs,
                              const InterpretOptions& options) {
  Run run(graph, options);
  run.feed(inputs);
  for (ir::NodeId id : graph.topological_order()) run.execute(id);
  return run.outputs();
}

}  // namespace onepass::ops
