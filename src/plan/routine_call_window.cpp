// SPDX-License-Identifier: Apache-2.0
//
// Convolutions and pools of any number of spatial axes up to three, where no kernel family takes them.
#include <algorithm>

#include "plan/routine_call_window.h"

namespace onepass::plan::routines {

namespace {

using ir::DType;

constexpr size_t k_max_spatial = 3;

Ints spatial(const ir::Shape& dims) {
  return {dims.begin() + 2, dims.end()};
}

/// As d h w: missing leading axes have extent 1.
Ints as_3d(const Ints& values, int64_t missing) {
  Ints result(k_max_spatial, missing);
  std::copy_backward(values.begin(), values.end(), result.end());
  return result;
}

void append_window(Ints& params, const SlidingWindow& w) {
  for (const Ints* field : {&w.src, &w.kernel, &w.strides, &w.dilations}) append(params, as_3d(*field, 1));
  append(params, as_3d(w.pads, 0));
  append(params, as_3d(w.dst, 1));
}

SlidingWindow window_without_pads(const NodeView& view, Ints kernel) {
  const ir::Attributes& attributes = view.node().attributes;
  SlidingWindow w{
      .src = spatial(view.dims(0)), .kernel = std::move(kernel), .dst = spatial(view.result().dims)};
  const Ints ones(w.src.size(), 1);
  w.strides = attributes.get_ints("strides", ones);
  w.dilations = attributes.get_ints("dilations", ones);
  w.pads = w.pads_end = Ints(w.src.size(), 0);
  return w;
}

/// Halves of `total`, the odd element at the end or at the begin.
void split_pads(SlidingWindow& w, size_t axis, int64_t total, bool odd_at_end) {
  total = std::max<int64_t>(0, total);
  w.pads[axis] = odd_at_end ? total / 2 : total - total / 2;
  w.pads_end[axis] = total - w.pads[axis];
}

void set_explicit_pads(SlidingWindow& w, const ir::Attributes& attributes) {
  const Ints pads = attributes.get_ints("pads", Ints(2 * w.src.size(), 0));
  w.pads.assign(pads.begin(), pads.begin() + static_cast<int64_t>(w.src.size()));
  w.pads_end.assign(pads.begin() + static_cast<int64_t>(w.src.size()), pads.end());
}

SlidingWindow window_of(const NodeView& view, Ints kernel) {
  SlidingWindow w = window_without_pads(view, std::move(kernel));
  const std::string auto_pad = view.node().attributes.get_string("auto_pad", "NOTSET");
  if (auto_pad == "NOTSET") set_explicit_pads(w, view.node().attributes);
  if (auto_pad.starts_with("SAME"))
    for (size_t axis = 0; axis < w.src.size(); ++axis)
      split_pads(w, axis, (w.dst[axis] - 1) * w.strides[axis] + w.span(axis) - w.src[axis],
                 auto_pad == "SAME_UPPER");
  return w;
}

}  // namespace

SlidingWindow transposed_window_of(const NodeView& view, Ints kernel) {
  SlidingWindow w = window_without_pads(view, std::move(kernel));
  const ir::Attributes& attributes = view.node().attributes;
  const std::string auto_pad = attributes.get_string("auto_pad", "NOTSET");
  const Ints extra = attributes.get_ints("output_padding", Ints(w.src.size(), 0));
  const bool asked = !attributes.get_ints("output_shape").empty() || auto_pad.starts_with("SAME");
  if (!asked && auto_pad == "NOTSET") set_explicit_pads(w, attributes);
  for (size_t axis = 0; axis < w.src.size() && asked; ++axis) {
    const int64_t full = (w.src[axis] - 1) * w.strides[axis] + extra[axis] + w.span(axis);
    split_pads(w, axis, full - w.dst[axis], auto_pad == "SAME_UPPER");
  }
  return w;
}

namespace {

bool is_f32_map(const NodeView& view) {
  const ir::TensorType& src = view.type(0);
  return src.dtype == DType::f32 && src.dims.size() >= 3 && src.dims.size() <= 2 + k_max_spatial;
}

struct Channels {
  int64_t src, dst, groups;  ///< src and dst of one group
};

RoutineCall conv_call(const NodeView& view, const char* symbol, const Channels& channels,
                      const SlidingWindow& w) {
  RoutineCall call = call_of(view, symbol, {0, 1});
  if (view.has(2)) call.inputs.push_back(view.node().inputs[2]);
  append(call.params, {channels.src, channels.dst, channels.groups, view.has(2)});
  append_window(call.params, w);
  return call;
}

int64_t rows_of(const ir::Shape& dims) {
  return ir::element_count({dims.begin(), dims.end() - 1});
}

std::optional<RoutineCall> pool_call(const NodeView& view, std::string symbol, Ints front,
                                     const SlidingWindow& w) {
  RoutineCall call = call_of(view, std::move(symbol), {0});
  append(call.params, front);
  append_window(call.params, w);
  set_work(call, rows_of(view.result().dims), w.dst.back() * ir::element_count(w.kernel) * 2);
  return call;
}

Ints pool_kernel(const NodeView& view) {
  return view.node().attributes.get_ints("kernel_shape");
}

}  // namespace

std::optional<RoutineCall> conv(const NodeView& view) {
  if (!is_f32_map(view)) return std::nullopt;
  const SlidingWindow w = window_of(view, spatial(view.dims(1)));
  const int64_t groups = view.attribute("group", 1);
  const Channels channels{view.dims(1)[1], view.dims(1)[0] / groups, groups};
  RoutineCall call = conv_call(view, "onepass_conv_f32", channels, w);
  set_work(call, rows_of(view.result().dims), w.dst.back() * channels.src * ir::element_count(w.kernel));
  return call;
}

std::optional<RoutineCall> conv_transpose(const NodeView& view) {
  if (!is_f32_map(view)) return std::nullopt;
  const SlidingWindow w = transposed_window_of(view, spatial(view.dims(1)));
  const int64_t groups = view.attribute("group", 1);
  const Channels channels{view.dims(1)[0] / groups, view.dims(1)[1], groups};
  RoutineCall call = conv_call(view, "onepass_conv_transpose_f32", channels, w);
  const int64_t plane_cost = ir::element_count(w.src) * channels.src * ir::element_count(w.kernel);
  set_work(call, view.result().dims[0] * view.result().dims[1], plane_cost);
  return call;
}

std::optional<RoutineCall> max_pool(const NodeView& view) {
  const ir::TensorType& src = view.type(0);
  const bool typed = src.dtype == DType::f32 || src.dtype == DType::i8 || src.dtype == DType::u8;
  if (!typed || src.dims.size() < 3 || src.dims.size() > 2 + k_max_spatial) return std::nullopt;
  const bool indices = view.wants(1);
  auto call = pool_call(view, symbol_of("max_pool", src.dtype), {indices, view.attribute("storage_order", 0)},
                        window_of(view, pool_kernel(view)));
  if (indices) call->outputs.push_back(view.node().outputs[1]);
  return call;
}

std::optional<RoutineCall> average_pool(const NodeView& view) {
  if (!is_f32_map(view)) return std::nullopt;
  const SlidingWindow w = window_of(view, pool_kernel(view));
  Ints front{view.attribute("count_include_pad", 0)};
  append(front, as_3d(w.pads_end, 0));
  return pool_call(view, "onepass_average_pool_f32", std::move(front), w);
}

}  // namespace onepass::plan::routines
