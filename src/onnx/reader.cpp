// SPDX-License-Identifier: Apache-2.0
#include "onnx/reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <new>
#include <unordered_map>

#include "onnx/bind_inputs.h"
#include "onnx/check_model.h"
#include "onnx/importer.h"
#include "onnx/parse_file.h"
#include "onnx/schema.h"
#include "onnx/sort_nodes.h"
#include "onnx/tensor_reader.h"
#include "onnx/upgrade.h"

namespace onepass::onnx {

namespace {

using Names = std::unordered_set<std::string>;

constexpr size_t k_max_refusals = 200;

Error duplicate(const char* kind, const std::string& name) {
  return Error({.code = "duplicate_value", .message = fmt::format("{} '{}' is given twice", kind, name)});
}

void note_names(const pb::GraphProto& graph, Importer& importer) {
  for (const auto& initializer : graph.initializer()) importer.reserve_name(initializer.name());
  for (const auto& input : graph.input()) importer.reserve_name(input.name());
  for (const auto& node : graph.node()) {
    for (const std::string& output : node.output()) importer.reserve_name(output);
    for (const std::string& input : node.input()) importer.mark_read(input);
  }
  for (const auto& output : graph.output()) importer.mark_read(output.name());
}

Names input_names(const pb::GraphProto& graph) {
  Names names;
  for (const auto& input : graph.input())
    if (input.name().empty() || !names.insert(input.name()).second)
      throw duplicate("graph input", input.name());
  return names;
}

/// Adds the constants. What is a graph input too, and may be overridden, is returned instead.
std::unordered_map<std::string, ir::TensorType> add_initializers(const pb::GraphProto& graph,
                                                                 const Names& inputs, TensorReader& tensors,
                                                                 Importer& importer) {
  std::unordered_map<std::string, ir::TensorType> overridable;
  for (const pb::TensorProto& initializer : graph.initializer()) {
    const std::string& name = initializer.name();
    if (name.empty() || importer.find(name).valid() || overridable.contains(name))
      throw duplicate("initializer", name);
    ir::Tensor tensor = tensors.read(initializer, fmt::format("initializer '{}'", name));
    if (importer.options().overridable && inputs.contains(name))
      overridable[name] = tensor.type();
    else
      importer.define(name, importer.graph.add_constant(name, std::move(tensor)));
  }
  return overridable;
}

void note_overridable(const Names& inputs, Importer& importer) {
  const auto count = std::count_if(inputs.begin(), inputs.end(),
                                   [&](const auto& name) { return importer.find(name).valid(); });
  if (count == 0) return;
  importer.warnings.push_back(
      {.severity = Severity::note,
       .code = "overridable_initializers",
       .message = fmt::format("{} initializers are graph inputs too and are read as constants", count),
       .hint = "--overridable keeps them as inputs"});
}

void note_half(bool widened, Importer& importer) {
  if (!widened) return;
  importer.warnings.push_back({.severity = Severity::note,
                               .code = "half_precision_widened",
                               .message = "half-precision inputs and weights are read as float"});
}

/// Adds the graph inputs in the file's order. True when one was half precision.
bool add_inputs(const pb::GraphProto& graph,
                const std::unordered_map<std::string, ir::TensorType>& overridable, Importer& importer) {
  std::vector<const pb::ValueInfoProto*> fed;
  for (const pb::ValueInfoProto& input : graph.input())
    if (!importer.find(input.name()).valid() && !overridable.contains(input.name())) fed.push_back(&input);
  bool widened = false;
  std::unordered_map<std::string, ir::TensorType> types = overridable;
  for (BoundInput& input : bind_inputs(fed, importer.options())) {
    widened = widened || input.widened_half;
    types[input.name] = std::move(input.type);
  }
  for (const pb::ValueInfoProto& input : graph.input())
    if (const auto type = types.find(input.name()); type != types.end())
      importer.define(input.name(), importer.graph.add_input(input.name(), type->second));
  return widened;
}

std::string node_name(const pb::NodeProto& node) {
  if (!node.name().empty()) return node.name();
  for (const std::string& output : node.output())
    if (!output.empty()) return fmt::format("{}_{}", node.op_type(), output);
  return node.op_type();
}

void import_node(const pb::NodeProto& proto, int opset, TensorReader& tensors, Importer& importer) {
  SourceNode node{.op = proto.op_type(),
                  .name = node_name(proto),
                  .opset = opset,
                  .inputs = {},
                  .outputs = {proto.output().begin(), proto.output().end()},
                  .attributes = read_attributes(proto, opset, tensors)};
  for (const std::string& input : proto.input())
    node.inputs.push_back(input.empty() ? ir::ValueId{} : importer.find(input));
  if (const Upgrade upgrade = find_upgrade(node.op)) return upgrade(importer, node);
  importer.emit(node);
}

void import_nodes(const pb::GraphProto& graph, int opset, TensorReader& tensors, Importer& importer) {
  Names sources = input_names(graph);
  for (const auto& initializer : graph.initializer()) sources.insert(initializer.name());
  std::vector<Diagnostic> refusals;
  for (int index : sort_nodes(graph, sources)) {
    const pb::NodeProto& node = graph.node(index);
    try {
      import_node(node, opset, tensors, importer);
    } catch (const Error& error) {
      refusals.insert(refusals.end(), error.diagnostics().begin(), error.diagnostics().end());
      if (refusals.size() >= k_max_refusals) break;
      importer.define_unknown({node.output().begin(), node.output().end()});
    }
  }
  if (!refusals.empty()) throw Error(std::move(refusals));
}

void add_outputs(const pb::GraphProto& graph, Importer& importer) {
  if (graph.output_size() == 0) throw Error({.code = "no_output", .message = "the model has no output"});
  Names seen;
  for (const pb::ValueInfoProto& output : graph.output()) {
    const ir::ValueId value = importer.find(output.name());
    if (!value.valid())
      throw Error({.code = "undefined_value",
                   .message = fmt::format("graph output '{}' is computed by no node", output.name())});
    if (!seen.insert(output.name()).second) throw duplicate("graph output", output.name());
    importer.graph.add_output(output.name(), value);
  }
}

Model import_model(const pb::ModelProto& proto, const std::string& folder, const ReadOptions& options) {
  const int opset = check_model(proto);
  const pb::GraphProto& graph = proto.graph();
  Importer importer(options);
  TensorReader tensors(folder);
  importer.graph.name = graph.name();
  note_names(graph, importer);
  const Names inputs = input_names(graph);
  const auto overridable = add_initializers(graph, inputs, tensors, importer);
  note_overridable(inputs, importer);
  const bool widened_input = add_inputs(graph, overridable, importer);
  import_nodes(graph, opset, tensors, importer);
  add_outputs(graph, importer);
  note_half(widened_input || tensors.widened_half(), importer);
  return {.graph = std::move(importer.graph), .opset = opset, .warnings = std::move(importer.warnings)};
}

/// Memory that runs out over a model is the model's fault, not ours.
template <class Read>
Model guard_memory(Read&& read) {
  try {
    return read();
  } catch (const std::bad_alloc&) {
    throw Error({.code = "out_of_memory", .message = "the model does not fit into memory"});
  }
}

}  // namespace

Model read_model(const std::string& path, const ReadOptions& options) {
  return guard_memory([&] {
    const pb::ModelProto proto = parse_model(read_file(path));
    const std::filesystem::path parent = std::filesystem::path(path).parent_path();
    return import_model(proto, parent.empty() ? "." : parent.string(), options);
  });
}

Model read_model(std::span<const std::byte> bytes, const std::string& folder, const ReadOptions& options) {
  return guard_memory([&] { return import_model(parse_model(bytes), folder, options); });
}

}  // namespace onepass::onnx
