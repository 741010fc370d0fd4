// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "ops/data_movement.h"
#include "ops/meanings.h"
#include "ops/operands.h"
#include "ops/reference_support.h"
#include "ops/resize_geometry.h"
#include "ops/shape_support.h"

namespace onepass::ops {

namespace {

/// An operand that is present and not the empty tensor that exporters write for "absent".
bool is_given(const ShapeContext& context, size_t input) {
  return context.has(input) && ir::element_count(context.type(input).dims) != 0;
}

std::vector<ir::TensorType> resize_shape(const ShapeContext& context) {
  require_static_extents(context);
  ir::TensorType type = context.type(0);
  const ResizeMode mode = resize_mode(context.node);
  if (mode.interpolation != Interpolation::nearest) require_float(context, 0);
  ResizeOperands operands;
  const bool crops = mode.coordinates == Coordinates::tf_crop_and_resize;
  if (crops && is_given(context, 1)) {
    require_float(context, 1);
    operands.roi = &context.constant(1);
  }
  if (is_given(context, 2)) {
    require_float(context, 2);
    operands.scales = &context.constant(2);
  }
  if (is_given(context, 3)) {
    require_dtype(context, 3, {ir::DType::i64, ir::DType::i32});
    operands.sizes = &context.constant(3);
  }
  const std::vector<ResizeAxis> axes = resize_axes(context.node, type.dims, operands);
  for (size_t axis = 0; axis < axes.size(); ++axis) type.dims[axis] = axes[axis].dst_extent;
  return one_output(context, type);
}

const ir::Tensor* given(Inputs inputs, size_t input) {
  const ir::Tensor* operand = optional_input(inputs, input);
  return operand != nullptr && operand->size() > 0 ? operand : nullptr;
}

bool is_unchanged(const ResizeAxis& axis, const ResizeTaps& taps) {
  if (axis.src_extent != axis.dst_extent) return false;
  for (int64_t i = 0; i < axis.dst_extent; ++i) {
    double own = 0;
    for (int64_t t = 0; t < taps.taps; ++t)
      if (taps.indices[i * taps.taps + t] == i) own += taps.weights[i * taps.taps + t];
    if (own != 1 || taps.outside[i]) return false;
  }
  return true;
}

ir::Tensor pick(const ir::Tensor& src, int64_t axis, const ResizeTaps& taps, double extrapolation) {
  const ir::Tensor fill = ir::Tensor::scalar(extrapolation).cast(src.dtype());
  std::vector<int64_t> indices = taps.indices;
  for (size_t i = 0; i < indices.size(); ++i)
    if (taps.outside[i]) indices[i] = k_fill;
  return take(src, axis, indices, fill.bytes());
}

/// One element of the resized axis: a row of `inner` elements, each the weighted sum over the taps.
template <class T>
void blend_row(const T* src, const ResizeTaps& taps, int64_t i, int64_t inner, T* dst) {
  std::fill(dst, dst + inner, T{});
  for (int64_t t = 0; t < taps.taps; ++t) {
    const T weight = static_cast<T>(taps.weights[i * taps.taps + t]);
    const T* row = src + taps.indices[i * taps.taps + t] * inner;
    if (weight == T{}) continue;
    for (int64_t k = 0; k < inner; ++k) dst[k] += weight * row[k];
  }
}

template <class T>
ir::Tensor blend(const ir::Tensor& src, int64_t axis, const ResizeTaps& taps, double extrapolation) {
  ir::Shape shape = src.shape();
  const int64_t inner = ir::row_major_strides(shape)[axis];
  const int64_t src_block = shape[axis] * inner;
  shape[axis] = static_cast<int64_t>(taps.outside.size());
  ir::Tensor result(src.dtype(), shape);
  T* dst = elements<T>(result);
  const int64_t blocks = src_block == 0 ? 0 : src.size() / src_block;
  for (int64_t block = 0; block < blocks; ++block)
    for (int64_t i = 0; i < shape[axis]; ++i, dst += inner) {
      if (taps.outside[i])
        std::fill(dst, dst + inner, static_cast<T>(extrapolation));
      else
        blend_row(elements<T>(src) + block * src_block, taps, i, inner, dst);
    }
  return result;
}

template <class T>
void resize_reference(const ir::Node& node, Inputs inputs, Outputs outputs) {
  const ResizeMode mode = resize_mode(node);
  const double extrapolation = node.attributes.get_float("extrapolation_value", 0);
  ir::Tensor data = *inputs[0];
  const auto axes = resize_axes(node, data.shape(), {given(inputs, 1), given(inputs, 2), given(inputs, 3)});
  for (int64_t axis = static_cast<int64_t>(axes.size()) - 1; axis >= 0; --axis) {
    const ResizeTaps taps = resize_taps(axes[axis], mode);
    if (is_unchanged(axes[axis], taps)) continue;
    data = mode.interpolation == Interpolation::nearest ? pick(data, axis, taps, extrapolation)
                                                        : blend<T>(data, axis, taps, extrapolation);
  }
  outputs[0] = data;
}

}  // namespace

const Meaning k_meaning_Resize{resize_shape, resize_reference<float>, resize_reference<double>};

}  // namespace onepass::ops
