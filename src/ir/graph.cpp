// SPDX-License-Identifier: Apache-2.0
#include "ir/graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <queue>
#include <unordered_set>

namespace onepass::ir {

ValueId Graph::add_input(std::string name, TensorType type) {
  const ValueId id = add_value(std::move(name), std::move(type));
  value(id).is_input = true;
  inputs_.push_back(id);
  return id;
}

ValueId Graph::add_constant(std::string name, Tensor constant) {
  const ValueId id = add_value(std::move(name), constant.type());
  value(id).constant = std::move(constant);
  return id;
}

ValueId Graph::add_value(std::string name, TensorType type) {
  values_.push_back({.name = std::move(name), .type = std::move(type)});
  return {static_cast<int32_t>(values_.size() - 1)};
}

void Graph::add_output(std::string name, ValueId value) {
  outputs_.push_back({std::move(name), value});
}

NodeId Graph::add_node(Node node) {
  const NodeId id{static_cast<int32_t>(nodes_.size())};
  for (size_t i = 0; i < node.inputs.size(); ++i)
    if (node.inputs[i].valid()) value(node.inputs[i]).uses.push_back({id, static_cast<int>(i)});
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (!node.outputs[i].valid()) continue;
    require(!value(node.outputs[i]).producer.valid(), "a value has one producer");
    value(node.outputs[i]).producer = id;
    value(node.outputs[i]).output = static_cast<int>(i);
  }
  if (node.name.empty()) node.name = fmt::format("{}_{}", ir::name(node.op), value(node.outputs.at(0)).name);
  if (node.origins.empty()) node.origins = {node.name};
  nodes_.push_back(std::move(node));
  return id;
}

ValueId Graph::add_node(Op op, std::string name, std::vector<ValueId> inputs, TensorType type,
                        Attributes attributes) {
  const ValueId output = add_value(unique_name(name), std::move(type));
  add_node({.op = op,
            .name = std::move(name),
            .inputs = std::move(inputs),
            .outputs = {output},
            .attributes = std::move(attributes),
            .origins = {}});
  return output;
}

void Graph::set_input(NodeId id, int input, ValueId replacement) {
  ValueId& slot = node(id).inputs.at(input);
  if (slot.valid()) std::erase(value(slot).uses, Use{id, input});
  slot = replacement;
  if (slot.valid()) value(slot).uses.push_back({id, input});
}

void Graph::replace_uses(ValueId from, ValueId to) {
  const std::vector<Use> uses = value(from).uses;
  for (const Use& use : uses) set_input(use.node, use.input, to);
  for (GraphOutput& output : outputs_)
    if (output.value == from) output.value = to;
}

void Graph::remove_node(NodeId id) {
  Node& gone = node(id);
  for (ValueId output : gone.outputs)
    if (output.valid()) require(use_count(output) == 0, "a removed node has no readers");
  for (size_t i = 0; i < gone.inputs.size(); ++i) set_input(id, static_cast<int>(i), {});
  for (ValueId output : gone.outputs)
    if (output.valid()) value(output).producer = {};
  gone.removed = true;
}

bool Graph::is_output(ValueId value) const {
  return std::any_of(outputs_.begin(), outputs_.end(),
                     [&](const GraphOutput& o) { return o.value == value; });
}

int Graph::use_count(ValueId id) const {
  const auto as_output =
      std::count_if(outputs_.begin(), outputs_.end(), [&](const GraphOutput& o) { return o.value == id; });
  return static_cast<int>(value(id).uses.size() + as_output);
}

NodeId Graph::only_consumer(ValueId id) const {
  return use_count(id) == 1 && !is_output(id) ? value(id).uses.front().node : NodeId{};
}

const Tensor* Graph::constant_input(NodeId id, size_t input) const {
  const Node& reader = node(id);
  if (input >= reader.inputs.size() || !is_constant(reader.inputs[input])) return nullptr;
  return &value(reader.inputs[input]).constant;
}

std::vector<NodeId> Graph::topological_order() const {
  std::vector<int> waiting(nodes_.size(), 0);
  std::priority_queue<int32_t, std::vector<int32_t>, std::greater<>> ready;
  for (size_t i = 0; i < nodes_.size(); ++i) {
    if (nodes_[i].removed) continue;
    for (ValueId input : nodes_[i].inputs) waiting[i] += producer(input).valid() ? 1 : 0;
    if (waiting[i] == 0) ready.push(static_cast<int32_t>(i));
  }
  std::vector<NodeId> order;
  while (!ready.empty()) {
    const NodeId id{ready.top()};
    ready.pop();
    order.push_back(id);
    for (ValueId output : node(id).outputs) {
      if (!output.valid()) continue;
      for (const Use& use : value(output).uses)
        if (--waiting[use.node.index] == 0) ready.push(use.node.index);
    }
  }
  if (order.size() != live_node_count())
    throw Error({.code = "cyclic_graph", .message = "the graph has a cycle", .accepted = "an acyclic graph"});
  return order;
}

size_t Graph::live_node_count() const {
  return std::count_if(nodes_.begin(), nodes_.end(), [](const Node& n) { return !n.removed; });
}

std::string Graph::unique_name(const std::string& stem) const {
  std::unordered_set<std::string> taken;
  for (const Value& v : values_)
    if (v.name.starts_with(stem)) taken.insert(v.name);
  std::string candidate = stem;
  for (int number = 1; taken.contains(candidate); ++number) candidate = fmt::format("{}_{}", stem, number);
  return candidate;
}

Diagnostic diagnostic_at(const Node& node, std::string code, std::string message) {
  return {.code = std::move(code),
          .message = std::move(message),
          .node = node.name,
          .op = name(node.op),
          .opset = node.opset};
}

}  // namespace onepass::ir
