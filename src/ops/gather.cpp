// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "ops/data_movement.h"
#include "ops/meanings.h"
#include "ops/operands.h"
#include "ops/reference_support.h"
#include "ops/shape_support.h"

namespace onepass::ops {

namespace {

int64_t axis_of(const ir::Node& node, size_t rank) {
  return normalized_axis(node, node.attributes.get_int("axis", 0), static_cast<int64_t>(rank));
}

std::vector<int64_t> checked_indices(const ir::Node& node, const ir::Tensor& indices, int64_t extent) {
  std::vector<int64_t> result = indices.to_ints();
  for (int64_t& index : result) {
    if (index < -extent || index >= extent)
      refuse(node, "index_out_of_range", fmt::format("index {} into an axis of {}", index, extent),
             fmt::format("{} to {}", -extent, extent - 1));
    if (index < 0) index += extent;
  }
  return result;
}

int counted_after_gather(const ShapeContext& context, int axis) {
  const ir::TensorType& data = context.type(0);
  const ir::TensorType& indices = context.type(1);
  const bool from_data = data.counted_axis >= 0 && data.counted_axis != axis;
  if (from_data && indices.counted_axis >= 0) refuse_counted(context, 1, "one data-dependent axis");
  if (indices.counted_axis >= 0) return axis + indices.counted_axis;
  if (!from_data) return -1;
  const bool behind = data.counted_axis > axis;
  return data.counted_axis + (behind ? static_cast<int>(indices.dims.size()) - 1 : 0);
}

std::vector<ir::TensorType> gather_shape(const ShapeContext& context) {
  const ir::TensorType& data = context.type(0);
  require_dtype(context, 1, {ir::DType::i64, ir::DType::i32});
  const int64_t axis = axis_of(context.node, data.dims.size());
  const ir::Shape& indices = context.type(1).dims;
  ir::TensorType result{data.dtype, data.dims};
  result.dims.erase(result.dims.begin() + axis);
  result.dims.insert(result.dims.begin() + axis, indices.begin(), indices.end());
  result.counted_axis = counted_after_gather(context, static_cast<int>(axis));
  if (context.constants.size() > 1 && context.constants[1] != nullptr)
    checked_indices(context.node, *context.constants[1], data.dims[axis]);
  return one_output(context, result);
}

void gather_reference(const ir::Node& node, Inputs inputs, Outputs outputs) {
  const int64_t axis = axis_of(node, inputs[0]->shape().size());
  const auto indices = checked_indices(node, *inputs[1], inputs[0]->shape()[axis]);
  outputs[0] = take(*inputs[0], axis, indices).reshaped(outputs[0].shape());
}

}  // namespace

const Meaning k_meaning_Gather{gather_shape, gather_reference, gather_reference};

}  // namespace onepass::ops
