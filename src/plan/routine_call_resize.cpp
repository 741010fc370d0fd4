// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "plan/routine_call_resize_axis.h"
#include "plan/routine_call_support.h"

namespace onepass::plan::routines {

namespace {

/// An axis of the call: one axis of the node, or several unchanged ones.
struct MergedAxis {
  AxisTaps taps;
  int64_t src_extent, dst_extent;
};

AxisTaps identity(int64_t extent) {
  AxisTaps taps;
  for (int64_t i = 0; i < extent; ++i) taps.indices.push_back(i);
  taps.weights.assign(static_cast<size_t>(extent), 1.0);
  return taps;
}

/// Images and channels stay as they are: neighbours of that kind become one axis.
std::vector<MergedAxis> merged_axes(const NodeView& view, std::vector<AxisTaps> taps) {
  std::vector<MergedAxis> axes;
  bool behind_unchanged = false;
  for (size_t axis = 0; axis < taps.size(); ++axis) {
    const int64_t src = view.dims(0)[axis];
    const bool unchanged = taps[axis].is_identity(src);
    if (unchanged && behind_unchanged) {
      axes.back().src_extent *= src;
      axes.back().dst_extent *= src;
      axes.back().taps = identity(axes.back().src_extent);
    } else {
      axes.push_back({unchanged ? identity(src) : std::move(taps[axis]), src, view.result().dims[axis]});
    }
    behind_unchanged = unchanged;
  }
  return axes;
}

/// Source strides of the axes.
Ints strides_of(const std::vector<MergedAxis>& axes) {
  ir::Shape dims;
  for (const MergedAxis& axis : axes) dims.push_back(axis.src_extent);
  return ir::row_major_strides(dims);
}

void append_offsets(Ints& params, const MergedAxis& axis, int64_t stride) {
  for (const int64_t index : axis.taps.indices) params.push_back(index < 0 ? -1 : index * stride);
}

int64_t fill_bits(ir::DType dtype, double value) {
  const ir::Tensor fill = ir::Tensor::scalar(value).cast(dtype);
  int64_t result = 0;
  std::memcpy(&result, fill.bytes(), static_cast<size_t>(fill.size_bytes()));
  return result;
}

RoutineCall nearest_call(const NodeView& view, const std::vector<MergedAxis>& axes, double extrapolation) {
  const ir::DType dtype = view.type(0).dtype;
  RoutineCall call = call_of(view, sized_symbol("index_copy", dtype), {0});
  append(call.params, {fill_bits(dtype, extrapolation), static_cast<int64_t>(axes.size())});
  for (const MergedAxis& axis : axes) call.params.push_back(axis.dst_extent);
  const Ints strides = strides_of(axes);
  for (size_t axis = 0; axis < axes.size(); ++axis) append_offsets(call.params, axes[axis], strides[axis]);
  return call;
}

RoutineCall blend_call(const NodeView& view, const std::vector<MergedAxis>& axes, double extrapolation) {
  RoutineCall call = call_of(view, "onepass_resize_f32", {0});
  append(call.params, {bits(extrapolation), static_cast<int64_t>(axes.size())});
  const Ints strides = strides_of(axes);
  for (size_t axis = 0; axis < axes.size(); ++axis) {
    append(call.params, {axes[axis].dst_extent, axes[axis].taps.taps});
    append_offsets(call.params, axes[axis], strides[axis]);
    for (const double weight : axes[axis].taps.weights) call.params.push_back(bits(weight));
  }
  call.scratch_bytes = static_cast<int64_t>(axes.size()) * axes.back().dst_extent * 4;
  return call;
}

}  // namespace

std::optional<RoutineCall> resize(const NodeView& view) {
  const bool nearest = view.node().attributes.get_string("mode", "nearest") == "nearest";
  auto taps = resize_taps(view);
  if (!taps || taps->empty() || taps->size() > 16) return std::nullopt;
  if (!nearest && view.type(0).dtype != ir::DType::f32) return std::nullopt;
  const std::vector<MergedAxis> axes = merged_axes(view, std::move(*taps));
  const double extrapolation = view.node().attributes.get_float("extrapolation_value", 0);
  RoutineCall call =
      nearest ? nearest_call(view, axes, extrapolation) : blend_call(view, axes, extrapolation);
  const int64_t inner = axes.back().dst_extent;
  set_work(call, inner == 0 ? 0 : ir::element_count(view.result().dims) / inner, inner * (nearest ? 1 : 8));
  return call;
}

}  // namespace onepass::plan::routines
