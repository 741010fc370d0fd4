// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <span>
#include <string>
#include <vector>

#include "ir/attributes.h"
#include "ir/op.h"
#include "ir/tensor.h"

namespace onepass::ir {

struct NodeId {
  int32_t index = -1;
  auto operator<=>(const NodeId&) const = default;
  bool valid() const { return index >= 0; }
};

struct ValueId {
  int32_t index = -1;
  auto operator<=>(const ValueId&) const = default;
  bool valid() const { return index >= 0; }
};

/// One reading of a value: input number `input` of `node`.
struct Use {
  NodeId node;
  int input = 0;
  auto operator<=>(const Use&) const = default;
};

struct Value {
  std::string name;
  TensorType type;        ///< dtype undefined until infer_shapes has run
  NodeId producer;        ///< invalid for graph inputs and constants
  int output = 0;         ///< which output of the producer
  Tensor constant;        ///< not empty: an initializer
  bool is_input = false;  ///< a graph input that the caller feeds
  std::vector<Use> uses;  ///< readers, in no particular order
};

struct Node {
  Op op{};
  std::string name;              ///< the user's own name, or made from the first output's name
  std::vector<ValueId> inputs;   ///< an invalid id is an absent optional input
  std::vector<ValueId> outputs;  ///< an invalid id is an absent optional output
  Attributes attributes;
  int opset = 0;                     ///< of the file; 0 for nodes made by a rewrite
  std::vector<std::string> origins;  ///< names of the user's nodes that this one stands for, itself first
  bool removed = false;
};

struct GraphOutput {
  std::string name;
  ValueId value;
};

/// A graph of standard operators. Ids stay valid while nodes come and go. Not thread-safe for writing.
class Graph {
 public:
  std::string name;

  ValueId add_input(std::string name, TensorType type);
  ValueId add_constant(std::string name, Tensor constant);
  /// An interior value without a producer yet; add_node adopts it.
  ValueId add_value(std::string name, TensorType type = {});
  void add_output(std::string name, ValueId value);

  /// Adds a node that computes `outputs` (values made by add_value). Names it when `node.name` is empty.
  NodeId add_node(Node node);
  /// Adds a one-output node and returns its output, of type `type`.
  ValueId add_node(Op op, std::string name, std::vector<ValueId> inputs, TensorType type,
                   Attributes attributes = {});

  const Node& node(NodeId id) const { return nodes_[id.index]; }
  Node& node(NodeId id) { return nodes_[id.index]; }
  const Value& value(ValueId id) const { return values_[id.index]; }
  Value& value(ValueId id) { return values_[id.index]; }

  void set_input(NodeId node, int input, ValueId value);
  /// Every reader of `from`, graph outputs included, reads `to` instead.
  void replace_uses(ValueId from, ValueId to);
  /// Removes a node whose outputs nobody reads.
  void remove_node(NodeId id);

  const std::vector<ValueId>& inputs() const { return inputs_; }
  const std::vector<GraphOutput>& outputs() const { return outputs_; }
  bool is_output(ValueId value) const;
  /// Readers plus graph outputs.
  int use_count(ValueId value) const;
  /// The only reader of `value`, or an invalid id when there is none, more than one, or it is a graph output.
  NodeId only_consumer(ValueId value) const;
  bool is_constant(ValueId value) const { return value.valid() && !this->value(value).constant.empty(); }
  /// The constant behind an optional input: null when absent or not constant.
  const Tensor* constant_input(NodeId node, size_t input) const;
  NodeId producer(ValueId value) const { return value.valid() ? this->value(value).producer : NodeId{}; }

  /// Live nodes, producers before consumers, otherwise in the order of creation. Throws
  /// Error("cyclic_graph").
  std::vector<NodeId> topological_order() const;
  size_t node_capacity() const { return nodes_.size(); }    ///< one past the largest node index
  size_t value_capacity() const { return values_.size(); }  ///< one past the largest value index
  size_t live_node_count() const;
  /// A name that no value has yet: `stem`, or `stem` with a number.
  std::string unique_name(const std::string& stem) const;

 private:
  std::vector<Node> nodes_;
  std::vector<Value> values_;
  std::vector<ValueId> inputs_;
  std::vector<GraphOutput> outputs_;
};

/// A node in words for messages: "node 'conv1' (Conv, opset 13)" fields of a Diagnostic filled in.
Diagnostic diagnostic_at(const Node& node, std::string code, std::string message);

}  // namespace onepass::ir
