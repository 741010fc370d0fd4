// SPDX-License-Identifier: Apache-2.0
#include "ir/printer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <unordered_set>

#include "ir/lexer.h"
#include "ir/tensor_text.h"

namespace onepass::ir {

namespace {

struct Printer {
  const Graph& graph;
  const PrintOptions& options;
  std::vector<std::string> names;  ///< one per value, unique, as written
  std::string text;
};

std::string written_name(const std::string& name) {
  const bool plain = is_identifier(name) && name != "_" && name != "output";
  return plain ? name : quoted(name);
}

std::vector<std::string> unique_names(const Graph& graph) {
  std::vector<std::string> names;
  std::unordered_set<std::string> taken;
  for (size_t i = 0; i < graph.value_capacity(); ++i) {
    const std::string& own = graph.value({static_cast<int32_t>(i)}).name;
    std::string name = own;
    for (int number = 1; !taken.insert(name).second; ++number) name = fmt::format("{}_{}", own, number);
    names.push_back(written_name(name));
  }
  return names;
}

struct AttributeText {
  std::string operator()(int64_t value) const { return fmt::format("{}", value); }
  std::string operator()(double value) const { return float_text(value); }
  std::string operator()(const std::string& value) const { return quoted(value); }
  std::string operator()(const std::vector<int64_t>& values) const {
    return fmt::format("[{}]", fmt::join(values, ", "));
  }
  std::string operator()(const std::vector<double>& values) const {
    std::vector<std::string> texts;
    for (const double value : values) texts.push_back(float_text(value));
    return fmt::format("{}[{}]", values.empty() ? "floats " : "", fmt::join(texts, ", "));
  }
  std::string operator()(const Tensor& tensor) const { return tensor_text(tensor); }
};

std::string attributes_text(const Attributes& attributes) {
  std::string text;
  for (const auto& [name, value] : attributes.items())
    text += fmt::format("{}{}={}", text.empty() ? "" : ", ", name, std::visit(AttributeText{}, value));
  return text.empty() ? "" : fmt::format(" {{{}}}", text);
}

std::string operand(const Printer& printer, ValueId id) {
  return id.valid() ? printer.names[id.index] : "_";
}

std::string result(const Printer& printer, ValueId id) {
  if (!id.valid()) return "_";
  const TensorType& type = printer.graph.value(id).type;
  const bool typed = printer.options.types && type.dtype != DType::undefined;
  return printer.names[id.index] + (typed ? ": " + to_string(type) : "");
}

std::string default_name(const Printer& printer, const Node& node) {
  const ValueId first = node.outputs.empty() ? ValueId{} : node.outputs.front();
  return fmt::format("{}_{}", name(node.op), first.valid() ? printer.graph.value(first).name : "");
}

std::string annotations(const Printer& printer, const Node& node) {
  std::string text;
  if (node.name != default_name(printer, node)) text += " @" + quoted(node.name);
  if (!printer.options.provenance) return text;
  if (node.opset != 0) text += fmt::format(" @opset({})", node.opset);
  if (node.origins == std::vector<std::string>{node.name}) return text;
  std::vector<std::string> origins;
  for (const std::string& origin : node.origins) origins.push_back(quoted(origin));
  return text + fmt::format(" @from({})", fmt::join(origins, ", "));
}

void print_node(Printer& printer, const Node& node) {
  std::vector<std::string> results;
  std::vector<std::string> operands;
  for (const ValueId id : node.outputs) results.push_back(result(printer, id));
  for (const ValueId id : node.inputs) operands.push_back(operand(printer, id));
  printer.text +=
      fmt::format("  {} = {}({}){}{}\n", fmt::join(results, ", "), name(node.op), fmt::join(operands, ", "),
                  attributes_text(node.attributes), annotations(printer, node));
}

void print_constants(Printer& printer) {
  for (int32_t i = 0; i < static_cast<int32_t>(printer.graph.value_capacity()); ++i) {
    const Value& value = printer.graph.value({i});
    if (value.constant.empty() || value.producer.valid() || printer.graph.use_count({i}) == 0) continue;
    printer.text += fmt::format("  {} = constant {}\n", printer.names[i], tensor_text(value.constant));
  }
}

void print_output(Printer& printer, const GraphOutput& output) {
  const std::string& value = printer.names[output.value.index];
  const std::string name = written_name(output.name);
  printer.text += name == value ? fmt::format("  output {}\n", value)
                                : fmt::format("  output {} = {}\n", quoted(output.name), value);
}

}  // namespace

std::string print(const Graph& graph, const PrintOptions& options) {
  Printer printer{.graph = graph, .options = options, .names = unique_names(graph), .text = ""};
  const std::string title = is_identifier(graph.name) ? graph.name : quoted(graph.name);
  printer.text = graph.name.empty() ? "graph {\n" : fmt::format("graph {} {{\n", title);
  for (const ValueId id : graph.inputs())
    printer.text +=
        fmt::format("  {} = input {}\n", printer.names[id.index], to_string(graph.value(id).type));
  print_constants(printer);
  for (const NodeId id : graph.topological_order()) print_node(printer, graph.node(id));
  for (const GraphOutput& output : graph.outputs()) print_output(printer, output);
  return printer.text + "}\n";
}

}  // namespace onepass::ir
