// SPDX-License-Identifier: Apache-2.0
#include "ir/verifier.h"

#include <fmt/format.h>

#include <set>

namespace onepass::ir {

namespace {

[[noreturn]] void fail(const std::string& what) {
  throw InternalError("verifier: " + what);
}

std::string label(const Graph& graph, ValueId id) {
  return fmt::format("value {} '{}'", id.index, graph.value(id).name);
}
std::string label(const Node& node) {
  return fmt::format("node '{}' ({})", node.name, name(node.op));
}

bool in_range(const Graph& graph, ValueId id) {
  return id.valid() && static_cast<size_t>(id.index) < graph.value_capacity();
}

const Node* live_node(const Graph& graph, NodeId id) {
  const bool known = id.valid() && static_cast<size_t>(id.index) < graph.node_capacity();
  return known && !graph.node(id).removed ? &graph.node(id) : nullptr;
}

bool has_source(const Value& value) {
  return value.producer.valid() || value.is_input || !value.constant.empty();
}

void check_count(const Node& node, const std::vector<ValueId>& ids, int min, int max, const char* what) {
  const auto count = static_cast<int>(ids.size());
  if (count < min || (max >= 0 && count > max)) fail(fmt::format("{} has {} {}", label(node), count, what));
}

void check_inputs(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  check_count(node, node.inputs, info(node.op).min_inputs, info(node.op).max_inputs, "inputs");
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const ValueId input = node.inputs[i];
    if (!input.valid()) {
      if (static_cast<int>(i) < info(node.op).min_inputs)
        fail(fmt::format("{} lacks input {}", label(node), i));
      continue;
    }
    if (!in_range(graph, input)) fail(fmt::format("{} reads a value that does not exist", label(node)));
    const std::vector<Use>& uses = graph.value(input).uses;
    if (std::count(uses.begin(), uses.end(), Use{id, static_cast<int>(i)}) != 1)
      fail(fmt::format("{} is not once in the use list of {}", label(node), label(graph, input)));
    if (!has_source(graph.value(input)))
      fail(fmt::format("{} reads {}, which nobody computes", label(node), label(graph, input)));
  }
}

void check_outputs(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  check_count(node, node.outputs, info(node.op).min_outputs, info(node.op).max_outputs, "outputs");
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    const ValueId output = node.outputs[i];
    if (!output.valid()) continue;
    if (!in_range(graph, output)) fail(fmt::format("{} computes a value that does not exist", label(node)));
    const Value& value = graph.value(output);
    if (value.producer != id || value.output != static_cast<int>(i))
      fail(fmt::format("{} is not the producer of its own {}", label(node), label(graph, output)));
  }
}

void check_type(const Graph& graph, ValueId id, bool typed) {
  const Value& value = graph.value(id);
  const TensorType& type = value.type;
  if (type.dtype == DType::undefined) {
    if (value.is_input || (typed && value.producer.valid())) fail(label(graph, id) + " has no type");
    return;
  }
  if (type.counted_axis >= static_cast<int>(type.dims.size()))
    fail(label(graph, id) + " counts an axis that it does not have");
  for (const int64_t extent : type.dims)
    if (extent < 0) fail(fmt::format("{} has type {}", label(graph, id), to_string(type)));
  if (!value.constant.empty() && value.constant.type() != type)
    fail(fmt::format("{} of type {} holds {}", label(graph, id), to_string(type),
                     to_string(value.constant.type())));
}

void check_value(const Graph& graph, ValueId id, bool typed) {
  const Value& value = graph.value(id);
  if (value.is_input + value.producer.valid() + !value.constant.empty() > 1)
    fail(label(graph, id) + " has more than one source");
  if (value.producer.valid()) {
    const Node* producer = live_node(graph, value.producer);
    const bool agrees = producer != nullptr && static_cast<size_t>(value.output) < producer->outputs.size() &&
                        producer->outputs[value.output] == id;
    if (!agrees) fail(label(graph, id) + " names a producer that does not compute it");
  }
  for (const Use& use : value.uses) {
    const Node* reader = live_node(graph, use.node);
    const bool agrees = reader != nullptr && use.input >= 0 &&
                        static_cast<size_t>(use.input) < reader->inputs.size() &&
                        reader->inputs[use.input] == id;
    if (!agrees) fail(label(graph, id) + " lists a reader that does not read it");
  }
  check_type(graph, id, typed);
}

bool is_typed(const Graph& graph) {
  for (int32_t i = 0; i < static_cast<int32_t>(graph.value_capacity()); ++i) {
    const Value& value = graph.value({i});
    if (value.producer.valid() && value.type.dtype != DType::undefined) return true;
  }
  return false;
}

void check_interface(const Graph& graph) {
  std::set<ValueId> inputs;
  for (const ValueId id : graph.inputs()) {
    if (!in_range(graph, id) || !graph.value(id).is_input) fail("a graph input is no input value");
    if (!inputs.insert(id).second) fail(label(graph, id) + " is a graph input twice");
  }
  for (const GraphOutput& output : graph.outputs()) {
    if (!in_range(graph, output.value))
      fail(fmt::format("output '{}' is a value that does not exist", output.name));
    if (!has_source(graph.value(output.value)))
      fail(fmt::format("output '{}' is {}, which nobody computes", output.name, label(graph, output.value)));
  }
}

void check_order(const Graph& graph) {
  try {
    graph.topological_order();
  } catch (const Error& error) {
    fail(error.what());
  }
}

}  // namespace

void verify(const Graph& graph) {
  check_interface(graph);
  for (int32_t i = 0; i < static_cast<int32_t>(graph.node_capacity()); ++i) {
    if (graph.node({i}).removed) continue;
    check_inputs(graph, {i});
    check_outputs(graph, {i});
  }
  const bool typed = is_typed(graph);
  for (int32_t i = 0; i < static_cast<int32_t>(graph.value_capacity()); ++i) check_value(graph, {i}, typed);
  check_order(graph);
}

}  // namespace onepass::ir
