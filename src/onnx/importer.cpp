// SPDX-License-Identifier: Apache-2.0
#include "onnx/importer.h"

#include <fmt/format.h>

#include <algorithm>

namespace onepass::onnx {

namespace {

using ir::Op;
using ir::OpInfo;
using ir::ValueId;

constexpr Op k_keep_rank[] = {
    Op::Conv,          Op::ConvTranspose, Op::MaxPool,      Op::AveragePool,  Op::GlobalAveragePool,
    Op::GlobalMaxPool, Op::LRN,           Op::Softmax,      Op::LogSoftmax,   Op::Concat,
    Op::Split,         Op::Slice,         Op::Pad,          Op::Transpose,    Op::Identity,
    Op::Dropout,       Op::Cast,          Op::DepthToSpace, Op::SpaceToDepth, Op::Resize,
    Op::TopK};

std::string count_words(int min, int max) {
  if (max < 0) return fmt::format("at least {}", min);
  return min == max ? fmt::format("{}", min) : fmt::format("{} to {}", min, max);
}

void check_inputs(const SourceNode& node, const OpInfo& info) {
  const int count = static_cast<int>(node.inputs.size());
  if (count < info.min_inputs || (info.max_inputs >= 0 && count > info.max_inputs))
    throw refuse(node, {.code = "input_count",
                        .message = fmt::format("the node has {} inputs", count),
                        .accepted = count_words(info.min_inputs, info.max_inputs)});
  for (int i = 0; i < count; ++i)
    if (!node.inputs[i].valid() && (i < info.min_inputs || info.max_inputs < 0))
      throw refuse(node,
                   {.code = "missing_input", .message = fmt::format("input {} is required but empty", i)});
}

void check_outputs(const SourceNode& node, const OpInfo& info) {
  const int count = static_cast<int>(node.outputs.size());
  const bool any =
      std::any_of(node.outputs.begin(), node.outputs.end(), [](const auto& name) { return !name.empty(); });
  if (!any || count < info.min_outputs || (info.max_outputs >= 0 && count > info.max_outputs))
    throw refuse(
        node, {.code = "output_count",
               .message = fmt::format("the node has {} outputs{}", count, any ? "" : ", none of them named"),
               .accepted = count_words(info.min_outputs, info.max_outputs)});
}

void drop_absent_tail(std::vector<ValueId>& inputs) {
  while (!inputs.empty() && !inputs.back().valid()) inputs.pop_back();
}

}  // namespace

Error refuse(const SourceNode& node, Diagnostic diagnostic) {
  diagnostic.node = node.name;
  diagnostic.op = node.op;
  diagnostic.opset = node.opset;
  return Error(std::move(diagnostic));
}

void expect_inputs(const SourceNode& node, size_t max) {
  if (node.inputs.size() <= max) return;
  throw refuse(node, {.code = "input_count",
                      .message = fmt::format("the node has {} inputs", node.inputs.size()),
                      .accepted = fmt::format("at most {} at opset {}", max, node.opset)});
}

std::string Importer::fresh_name(const std::string& stem) {
  std::string candidate = stem;
  for (int number = 1; names_.contains(candidate); ++number) candidate = fmt::format("{}_{}", stem, number);
  names_.insert(candidate);
  return candidate;
}

ValueId Importer::find(const std::string& name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? ValueId{} : found->second;
}

ValueId Importer::add_constant(const SourceNode& node, const std::string& role, ir::Tensor tensor) {
  return graph.add_constant(fresh_name(fmt::format("{}_{}", node.name, role)), std::move(tensor));
}

ValueId Importer::add_ints(const SourceNode& node, const std::string& role,
                           const std::vector<int64_t>& ints) {
  return add_constant(node, role, ir::Tensor::of_ints(ints));
}

void Importer::move_ints_to_input(SourceNode& node, const std::string& attribute, size_t index) {
  if (!node.attributes.has(attribute)) return;
  if (node.inputs.size() <= index) node.inputs.resize(index + 1);
  node.inputs[index] = add_ints(node, attribute, node.attributes.get_ints(attribute));
  node.attributes.erase(attribute);
}

void Importer::emit(const SourceNode& source) {
  const std::optional<Op> op = ir::op_from_name(source.op);
  require(op.has_value(), "an upgraded operator is one of ours");
  const OpInfo& info = ir::info(*op);
  SourceNode node = source;
  if (info.max_inputs >= 0) drop_absent_tail(node.inputs);
  check_inputs(node, info);
  check_outputs(node, info);
  std::vector<ValueId> outputs;
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    const bool optional = static_cast<int>(i) >= info.min_outputs && info.max_outputs >= 0;
    const std::string& name = node.outputs[i];
    if (optional && !is_read(name)) {
      outputs.push_back({});
      continue;
    }
    outputs.push_back(
        graph.add_value(name.empty() ? fresh_name(fmt::format("{}_out{}", node.name, i)) : name));
    if (!name.empty()) define(name, outputs.back());
  }
  drop_absent_tail(outputs);
  add_node(node, *op, std::move(outputs));
}

ValueId Importer::emit_step(const SourceNode& node, Op op, std::vector<ValueId> inputs,
                            ir::Attributes attributes) {
  const ValueId output = graph.add_value(fresh_name(fmt::format("{}_{}", node.name, ir::name(op))));
  SourceNode step = node;
  step.name = graph.value(output).name;
  step.inputs = std::move(inputs);
  step.attributes = std::move(attributes);
  add_node(step, op, {output});
  graph.node(graph.producer(output)).origins = {node.name};
  return output;
}

void Importer::define_unknown(const std::vector<std::string>& outputs) {
  for (const std::string& name : outputs)
    if (!name.empty() && !find(name).valid()) define(name, graph.add_value(name));
}

void Importer::add_node(const SourceNode& node, Op op, std::vector<ValueId> outputs) {
  ir::Node made{.op = op,
                .name = node.name,
                .inputs = node.inputs,
                .outputs = std::move(outputs),
                .attributes = node.attributes,
                .opset = node.opset,
                .origins = {node.name}};
  note_rank(made);
  graph.add_node(std::move(made));
}

int Importer::rank(ValueId value) const {
  if (!value.valid()) return -1;
  const ir::Value& known = graph.value(value);
  if (known.is_input || !known.constant.empty()) return static_cast<int>(known.type.dims.size());
  const auto found = ranks_.find(value.index);
  return found == ranks_.end() ? -1 : found->second;
}

void Importer::note_rank(const ir::Node& node) {
  int known = -1;
  const ir::OpKind kind = ir::info(node.op).kind;
  if (kind == ir::OpKind::pointwise ||
      std::find(std::begin(k_keep_rank), std::end(k_keep_rank), node.op) != std::end(k_keep_rank)) {
    known = rank(node.inputs[0]);
  } else if (kind == ir::OpKind::broadcast) {
    for (ValueId input : node.inputs) {
      if (rank(input) < 0) return;
      known = std::max(known, rank(input));
    }
  } else if (node.op == Op::Gemm || node.op == Op::Flatten) {
    known = 2;
  } else if (node.op == Op::Reshape && graph.is_constant(node.inputs[1])) {
    known = static_cast<int>(graph.value(node.inputs[1]).constant.size());
  }
  if (known < 0) return;
  for (ValueId output : node.outputs)
    if (output.valid()) ranks_[output.index] = known;
}

}  // namespace onepass::onnx
