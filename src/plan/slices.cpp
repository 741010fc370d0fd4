// SPDX-License-Identifier: Apache-2.0
#include "plan/slices.h"

#include <algorithm>

namespace onepass::plan {

namespace {

using ir::Graph;
using ir::Op;
using ir::ValueId;

constexpr size_t k_rank = 4, k_channel_axis = 1;

bool is_map(const Graph& graph, ValueId value) {
  const ir::TensorType& type = graph.value(value).type;
  return type.dtype == ir::DType::f32 && type.counted_axis < 0 && type.dims.size() == k_rank &&
         ir::element_count(type.dims) > 0;
}

int64_t channels(const Graph& graph, ValueId value) {
  return graph.value(value).type.dims[k_channel_axis];
}

/// Equal but for the channels.
bool same_planes(const Graph& graph, ValueId a, ValueId b) {
  ir::Shape dims = graph.value(a).type.dims;
  dims[k_channel_axis] = channels(graph, b);
  return dims == graph.value(b).type.dims;
}

bool along_channels(const ir::Node& node) {
  const int64_t axis = node.attributes.get_int("axis", 0);
  return axis == 1 || axis == -3;
}

void append_in_turn(const Graph& graph, const std::vector<ValueId>& values, ChannelParts& result) {
  int64_t first = 0;
  for (const ValueId value : values) {
    if (!value.valid()) return result.parts.clear();
    result.parts.push_back({value, first});
    first += channels(graph, value);
  }
}

}  // namespace

std::optional<ChannelParts> channel_parts(const Graph& graph, ir::NodeId id) {
  const ir::Node& node = graph.node(id);
  if (node.op != Op::Concat && node.op != Op::Split && node.op != Op::Slice) return std::nullopt;
  ChannelParts result{.node = id, .cuts = node.op != Op::Concat};
  result.whole = result.cuts ? node.inputs.at(0) : node.outputs.at(0);
  if (!is_map(graph, result.whole)) return std::nullopt;
  if (node.op == Op::Slice) {
    const auto first = slice_start(graph, id, k_channel_axis);
    if (first) result.parts.push_back({node.outputs.at(0), *first});
  } else if (along_channels(node)) {
    append_in_turn(graph, result.cuts ? node.outputs : node.inputs, result);
  }
  const bool maps = std::all_of(result.parts.begin(), result.parts.end(), [&](const ChannelPart& part) {
    return is_map(graph, part.value) && same_planes(graph, part.value, result.whole);
  });
  return maps && !result.parts.empty() ? std::optional(std::move(result)) : std::nullopt;
}

std::optional<int64_t> slice_start(const Graph& graph, ir::NodeId id, size_t cut_axis) {
  const ir::Node& node = graph.node(id);
  const ir::Tensor* starts = graph.constant_input(id, 1);
  const auto given = [&](size_t input) { return node.inputs.size() > input && node.inputs[input].valid(); };
  const ir::Tensor* axes = given(3) ? graph.constant_input(id, 3) : nullptr;
  const ir::Tensor* steps = given(4) ? graph.constant_input(id, 4) : nullptr;
  if (starts == nullptr || (given(3) && axes == nullptr) || (given(4) && steps == nullptr))
    return std::nullopt;
  const ir::Shape& dims = graph.value(node.inputs[0]).type.dims;
  const int64_t extent = dims.at(cut_axis);
  int64_t first = 0;
  for (int64_t i = 0; i < starts->size(); ++i) {
    const auto rank = static_cast<int64_t>(dims.size());
    const int64_t axis = axes == nullptr ? i : (static_cast<int64_t>(axes->to_doubles()[i]) + rank) % rank;
    if (steps != nullptr && steps->to_doubles()[i] != 1) return std::nullopt;
    if (axis != static_cast<int64_t>(cut_axis)) continue;
    const double start = starts->to_doubles()[i];
    const double from_front = start < 0 ? start + static_cast<double>(extent) : start;
    first = static_cast<int64_t>(std::clamp(from_front, 0.0, static_cast<double>(extent)));
  }
  return first;
}

int64_t channel_blocks(const Graph& graph, ValueId map, int64_t lanes) {
  return (channels(graph, map) + lanes - 1) / lanes;
}

const ChannelPart* part_across_blocks(const Graph& graph, const ChannelParts& parts, int64_t lanes) {
  for (const ChannelPart& part : parts.parts) {
    const int64_t end = part.first + channels(graph, part.value);
    if (part.first % lanes != 0 || (end % lanes != 0 && end != channels(graph, parts.whole))) return &part;
  }
  return nullptr;
}

bool cuts_between_blocks(const Graph& graph, ir::NodeId node, const targets::Target& target) {
  const auto parts = channel_parts(graph, node);
  return parts && parts->cuts && part_across_blocks(graph, *parts, target.vector_lanes) == nullptr;
}

}  // namespace onepass::plan
