// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "ops/meanings.h"
#include "ops/reference_support.h"
#include "ops/window.h"

namespace onepass::ops {

namespace {

ir::TensorType pooled_type(const ShapeContext& context) {
  require_static_extents(context);
  require_rank(context, 0, 3, 5);
  const ir::TensorType& src = context.type(0);
  ir::TensorType result{src.dtype, {src.dims[0], src.dims[1]}};
  const Window window = pool_window(context.node, src.dims);
  result.dims.insert(result.dims.end(), window.dst.begin(), window.dst.end());
  return checked(context.node, std::move(result));
}

std::vector<ir::TensorType> average_pool_shape(const ShapeContext& context) {
  require_float(context, 0);
  return one_output(context, pooled_type(context));
}

std::vector<ir::TensorType> max_pool_shape(const ShapeContext& context) {
  require_dtype(context, 0, {ir::DType::f32, ir::DType::f64, ir::DType::i8, ir::DType::u8});
  const int64_t storage_order = context.node.attributes.get_int("storage_order", 0);
  if (storage_order != 0 && storage_order != 1)
    refuse(context.node, "bad_attribute", fmt::format("storage_order = {}", storage_order), "0 or 1");
  if (context.node.outputs.size() > 2)
    refuse(context.node, "too_many_outputs",
           fmt::format("{} outputs are asked for", context.node.outputs.size()), "1 or 2 outputs");
  const ir::TensorType result = pooled_type(context);
  std::vector<ir::TensorType> types{result, {ir::DType::i64, result.dims}};
  types.resize(context.node.outputs.size());
  return types;
}

/// The taps of one window along one axis: positions begin, begin + dilation, ... below end.
struct Taps {
  int64_t begin, end, dilation;
  int64_t count() const { return end > begin ? (end - begin + dilation - 1) / dilation : 0; }
};

/// The taps of window `i` that lie in [low, high).
Taps taps_within(const Window3d& w, int axis, int64_t i, int64_t low, int64_t high) {
  const int64_t dilation = w.dilations[axis];
  int64_t begin = i * w.strides[axis] - w.pads[axis];
  const int64_t end = begin + (w.kernel[axis] - 1) * dilation + 1;
  if (begin < low) begin += (low - begin + dilation - 1) / dilation * dilation;
  return {begin, std::min(end, high), dilation};
}

struct TapBox {
  Taps d, h, w;
  int64_t count() const { return d.count() * h.count() * w.count(); }
};

TapBox taps_in_source(const Window3d& w, const Triple& index) {
  return {taps_within(w, 0, index[0], 0, w.src[0]), taps_within(w, 1, index[1], 0, w.src[1]),
          taps_within(w, 2, index[2], 0, w.src[2])};
}

/// Calls body(offset in the plane, d, h, w) for each tap.
template <class Body>
void for_each_tap(const Window3d& window, const TapBox& box, Body body) {
  for (int64_t d = box.d.begin; d < box.d.end; d += box.d.dilation)
    for (int64_t h = box.h.begin; h < box.h.end; h += box.h.dilation)
      for (int64_t w = box.w.begin; w < box.w.end; w += box.w.dilation)
        body((d * window.src[1] + h) * window.src[2] + w, Triple{d, h, w});
}

/// Calls body(offset in the dst plane, index) for each output of a plane.
template <class Body>
void for_each_output(const Window3d& window, Body body) {
  int64_t offset = 0;
  for (int64_t d = 0; d < window.dst[0]; ++d)
    for (int64_t h = 0; h < window.dst[1]; ++h)
      for (int64_t w = 0; w < window.dst[2]; ++w) body(offset++, Triple{d, h, w});
}

int64_t plane_count(const ir::Tensor& tensor) {
  return tensor.shape()[0] * tensor.shape()[1];
}

/// Offset of a position in its plane, with the first spatial axis running fastest.
int64_t column_major_offset(const Window3d& window, const Triple& at) {
  return at[0] + window.src[0] * (at[1] + window.src[1] * at[2]);
}

template <class E>
constexpr E lowest_value() {
  return std::numeric_limits<E>::has_infinity ? -std::numeric_limits<E>::infinity()
                                              : std::numeric_limits<E>::lowest();
}

/// One plane; padding never wins and NaN does. `indices` may be null.
template <class E>
void max_pool_plane(const Window3d& window, bool column_major, const E* src, E* dst, int64_t* indices) {
  for_each_output(window, [&](int64_t offset, const Triple& index) {
    E best = lowest_value<E>();
    int64_t best_at = -1;
    for_each_tap(window, taps_in_source(window, index), [&](int64_t tap, const Triple& at) {
      const bool first_nan = src[tap] != src[tap] && best == best;
      if (best_at >= 0 && !(src[tap] > best) && !first_nan) return;
      best = src[tap];
      best_at = column_major ? column_major_offset(window, at) : tap;
    });
    dst[offset] = best;
    if (indices != nullptr) indices[offset] = best_at;
  });
}

template <class T>
void max_pool(const ir::Node& node, Inputs inputs, Outputs outputs) {
  const Window3d window(pool_window(node, inputs[0]->shape()));
  const bool column_major = node.attributes.get_int("storage_order", 0) == 1;
  int64_t* indices = outputs.size() > 1 ? elements<int64_t>(outputs[1]) : nullptr;
  visit_numeric<T>(inputs[0]->dtype(), [&]<class E>(E) {
    for (int64_t plane = 0; plane < plane_count(*inputs[0]); ++plane) {
      int64_t* plane_indices = indices == nullptr ? nullptr : indices + plane * window.dst_plane();
      max_pool_plane(window, column_major, elements<E>(*inputs[0]) + plane * window.src_plane(),
                     elements<E>(outputs[0]) + plane * window.dst_plane(), plane_indices);
      for (int64_t i = 0; plane_indices != nullptr && i < window.dst_plane(); ++i)
        plane_indices[i] += plane * window.src_plane();
    }
  });
}

/// What the sum of window `index` is divided by: with count_include_pad the taps in the padded map (a window
/// that ceil_mode lets stick out further counts no more), without it the taps in the map.
int64_t divisor(const Window3d& window, const Triple& pads_end, const Triple& index, bool include_pad) {
  if (!include_pad) return taps_in_source(window, index).count();
  int64_t count = 1;
  for (int axis = 0; axis < 3; ++axis)
    count *=
        taps_within(window, axis, index[axis], -window.pads[axis], window.src[axis] + pads_end[axis]).count();
  return count;
}

template <class T>
void average_pool(const ir::Node& node, Inputs inputs, Outputs outputs) {
  const Window resolved = pool_window(node, inputs[0]->shape());
  const Window3d window(resolved);
  Triple pads_end{};
  std::copy_backward(resolved.pads_end.begin(), resolved.pads_end.end(), pads_end.end());
  const bool include_pad = node.attributes.get_int("count_include_pad", 0) != 0;
  for (int64_t plane = 0; plane < plane_count(*inputs[0]); ++plane) {
    const T* src = elements<T>(*inputs[0]) + plane * window.src_plane();
    T* dst = elements<T>(outputs[0]) + plane * window.dst_plane();
    for_each_output(window, [&](int64_t offset, const Triple& index) {
      T sum = 0;
      for_each_tap(window, taps_in_source(window, index),
                   [&](int64_t tap, const Triple&) { sum += src[tap]; });
      const int64_t count = divisor(window, pads_end, index, include_pad);
      dst[offset] = count == 0 ? T(0) : sum / static_cast<T>(count);
    });
  }
}

}  // namespace

const Meaning k_meaning_MaxPool{max_pool_shape, max_pool<float>, max_pool<double>};
const Meaning k_meaning_AveragePool{average_pool_shape, average_pool<float>, average_pool<double>};

}  // namespace onepass::ops
