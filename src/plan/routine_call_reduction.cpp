// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>

#include "plan/routine_call_support.h"

namespace onepass::plan::routines {

namespace {

using ir::DType;
using ir::Op;

bool is_one_of(DType dtype, std::initializer_list<DType> accepted) {
  return std::ranges::find(accepted, dtype) != accepted.end();
}

const char* reduce_stem(Op op) {
  switch (op) {
    case Op::ReduceMean:
    case Op::GlobalAveragePool:
      return "reduce_mean";
    case Op::ReduceSum:
      return "reduce_sum";
    case Op::ReduceMax:
    case Op::GlobalMaxPool:
      return "reduce_max";
    case Op::ReduceMin:
      return "reduce_min";
    default:
      return "reduce_prod";
  }
}

/// Reduces the axes marked in `reduced`.
std::optional<RoutineCall> reduce_axes(const NodeView& view, const std::vector<bool>& reduced) {
  const ir::Shape& src = view.dims(0);
  const DType dtype = view.type(0).dtype;
  if (!is_one_of(dtype, {DType::f32, DType::i64, DType::i32})) return std::nullopt;
  const ir::Shape strides = ir::row_major_strides(src);
  IndexSpace kept{.dims = {}, .strides = {{}}};
  IndexSpace gone{.dims = {}, .strides = {{}}};
  for (size_t axis = 0; axis < src.size(); ++axis) {
    IndexSpace& space = reduced[axis] ? gone : kept;
    space.dims.push_back(src[axis]);
    space.strides[0].push_back(strides[axis]);
  }
  const int64_t outputs = ir::element_count(kept.dims);
  const int64_t terms = ir::element_count(gone.dims);
  kept.merge_axes();
  gone.merge_axes();
  if (!kept.fits() || !gone.fits()) return std::nullopt;
  RoutineCall call = call_of(view, symbol_of(reduce_stem(view.node().op), dtype), {0});
  kept.append_to(call.params);
  gone.append_to(call.params);
  set_work(call, outputs, terms);
  return call;
}

void append_lines(RoutineCall& call, const Lines& lines) {
  append(call.params, {lines.extent, lines.stride});
}

double scalar_or(const NodeView& view, size_t input, double absent) {
  const ir::Tensor* tensor = view.constant(input);
  return tensor != nullptr && tensor->size() == 1 ? tensor->to_doubles()[0] : absent;
}

bool is_known_scalar(const NodeView& view, size_t input) {
  return !view.has(input) || (view.constant(input) != nullptr && view.constant(input)->size() == 1);
}

}  // namespace

std::optional<RoutineCall> reduce(const NodeView& view) {
  const size_t rank = view.dims(0).size();
  Ints axes;
  if (view.has(1)) {
    const auto named = view.constant_ints(1);
    if (!named) return std::nullopt;
    axes = *named;
  }
  std::vector<bool> reduced(rank, axes.empty() && view.attribute("noop_with_empty_axes", 0) == 0);
  for (const int64_t axis : axes) reduced[static_cast<size_t>(from_front(axis, rank))] = true;
  return reduce_axes(view, reduced);
}

std::optional<RoutineCall> global_pool(const NodeView& view) {
  std::vector<bool> reduced(view.dims(0).size(), true);
  reduced[0] = reduced[1] = false;
  return view.type(0).dtype == DType::f32 ? reduce_axes(view, reduced) : std::nullopt;
}

std::optional<RoutineCall> softmax(const NodeView& view) {
  const ir::TensorType& src = view.type(0);
  const int64_t axis = from_front(view.attribute("axis", -1), src.dims.size());
  if (src.dtype != DType::f32 || axis == src.counted_axis) return std::nullopt;
  const Lines lines = lines_of(src.dims, axis);
  const char* stem = view.node().op == Op::Softmax ? "softmax" : "log_softmax";
  RoutineCall call = call_of(view, symbol_of(stem, src.dtype), {0});
  append_lines(call, lines);
  set_work(call, lines.extent == 0 ? 0 : lines.count, lines.extent * 16);
  return call;
}

std::optional<RoutineCall> lrn(const NodeView& view) {
  const ir::TensorType& src = view.type(0);
  if (src.dtype != DType::f32) return std::nullopt;
  const int64_t size = view.attribute("size", 1);
  const int64_t plane = ir::element_count({src.dims.begin() + 2, src.dims.end()});
  const ir::Attributes& attributes = view.node().attributes;
  RoutineCall call = call_of(view, "onepass_lrn_f32", {0});
  append(call.params, {src.dims[1], plane, size, bits(attributes.get_float("alpha", 1e-4)),
                       bits(attributes.get_float("beta", 0.75)), bits(attributes.get_float("bias", 1.0))});
  set_work(call, src.dims[0] * src.dims[1], plane * (size + 16));
  return call;
}

std::optional<RoutineCall> arg_max(const NodeView& view) {
  const ir::TensorType& src = view.type(0);
  if (!is_one_of(src.dtype, {DType::f32, DType::i64, DType::i32, DType::i8, DType::u8})) return std::nullopt;
  const int64_t axis = from_front(view.attribute("axis", 0), src.dims.size());
  if (axis == src.counted_axis) return std::nullopt;
  const Lines lines = lines_of(src.dims, axis);
  RoutineCall call = call_of(view, symbol_of("arg_max", src.dtype), {0});
  append_lines(call, lines);
  call.params.push_back(view.attribute("select_last_index", 0));
  set_work(call, lines.count, lines.extent * 2);
  return call;
}

std::optional<RoutineCall> top_k(const NodeView& view) {
  const ir::TensorType& src = view.type(0);
  const std::vector<ir::ValueId>& outputs = view.node().outputs;
  const bool both = outputs.size() == 2 && outputs[0].valid() && outputs[1].valid();
  if (!both || !is_one_of(src.dtype, {DType::f32, DType::i64, DType::i32})) return std::nullopt;
  const int64_t axis = from_front(view.attribute("axis", -1), src.dims.size());
  const Lines lines = lines_of(src.dims, axis);
  RoutineCall call = call_of(view, symbol_of("top_k", src.dtype), {0});
  call.outputs = outputs;
  append_lines(call, lines);
  append(call.params, {view.result().dims[static_cast<size_t>(axis)], view.attribute("largest", 1)});
  set_work(call, lines.count, lines.extent * 4);
  return call;
}

std::optional<RoutineCall> non_max_suppression(const NodeView& view) {
  if (view.type(0).dtype != DType::f32) return std::nullopt;
  for (size_t input : {2, 3, 4})
    if (!is_known_scalar(view, input)) return std::nullopt;
  const ir::Shape& scores = view.dims(1);
  const auto most = static_cast<int64_t>(scalar_or(view, 2, 0));
  const double iou_threshold = scalar_or(view, 3, 0);
  if (!(iou_threshold >= 0 && iou_threshold <= 1)) return std::nullopt;
  RoutineCall call = call_of(view, "onepass_non_max_suppression_f32", {0, 1});
  append(call.params, {scores[0], scores[1], scores[2], view.result().dims[0],
                       std::clamp<int64_t>(most, 0, scores[2]), bits(iou_threshold),
                       bits(scalar_or(view, 4, 0)), view.has(4), view.attribute("center_point_box", 0)});
  call.writes_count = true;
  call.scratch_bytes = scores[2] * 4;
  call.params[0] = 1;
  return call;
}

}  // namespace onepass::plan::routines
