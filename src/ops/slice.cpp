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

constexpr int64_t k_max_step = int64_t{1} << 62;

struct AxisSlice {
  int64_t axis;
  int64_t start;
  int64_t end;
  int64_t step;
};

/// How many elements a slice of an axis of `extent` takes; start is clamped to the first of them.
int64_t clamp_slice(AxisSlice& slice, int64_t extent) {
  if (slice.start < 0) slice.start += extent;
  if (slice.end < 0) slice.end += extent;
  if (slice.step > 0) {
    slice.start = std::clamp<int64_t>(slice.start, 0, extent);
    slice.end = std::clamp<int64_t>(slice.end, 0, extent);
    return slice.end > slice.start ? (slice.end - slice.start - 1) / slice.step + 1 : 0;
  }
  if (extent == 0) return slice.start = 0;
  slice.start = std::clamp<int64_t>(slice.start, 0, extent - 1);
  slice.end = std::clamp<int64_t>(slice.end, -1, extent - 1);
  return slice.start > slice.end ? (slice.start - slice.end - 1) / -slice.step + 1 : 0;
}

struct Operands {
  std::vector<int64_t> starts, ends, axes, steps;
};

std::vector<AxisSlice> slices_of(const ir::Node& node, Operands operands, int64_t rank) {
  const size_t count = operands.starts.size();
  if (operands.steps.empty()) operands.steps.assign(count, 1);
  if (operands.axes.empty()) operands.axes = all_axes(std::min(rank, static_cast<int64_t>(count)));
  const bool agree =
      operands.ends.size() == count && operands.axes.size() == count && operands.steps.size() == count;
  if (!agree)
    refuse(node, "bad_slice",
           fmt::format("{} starts, {} ends, {} axes and {} steps", count, operands.ends.size(),
                       operands.axes.size(), operands.steps.size()),
           "as many of each");
  normalized_axes(node, operands.axes, rank);
  std::vector<AxisSlice> slices;
  for (size_t i = 0; i < count; ++i) {
    if (operands.steps[i] == 0) refuse(node, "bad_slice", "a step is 0", "another step");
    slices.push_back({normalized_axis(node, operands.axes[i], rank), operands.starts[i], operands.ends[i],
                      std::clamp(operands.steps[i], -k_max_step, k_max_step)});
  }
  return slices;
}

std::vector<ir::TensorType> slice_shape(const ShapeContext& context) {
  ir::TensorType type = context.type(0);
  Operands operands{int_operand(context, 1), int_operand(context, 2), {}, {}};
  if (context.has(3)) operands.axes = int_operand(context, 3);
  if (context.has(4)) operands.steps = int_operand(context, 4);
  const auto rank = static_cast<int64_t>(type.dims.size());
  for (AxisSlice& slice : slices_of(context.node, operands, rank)) {
    const bool takes_first = slice.start == 0 && slice.step == 1 && slice.end >= 0;
    if (slice.axis == type.counted_axis && !takes_first)
      refuse_counted(context, 0, "another axis, or its first elements");
    type.dims[slice.axis] = clamp_slice(slice, type.dims[slice.axis]);
  }
  return one_output(context, type);
}

void slice_reference(const ir::Node& node, Inputs inputs, Outputs outputs) {
  const auto ints = [&](size_t i) {
    const ir::Tensor* operand = optional_input(inputs, i);
    return operand == nullptr ? std::vector<int64_t>{} : operand->to_ints();
  };
  const ir::Tensor& src = *inputs[0];
  StridedBlock from = whole(src);
  const auto rank = static_cast<int64_t>(src.shape().size());
  if (outputs[0].size() == 0) return;
  for (AxisSlice& slice : slices_of(node, {ints(1), ints(2), ints(3), ints(4)}, rank)) {
    const int64_t count = clamp_slice(slice, src.shape()[slice.axis]);
    from.offset += slice.start * from.strides[slice.axis];
    from.strides[slice.axis] *= count > 1 ? slice.step : 1;
  }
  copy_block(src, from, outputs[0], whole(outputs[0]), outputs[0].shape());
}

}  // namespace

const Meaning k_meaning_Slice{slice_shape, slice_reference, slice_reference};

}  // namespace onepass::ops
