// SPDX-License-Identifier: Apache-2.0
//
// The operators that make values out of extents: Shape, ConstantOfShape, Range.
#include "ops/shape_of.h"

#include <fmt/format.h>

#include <algorithm>

#include "ops/data_movement.h"
#include "ops/meanings.h"
#include "ops/operands.h"
#include "ops/reference_support.h"
#include "ops/shape_support.h"

namespace onepass::ops {

namespace {

struct AxisRange {
  int64_t first;
  int64_t last;  ///< one past
};

AxisRange axes_of(const ir::Node& node, int64_t rank) {
  int64_t first = node.attributes.get_int("start", 0);
  int64_t last = node.attributes.get_int("end", rank);
  first = std::clamp<int64_t>(first < 0 ? first + rank : first, 0, rank);
  last = std::clamp<int64_t>(last < 0 ? last + rank : last, 0, rank);
  return {first, std::max(first, last)};
}

std::vector<ir::TensorType> shape_shape(const ShapeContext& context) {
  const AxisRange axes = axes_of(context.node, static_cast<int64_t>(context.type(0).dims.size()));
  return one_output(context, {ir::DType::i64, {axes.last - axes.first}});
}

void shape_reference(const ir::Node& node, Inputs inputs, Outputs outputs) {
  outputs[0] = *shape_value(node, inputs[0]->type());
}

/// The element that ConstantOfShape repeats.
ir::Tensor fill_value(const ir::Node& node) {
  const auto found = node.attributes.items().find("value");
  if (found == node.attributes.items().end()) return ir::Tensor::scalar(0.0F);
  const auto* value = std::get_if<ir::Tensor>(&found->second);
  if (value == nullptr || value->empty() || value->size() != 1)
    refuse(node, "unsupported_attribute", "attribute 'value' is no tensor of one element", "one element");
  return *value;
}

std::vector<ir::TensorType> constant_of_shape_shape(const ShapeContext& context) {
  return one_output(context, {fill_value(context.node).dtype(), int_operand(context, 0)});
}

void constant_of_shape_reference(const ir::Node& node, Inputs, Outputs outputs) {
  const ir::Tensor value = fill_value(node).cast(outputs[0].dtype());
  fill_with(outputs[0], value.bytes());
}

int64_t range_count(const ShapeContext& context, double first, double limit, double delta) {
  const double count = std::max(0.0, std::ceil((limit - first) / delta));
  if (delta == 0 || std::isnan(count))
    refuse(context.node, "bad_operand", fmt::format("range from {} to {} by {}", first, limit, delta),
           "finite bounds and a delta that is not 0");
  if (count > static_cast<double>(k_max_elements))
    refuse(context.node, "too_large", fmt::format("range from {} to {} by {}", first, limit, delta),
           "at most 2^31 elements");
  return static_cast<int64_t>(count);
}

std::vector<ir::TensorType> range_shape(const ShapeContext& context) {
  double operands[3];
  for (size_t i = 0; i < 3; ++i) {
    require_dtype(context, i, {ir::DType::i64, ir::DType::i32, ir::DType::f32, ir::DType::f64});
    require_same_dtype(context, 0, i);
    if (ir::element_count(context.type(i).dims) != 1)
      refuse(context.node, "bad_operand", fmt::format("input {} is {}", i, ir::to_string(context.type(i))),
             "a scalar");
    operands[i] = context.constant(i).to_doubles()[0];
  }
  return one_output(context,
                    {context.type(0).dtype, {range_count(context, operands[0], operands[1], operands[2])}});
}

template <class T>
void range_reference(const ir::Node&, Inputs inputs, Outputs outputs) {
  visit_numeric<T>(outputs[0].dtype(), [&]<class E>(E) {
    const E first = inputs[0]->data<E>()[0];
    const E delta = inputs[2]->data<E>()[0];
    const auto dst = outputs[0].data<E>();
    for (size_t i = 0; i < dst.size(); ++i) dst[i] = static_cast<E>(first + static_cast<E>(i) * delta);
  });
}

}  // namespace

std::optional<ir::Tensor> shape_value(const ir::Node& node, const ir::TensorType& type) {
  const AxisRange axes = axes_of(node, static_cast<int64_t>(type.dims.size()));
  if (type.counted_axis >= axes.first && type.counted_axis < axes.last) return std::nullopt;
  return ir::Tensor::of_ints(std::span(type.dims).subspan(axes.first, axes.last - axes.first));
}

const Meaning k_meaning_Shape{shape_shape, shape_reference, shape_reference};
const Meaning k_meaning_ConstantOfShape{constant_of_shape_shape, constant_of_shape_reference,
                                        constant_of_shape_reference};
const Meaning k_meaning_Range{range_shape, range_reference<float>, range_reference<double>};

}  // namespace onepass::ops
