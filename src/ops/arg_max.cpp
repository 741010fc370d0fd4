// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "ops/meanings.h"
#include "ops/reference_support.h"
#include "ops/shape_support.h"

namespace onepass::ops {

namespace {

int64_t arg_max_axis(const ir::Node& node, const ir::Shape& shape) {
  return normalized_axis(node, node.attributes.get_int("axis", 0), static_cast<int64_t>(shape.size()));
}

std::vector<ir::TensorType> arg_max_shape(const ShapeContext& context) {
  ir::TensorType result = context.type(0);
  if (!is_numeric(result.dtype))
    refuse(context.node, "unsupported_type", fmt::format("input 0 is {}", ir::to_string(result)),
           "a numeric type");
  const int64_t axis = arg_max_axis(context.node, result.dims);
  if (result.dims[axis] == 0)
    refuse(context.node, "bad_extent", fmt::format("axis {} of {} is empty", axis, ir::to_string(result)),
           "extents >= 1");
  result.dtype = ir::DType::i64;
  result.dims[axis] = 1;
  if (result.counted_axis == axis) result.counted_axis = -1;
  if (context.node.attributes.get_int("keepdims", 1) == 0) {
    result.dims.erase(result.dims.begin() + axis);
    if (result.counted_axis > axis) --result.counted_axis;
  }
  return one_output(context, std::move(result));
}

/// Position of the largest of `count` elements, the first of equals or the last. The first NaN wins.
template <class E>
int64_t position_of_max(const E* src, int64_t step, int64_t count, bool last_of_equals) {
  int64_t best = 0;
  for (int64_t i = 1; i < count; ++i) {
    const E candidate = src[i * step];
    const E leader = src[best * step];
    if (leader != leader) return best;
    if (candidate > leader || candidate != candidate || (last_of_equals && candidate == leader)) best = i;
  }
  return best;
}

template <class T>
void arg_max(const ir::Node& node, Inputs inputs, Outputs outputs) {
  const ir::Shape& shape = inputs[0]->shape();
  if (inputs[0]->size() == 0) return;
  const int64_t axis = arg_max_axis(node, shape);
  const bool last_of_equals = node.attributes.get_int("select_last_index", 0) != 0;
  const int64_t step = ir::row_major_strides(shape)[axis];
  const int64_t block = step * shape[axis];
  int64_t* dst = elements<int64_t>(outputs[0]);
  visit_numeric<T>(inputs[0]->dtype(), [&]<class E>(E) {
    const E* src = elements<E>(*inputs[0]);
    for (int64_t outer = 0; outer < inputs[0]->size(); outer += block)
      for (int64_t inner = 0; inner < step; ++inner)
        *dst++ = position_of_max(src + outer + inner, step, shape[axis], last_of_equals);
  });
}

}  // namespace

const Meaning k_meaning_ArgMax{arg_max_shape, arg_max<float>, arg_max<double>};

}  // namespace onepass::ops
