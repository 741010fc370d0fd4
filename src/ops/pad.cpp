// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "ops/data_movement.h"
#include "ops/meanings.h"
#include "ops/operands.h"
#include "ops/reference_support.h"
#include "ops/shape_support.h"

namespace onepass::ops {

namespace {

enum class PadMode : uint8_t { constant, reflect, edge, wrap };

struct AxisPad {
  int64_t begin = 0;
  int64_t end = 0;
};

PadMode mode_of(const ir::Node& node) {
  const std::string mode = node.attributes.get_string("mode", "constant");
  if (mode == "constant") return PadMode::constant;
  if (mode == "reflect") return PadMode::reflect;
  if (mode == "edge") return PadMode::edge;
  if (mode == "wrap") return PadMode::wrap;
  refuse(node, "unsupported_attribute", fmt::format("mode is '{}'", mode), "constant, reflect, edge, wrap");
}

/// One entry per axis of the data.
std::vector<AxisPad> pads_of(const ir::Node& node, const std::vector<int64_t>& pads,
                             const std::vector<int64_t>& axes, int64_t rank) {
  normalized_axes(node, axes, rank);
  if (pads.size() != 2 * axes.size())
    refuse(node, "bad_pads", fmt::format("{} pads for {} axes", pads.size(), axes.size()),
           "two for each axis");
  std::vector<AxisPad> result(static_cast<size_t>(rank));
  for (size_t i = 0; i < axes.size(); ++i) {
    if (std::max(std::abs(pads[i] / 2), std::abs(pads[axes.size() + i] / 2)) >= k_max_elements)
      refuse(node, "too_large", fmt::format("pads are {}", ir::to_string(pads)), "at most 2^31 elements");
    result[normalized_axis(node, axes[i], rank)] = {pads[i], pads[axes.size() + i]};
  }
  return result;
}

void check_pad(const ir::Node& node, const AxisPad& pad, int64_t extent, PadMode mode) {
  const int64_t kept = extent - std::max<int64_t>(0, -pad.begin) - std::max<int64_t>(0, -pad.end);
  const int64_t most = std::max(pad.begin, pad.end);
  const bool reaches = mode != PadMode::reflect || most < kept;
  const bool has_source = mode == PadMode::constant || most <= 0 || kept > 0;
  if (kept < 0 || !reaches || !has_source)
    refuse(node, "bad_pads", fmt::format("pads {} and {} on an axis of {}", pad.begin, pad.end, extent),
           mode == PadMode::reflect ? "pads below the extent" : "pads that leave elements to repeat");
}

/// For each element of the padded axis, the source index or k_fill.
std::vector<int64_t> source_indices(const AxisPad& pad, int64_t extent, PadMode mode) {
  const int64_t first = std::max<int64_t>(0, -pad.begin);
  const int64_t last = extent - 1 - std::max<int64_t>(0, -pad.end);
  const int64_t kept = last - first + 1;
  std::vector<int64_t> indices;
  for (int64_t i = -pad.begin; i < extent + pad.end; ++i) {
    if (i >= first && i <= last)
      indices.push_back(i);
    else if (mode == PadMode::constant)
      indices.push_back(k_fill);
    else if (mode == PadMode::edge)
      indices.push_back(std::clamp(i, first, last));
    else if (mode == PadMode::reflect)
      indices.push_back(i < first ? 2 * first - i : 2 * last - i);
    else
      indices.push_back(first + ((i - first) % kept + kept) % kept);
  }
  return indices;
}

std::vector<ir::TensorType> pad_shape(const ShapeContext& context) {
  ir::TensorType type = context.type(0);
  const auto rank = static_cast<int64_t>(type.dims.size());
  const PadMode mode = mode_of(context.node);
  require_same_dtype(context, 0, 2);
  if (context.has(2) && ir::element_count(context.type(2).dims) != 1)
    refuse(context.node, "bad_operand", "the pad value is " + ir::to_string(context.type(2)), "one element");
  const std::vector<int64_t> axes = context.has(3) ? int_operand(context, 3) : all_axes(rank);
  const std::vector<AxisPad> pads = pads_of(context.node, int_operand(context, 1), axes, rank);
  for (size_t axis = 0; axis < pads.size(); ++axis) {
    const bool padded = pads[axis].begin != 0 || pads[axis].end != 0;
    if (padded && static_cast<int>(axis) == type.counted_axis) refuse_counted(context, 0, "another axis");
    check_pad(context.node, pads[axis], type.dims[axis], mode);
    type.dims[axis] += pads[axis].begin + pads[axis].end;
  }
  return one_output(context, type);
}

void pad_reference(const ir::Node& node, Inputs inputs, Outputs outputs) {
  constexpr std::byte k_zero[8] = {};
  ir::Tensor data = *inputs[0];
  const auto rank = static_cast<int64_t>(data.shape().size());
  const ir::Tensor* value = optional_input(inputs, 2);
  const ir::Tensor* axes = optional_input(inputs, 3);
  const std::vector<AxisPad> pads =
      pads_of(node, inputs[1]->to_ints(), axes != nullptr ? axes->to_ints() : all_axes(rank), rank);
  for (int64_t axis = rank - 1; axis >= 0; --axis) {
    const AxisPad& pad = pads[axis];
    if (pad.begin == 0 && pad.end == 0) continue;
    const auto indices = source_indices(pad, data.shape()[axis], mode_of(node));
    data = take(data, axis, indices, value != nullptr ? value->bytes() : k_zero);
  }
  outputs[0] = data;
}

}  // namespace

const Meaning k_meaning_Pad{pad_shape, pad_reference, pad_reference};

}  // namespace onepass::ops
