// SPDX-License-Identifier: Apache-2.0
//
// Comparisons, logic and Where over broadcast operands.
#include <fmt/format.h>

#include <functional>

#include "ops/broadcast.h"
#include "ops/meanings.h"
#include "ops/shape_support.h"

namespace onepass::ops {

namespace {

std::vector<ir::TensorType> bool_result(const ShapeContext& context) {
  require_same_dtype(context, 0, 1);
  ir::TensorType result = broadcast_types(context.node, context.type(0), context.type(1));
  result.dtype = ir::DType::boolean;
  return one_output(context, std::move(result));
}

std::vector<ir::TensorType> comparison_shape(const ShapeContext& context) {
  if (!is_numeric(context.type(0).dtype))
    refuse(context.node, "unsupported_type", fmt::format("input 0 is {}", ir::to_string(context.type(0))),
           "a numeric type");
  return bool_result(context);
}

std::vector<ir::TensorType> logic_shape(const ShapeContext& context) {
  require_dtype(context, 0, {ir::DType::boolean});
  return bool_result(context);
}

std::vector<ir::TensorType> not_shape(const ShapeContext& context) {
  require_dtype(context, 0, {ir::DType::boolean});
  return one_output(context, context.type(0));
}

std::vector<ir::TensorType> where_shape(const ShapeContext& context) {
  require_dtype(context, 0, {ir::DType::boolean});
  require_same_dtype(context, 1, 2);
  ir::TensorType result = broadcast_types(context.node, context.type(1), context.type(2));
  result = broadcast_types(context.node, result, context.type(0));
  return one_output(context, std::move(result));
}

template <class T, class Predicate>
void compare(const ir::Node&, Inputs inputs, Outputs outputs) {
  visit_dtype<T>(inputs[0]->dtype(), [&]<class E>(E) {
    zip<E, E, bool>(*inputs[0], *inputs[1], outputs[0], [](E a, E b) { return Predicate{}(a, b); });
  });
}

void negate(const ir::Node&, Inputs inputs, Outputs outputs) {
  zip<bool, bool, bool>(*inputs[0], *inputs[0], outputs[0], [](bool a, bool) { return !a; });
}

template <class T>
void where(const ir::Node&, Inputs inputs, Outputs outputs) {
  visit_dtype<T>(outputs[0].dtype(), [&]<class E>(E) {
    const ir::Shape& dst_shape = outputs[0].shape();
    Walk walk{dst_shape, {ir::row_major_strides(dst_shape)}};
    for (const ir::Tensor* input : inputs)
      walk.strides.push_back(broadcast_strides(input->shape(), dst_shape));
    const bool* condition = elements<bool>(*inputs[0]);
    const E* yes = elements<E>(*inputs[1]);
    const E* no = elements<E>(*inputs[2]);
    E* dst = elements<E>(outputs[0]);
    for_each_row<4>(walk, [&](const WalkRow<4>& row) {
      for (int64_t i = 0; i < row.length; ++i)
        dst[row.offsets[0] + i] = condition[row.offsets[1] + i * row.steps[1]]
                                      ? yes[row.offsets[2] + i * row.steps[2]]
                                      : no[row.offsets[3] + i * row.steps[3]];
    });
  });
}

template <class Predicate>
constexpr Meaning comparison(ShapeRule shape) {
  return {shape, compare<float, Predicate>, compare<double, Predicate>};
}

}  // namespace

const Meaning k_meaning_Equal = comparison<std::equal_to<>>(bool_result);
const Meaning k_meaning_Greater = comparison<std::greater<>>(comparison_shape);
const Meaning k_meaning_GreaterOrEqual = comparison<std::greater_equal<>>(comparison_shape);
const Meaning k_meaning_Less = comparison<std::less<>>(comparison_shape);
const Meaning k_meaning_LessOrEqual = comparison<std::less_equal<>>(comparison_shape);
const Meaning k_meaning_And = comparison<std::logical_and<>>(logic_shape);
const Meaning k_meaning_Or = comparison<std::logical_or<>>(logic_shape);
const Meaning k_meaning_Not{not_shape, negate, negate};
const Meaning k_meaning_Where{where_shape, where<float>, where<double>};

}  // namespace onepass::ops
