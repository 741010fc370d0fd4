// SPDX-License-Identifier: Apache-2.0
//
// The operators that keep the elements in their order: Reshape, Flatten, Squeeze, Unsqueeze.
#include <fmt/format.h>

#include <algorithm>

#include "ops/meanings.h"
#include "ops/operands.h"
#include "ops/reference_support.h"
#include "ops/shape_support.h"

namespace onepass::ops {

namespace {

int64_t product(const ir::Shape& dims, size_t first, size_t last) {
  int64_t result = 1;
  for (size_t axis = first; axis < last; ++axis) result *= dims[axis];
  return result;
}

[[noreturn]] void refuse_reshape(const ShapeContext& context, const ir::Shape& asked) {
  refuse(context.node, "bad_reshape",
         fmt::format("{} is reshaped to {}", ir::to_string(context.type(0)), ir::to_string(asked)),
         "a shape with as many elements");
}

/// The asked shape with 0 replaced by the input's extent; at most one -1 stays.
ir::Shape copy_zeros(const ShapeContext& context, const ir::Shape& asked) {
  const ir::TensorType& type = context.type(0);
  const bool allow_zero = context.node.attributes.get_int("allowzero", 0) != 0;
  ir::Shape dims = asked;
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    if (dims[axis] < -1 || dims[axis] > k_max_elements) refuse_reshape(context, asked);
    if (dims[axis] != 0 || allow_zero) continue;
    if (axis >= type.dims.size()) refuse_reshape(context, asked);
    dims[axis] = type.dims[axis];
  }
  if (std::count(dims.begin(), dims.end(), -1) > 1) refuse_reshape(context, asked);
  return dims;
}

/// The axis that takes what is left, or the rank.
size_t open_axis(const ir::Shape& dims) {
  return std::find(dims.begin(), dims.end(), -1) - dims.begin();
}

/// A data-dependent extent n survives when the result's axis is n times a known factor.
int counted_after_reshape(const ShapeContext& context, const ir::Shape& asked, const ir::Shape& dims) {
  const ir::TensorType& type = context.type(0);
  const auto from = static_cast<size_t>(type.counted_axis);
  size_t to = open_axis(asked);
  const bool copies =
      context.node.attributes.get_int("allowzero", 0) == 0 && from < asked.size() && asked[from] == 0;
  if (copies) to = from;
  const int64_t inner_from = product(type.dims, from + 1, type.dims.size());
  const int64_t inner_to = to < dims.size() ? product(dims, to + 1, dims.size()) : 0;
  const bool carried = inner_to > 0 && product(type.dims, 0, from) == product(dims, 0, to) &&
                       (copies ? inner_from == inner_to : inner_from % inner_to == 0);
  if (!carried) refuse_counted(context, 0, "a shape with -1 or 0 in place of the data-dependent extent");
  return static_cast<int>(to);
}

std::vector<ir::TensorType> reshape_shape(const ShapeContext& context) {
  const ir::TensorType& type = context.type(0);
  const ir::Shape asked = int_operand(context, 1);
  ir::TensorType result{type.dtype, copy_zeros(context, asked)};
  const size_t open = open_axis(result.dims);
  const int64_t elements = ir::element_count(type.dims);
  if (open < result.dims.size()) {
    result.dims[open] = 1;
    const int64_t known = ir::element_count(checked(context.node, result).dims);
    if (known == 0 ? elements != 0 : elements % known != 0) refuse_reshape(context, asked);
    result.dims[open] = known == 0 ? 0 : elements / known;
  }
  if (ir::element_count(checked(context.node, result).dims) != elements) refuse_reshape(context, asked);
  if (type.counted_axis >= 0) result.counted_axis = counted_after_reshape(context, asked, result.dims);
  return one_output(context, result);
}

std::vector<ir::TensorType> flatten_shape(const ShapeContext& context) {
  const ir::TensorType& type = context.type(0);
  const auto rank = static_cast<int64_t>(type.dims.size());
  int64_t axis = context.node.attributes.get_int("axis", 1);
  if (axis != rank) axis = normalized_axis(context.node, axis, rank);
  ir::TensorType result{type.dtype, {product(type.dims, 0, axis), product(type.dims, axis, rank)}};
  if (type.counted_axis >= 0) result.counted_axis = type.counted_axis < axis ? 0 : 1;
  return one_output(context, result);
}

/// The result without the axes marked; a counted axis moves along.
ir::TensorType without_axes(const ir::TensorType& type, const std::vector<int64_t>& gone) {
  ir::TensorType result{type.dtype, {}};
  for (int64_t axis = 0; axis < static_cast<int64_t>(type.dims.size()); ++axis) {
    if (std::binary_search(gone.begin(), gone.end(), axis)) continue;
    if (axis == type.counted_axis) result.counted_axis = static_cast<int>(result.dims.size());
    result.dims.push_back(type.dims[axis]);
  }
  return result;
}

std::vector<ir::TensorType> squeeze_shape(const ShapeContext& context) {
  const ir::TensorType& type = context.type(0);
  const auto rank = static_cast<int64_t>(type.dims.size());
  std::vector<int64_t> gone;
  if (context.has(1)) {
    gone = normalized_axes(context.node, int_operand(context, 1), rank);
  } else {
    if (type.counted_axis >= 0) refuse_counted(context, 0, "axes that are named");
    for (int64_t axis = 0; axis < rank; ++axis)
      if (type.dims[axis] == 1) gone.push_back(axis);
  }
  for (const int64_t axis : gone) {
    if (axis == type.counted_axis) refuse_counted(context, 0, "another axis");
    if (type.dims[axis] != 1)
      refuse(context.node, "bad_axis", fmt::format("axis {} of {} is squeezed", axis, ir::to_string(type)),
             "an axis of extent 1");
  }
  return one_output(context, without_axes(type, gone));
}

std::vector<ir::TensorType> unsqueeze_shape(const ShapeContext& context) {
  const ir::TensorType& type = context.type(0);
  const std::vector<int64_t> asked = int_operand(context, 1);
  const auto rank = static_cast<int64_t>(type.dims.size() + asked.size());
  const std::vector<int64_t> axes = normalized_axes(context.node, asked, rank);
  ir::TensorType result{type.dtype, {}};
  int64_t next = 0;
  for (int64_t axis = 0; axis < rank; ++axis) {
    if (std::binary_search(axes.begin(), axes.end(), axis)) {
      result.dims.push_back(1);
      continue;
    }
    if (next == type.counted_axis) result.counted_axis = static_cast<int>(axis);
    result.dims.push_back(type.dims[next++]);
  }
  return one_output(context, result);
}

void same_elements(const ir::Node&, Inputs inputs, Outputs outputs) {
  outputs[0] = inputs[0]->reshaped(outputs[0].shape());
}

}  // namespace

const Meaning k_meaning_Reshape{reshape_shape, same_elements, same_elements};
const Meaning k_meaning_Flatten{flatten_shape, same_elements, same_elements};
const Meaning k_meaning_Squeeze{squeeze_shape, same_elements, same_elements};
const Meaning k_meaning_Unsqueeze{unsqueeze_shape, same_elements, same_elements};

}  // namespace onepass::ops
