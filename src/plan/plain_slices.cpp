// SPDX-License-Identifier: Apache-2.0
#include "plan/plain_slices.h"

#include <fmt/format.h>

#include <algorithm>

#include "plan/grouping.h"
#include "plan/slices.h"

namespace onepass::plan {

namespace {

using ir::Graph;
using ir::NodeId;
using ir::Op;
using ir::ValueId;
using patterns::Failure;

bool has_bytes(const Graph& graph, ValueId value) {
  if (!value.valid()) return false;
  const ir::TensorType& type = graph.value(value).type;
  return type.counted_axis < 0 && ir::element_count(type.dims) > 0;
}

/// The only axis along which two shapes differ; the last one before extents where they are equal.
std::optional<size_t> axis_of_slice(const ir::Shape& whole, const ir::Shape& part) {
  std::optional<size_t> axis;
  for (size_t i = 0; i < whole.size(); ++i) {
    if (whole[i] == part[i]) continue;
    if (axis) return std::nullopt;
    axis = i;
  }
  return axis;
}

size_t axis_of(const Graph& graph, NodeId id) {
  const ir::Node& node = graph.node(id);
  const auto rank = static_cast<int64_t>(graph.value(node.outputs.at(0)).type.dims.size());
  return static_cast<size_t>((node.attributes.get_int("axis", 0) + rank) % rank);
}

/// Bytes between neighbours along `axis`.
int64_t step_bytes(const ir::TensorType& type, size_t axis) {
  int64_t bytes = ir::size_bytes(type.dtype);
  for (size_t i = axis + 1; i < type.dims.size(); ++i) bytes *= type.dims[i];
  return bytes;
}

/// The only reader of a value, through views; invalid when there are several or a graph output is among them.
NodeId only_reader(const Graph& graph, ValueId value) {
  NodeId reader = graph.only_consumer(value);
  while (reader.valid() && is_view(graph, reader))
    reader = graph.only_consumer(graph.node(reader).outputs[0]);
  return reader;
}

/// The Split of which an operand of `concat` is the part with the same number, along the same axis.
NodeId split_behind(const Graph& graph, NodeId concat) {
  const auto& operands = graph.node(concat).inputs;
  for (size_t i = 0; i < operands.size(); ++i) {
    const NodeId split = graph.producer(operands[i]);
    if (!split.valid() || graph.node(split).op != Op::Split) continue;
    const auto& parts = graph.node(split).outputs;
    if (i < parts.size() && parts[i] == operands[i] && axis_of(graph, split) == axis_of(graph, concat))
      return split;
  }
  return {};
}

std::optional<Failure> other_extents(const Graph& graph, NodeId split, NodeId concat) {
  const ir::Node &cut = graph.node(split), &join = graph.node(concat);
  const auto type = [&](ValueId value) { return graph.value(value).type; };
  bool same = cut.outputs.size() == join.inputs.size();
  for (size_t i = 0; same && i < cut.outputs.size(); ++i)
    same = has_bytes(graph, cut.outputs[i]) && type(cut.outputs[i]) == type(join.inputs[i]);
  if (same) return std::nullopt;
  return Failure{"C1", fmt::format("'{}' puts other extents together than '{}' gives", join.name, cut.name)};
}

std::optional<Failure> read_elsewhere(const Graph& graph, const ReplacedParts& parts) {
  const auto failure = [&](ValueId value) {
    return Failure{"C2", fmt::format("'{}' is read elsewhere too", graph.value(value).name)};
  };
  ValueId source = parts.source;
  for (NodeId view = graph.producer(source); view.valid() && is_view(graph, view);
       view = graph.producer(source))
    source = graph.node(view).inputs[0];
  if (only_reader(graph, source) != parts.split) return failure(source);
  for (size_t i = 0; i < parts.kept.size(); ++i) {
    const ValueId part = graph.node(parts.split).outputs[i];
    if (parts.kept[i] && graph.only_consumer(part) != parts.concat) return failure(part);
  }
  return std::nullopt;
}

std::optional<Failure> not_computed_whole(const Graph& graph, ValueId source) {
  NodeId producer = graph.producer(source);
  while (producer.valid() && is_view(graph, producer))
    producer = graph.producer(graph.node(producer).inputs[0]);
  const bool kernel = producer.valid() && graph.node(producer).op != Op::Concat &&
                      graph.node(producer).op != Op::Split && graph.node(producer).op != Op::Slice;
  if (kernel) return std::nullopt;
  return Failure{"C3", fmt::format("'{}' is not written as one", graph.value(source).name)};
}

std::optional<Failure> mostly_replaced(const Graph& graph, const ReplacedParts& parts) {
  int64_t kept_bytes = 0;
  for (size_t i = 0; i < parts.kept.size(); ++i)
    if (parts.kept[i]) kept_bytes += plain_bytes(graph, graph.node(parts.split).outputs[i]);
  if (2 * kept_bytes >= plain_bytes(graph, parts.source)) return std::nullopt;
  return Failure{"C4", fmt::format("of {} bytes {} are replaced", plain_bytes(graph, parts.source),
                                   plain_bytes(graph, parts.source) - kept_bytes)};
}

}  // namespace

int64_t plain_bytes(const Graph& graph, ValueId value) {
  const ir::TensorType& type = graph.value(value).type;
  return ir::element_count(type.dims) * ir::size_bytes(type.dtype);
}

std::optional<PlainParts> plain_parts(const Graph& graph, NodeId id) {
  const ir::Node& node = graph.node(id);
  if (node.op != Op::Concat && node.op != Op::Split && node.op != Op::Slice) return std::nullopt;
  PlainParts result{.node = id, .cuts = node.op != Op::Concat};
  result.whole = result.cuts ? node.inputs.at(0) : node.outputs.at(0);
  const ir::TensorType& type = graph.value(result.whole).type;
  std::optional<size_t> axis = axis_of(graph, id);
  int64_t first = 0;
  if (node.op == Op::Slice) {
    axis = axis_of_slice(type.dims, graph.value(node.outputs.at(0)).type.dims);
    const auto start = axis ? slice_start(graph, id, *axis) : std::nullopt;
    if (!start) return std::nullopt;
    first = *start * step_bytes(type, *axis);
  }
  const auto& parts = result.cuts ? node.outputs : node.inputs;
  if (!has_bytes(graph, result.whole)) return std::nullopt;
  for (size_t i = 0; i < *axis; ++i) result.rows *= type.dims[i];
  for (const ValueId part : parts) {
    if (!has_bytes(graph, part)) return std::nullopt;
    result.parts.push_back({part, first, plain_bytes(graph, part)});
    first += result.parts.back().size_bytes;
  }
  return result;
}

std::optional<std::variant<ReplacedParts, Failure>> replaced_parts(const Graph& graph, NodeId concat) {
  if (graph.node(concat).op != Op::Concat) return std::nullopt;
  const NodeId split = split_behind(graph, concat);
  if (!split.valid()) return std::nullopt;
  if (auto failure = other_extents(graph, split, concat)) return *failure;
  ReplacedParts parts{.split = split, .concat = concat, .source = graph.node(split).inputs[0], .kept = {}};
  const auto& operands = graph.node(concat).inputs;
  for (size_t i = 0; i < operands.size(); ++i)
    parts.kept.push_back(graph.node(split).outputs[i] == operands[i]);
  if (auto failure = read_elsewhere(graph, parts)) return *failure;
  if (auto failure = not_computed_whole(graph, parts.source)) return *failure;
  if (auto failure = mostly_replaced(graph, parts)) return *failure;
  return parts;
}

}  // namespace onepass::plan
