// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <span>
#include <string>
#include <vector>

#include "onnx/proto.h"
#include "onnx/reader.h"

namespace onepass::onnx::test {

using Ints = std::vector<int64_t>;
using Floats = std::vector<float>;
using Names = std::vector<std::string>;

inline constexpr int k_float = 1;
inline constexpr int k_float16 = 10;

/// A dimension of a graph input: a number, or a name.
struct Dim {
  Dim(int number) : number(number) {}
  Dim(const char* name) : name(name) {}
  int64_t number = 0;
  std::string name;
};

/// A node under construction: attributes by type.
class NodeBuilder {
 public:
  explicit NodeBuilder(pb::NodeProto& node) : node_(node) {}

  NodeBuilder& with(const std::string& name, int64_t value) {
    auto& attribute = add(name, pb::AttributeProto::INT);
    attribute.set_i(value);
    return *this;
  }
  NodeBuilder& with(const std::string& name, int value) { return with(name, static_cast<int64_t>(value)); }
  NodeBuilder& with(const std::string& name, float value) {
    auto& attribute = add(name, pb::AttributeProto::FLOAT);
    attribute.set_f(value);
    return *this;
  }
  NodeBuilder& with(const std::string& name, const char* value) {
    auto& attribute = add(name, pb::AttributeProto::STRING);
    attribute.set_s(value);
    return *this;
  }
  NodeBuilder& with(const std::string& name, const Ints& values) {
    auto& attribute = add(name, pb::AttributeProto::INTS);
    attribute.mutable_ints()->Add(values.begin(), values.end());
    return *this;
  }
  NodeBuilder& with(const std::string& name, const Floats& values) {
    auto& attribute = add(name, pb::AttributeProto::FLOATS);
    attribute.mutable_floats()->Add(values.begin(), values.end());
    return *this;
  }
  NodeBuilder& with(const std::string& name, const pb::TensorProto& value) {
    *add(name, pb::AttributeProto::TENSOR).mutable_t() = value;
    return *this;
  }
  NodeBuilder& named(const std::string& name) {
    node_.set_name(name);
    return *this;
  }
  pb::NodeProto& proto() { return node_; }

 private:
  pb::AttributeProto& add(const std::string& name, pb::AttributeProto::AttributeType type) {
    auto& attribute = *node_.add_attribute();
    attribute.set_name(name);
    attribute.set_type(type);
    return attribute;
  }

  pb::NodeProto& node_;
};

inline pb::TensorProto float_tensor(const Ints& dims, const Floats& values) {
  pb::TensorProto tensor;
  tensor.set_data_type(pb::TensorProto::FLOAT);
  tensor.mutable_dims()->Add(dims.begin(), dims.end());
  tensor.mutable_float_data()->Add(values.begin(), values.end());
  return tensor;
}

inline pb::TensorProto int_tensor(const Ints& dims, const Ints& values) {
  pb::TensorProto tensor;
  tensor.set_data_type(pb::TensorProto::INT64);
  tensor.mutable_dims()->Add(dims.begin(), dims.end());
  tensor.mutable_int64_data()->Add(values.begin(), values.end());
  return tensor;
}

/// A file in memory. Input x and output y unless said otherwise.
class ModelBuilder {
 public:
  explicit ModelBuilder(int opset) {
    model.set_ir_version(8);
    model.add_opset_import()->set_version(opset);
    model.mutable_graph()->set_name("test");
  }

  ModelBuilder& input(const std::string& name, const std::vector<Dim>& dims, int element = k_float) {
    auto& info = *graph().add_input();
    info.set_name(name);
    auto& tensor = *info.mutable_type()->mutable_tensor_type();
    tensor.set_elem_type(element);
    tensor.mutable_shape();
    for (const Dim& dim : dims) {
      auto& proto = *tensor.mutable_shape()->add_dim();
      if (dim.name.empty())
        proto.set_dim_value(dim.number);
      else
        proto.set_dim_param(dim.name);
    }
    return *this;
  }
  ModelBuilder& output(const std::string& name) {
    graph().add_output()->set_name(name);
    return *this;
  }
  ModelBuilder& initializer(const std::string& name, pb::TensorProto tensor) {
    tensor.set_name(name);
    *graph().add_initializer() = std::move(tensor);
    return *this;
  }
  NodeBuilder node(const std::string& op, const Names& inputs, const Names& outputs) {
    auto& node = *graph().add_node();
    node.set_op_type(op);
    for (const auto& name : inputs) node.add_input(name);
    for (const auto& name : outputs) node.add_output(name);
    return NodeBuilder(node);
  }
  pb::GraphProto& graph() { return *model.mutable_graph(); }

  std::string bytes() const { return model.SerializeAsString(); }
  Model read(const ReadOptions& options = {}, const std::string& folder = "") const {
    const std::string text = bytes();
    return read_model(std::as_bytes(std::span(text)), folder, options);
  }
  /// The diagnostics of the refusal; fails the test when the model is read.
  std::vector<Diagnostic> refusals(const ReadOptions& options = {}, const std::string& folder = "") const {
    try {
      read(options, folder);
    } catch (const Error& error) {
      return error.diagnostics();
    }
    ADD_FAILURE() << "the model is read, but should be refused";
    return {Diagnostic{}};
  }
  Diagnostic refusal(const ReadOptions& options = {}, const std::string& folder = "") const {
    const auto all = refusals(options, folder);
    EXPECT_EQ(all.size(), 1u) << to_string(all.front());
    return all.front();
  }

  pb::ModelProto model;
};

/// One node `op` from x to y.
inline ModelBuilder one_node(int opset, const std::string& op, const std::vector<Dim>& dims = {1, 4, 6, 6}) {
  ModelBuilder builder(opset);
  builder.input("x", dims).output("y");
  builder.node(op, {"x"}, {"y"}).named("the_node");
  return builder;
}

inline NodeBuilder first_node(ModelBuilder& builder) {
  return NodeBuilder(*builder.graph().mutable_node(0));
}

/// The live nodes in order, by operator name.
inline Names ops_of(const ir::Graph& graph) {
  Names names;
  for (ir::NodeId id : graph.topological_order()) names.push_back(ir::name(graph.node(id).op));
  return names;
}

inline const ir::Node& only_node(const ir::Graph& graph) {
  const auto order = graph.topological_order();
  EXPECT_EQ(order.size(), 1u);
  return graph.node(order.at(0));
}

inline const ir::Tensor& constant_of(const ir::Graph& graph, const ir::Node& node, size_t input) {
  static const ir::Tensor k_none;
  if (input >= node.inputs.size() || !graph.is_constant(node.inputs[input])) {
    ADD_FAILURE() << node.name << " has no constant input " << input;
    return k_none;
  }
  return graph.value(node.inputs[input]).constant;
}

inline Ints ints_of(const ir::Graph& graph, const ir::Node& node, size_t input) {
  return constant_of(graph, node, input).to_ints();
}

}  // namespace onepass::onnx::test
