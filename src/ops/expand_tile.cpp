// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "ops/data_movement.h"
#include "ops/meanings.h"
#include "ops/operands.h"
#include "ops/reference_support.h"
#include "ops/shape_support.h"

namespace onepass::ops {

namespace {

std::vector<ir::TensorType> expand_shape(const ShapeContext& context) {
  const ir::TensorType& type = context.type(0);
  const ir::TensorType target{type.dtype, int_operand(context, 1)};
  checked(context.node, target);
  ir::TensorType result = broadcast_types(context.node, type, target);
  if (result.counted_axis >= 0) {
    const int64_t axis = result.counted_axis + static_cast<int64_t>(target.dims.size() - result.dims.size());
    if (axis >= 0 && target.dims[axis] != 1) refuse_counted(context, 0, "1 on the data-dependent axis");
  }
  return one_output(context, result);
}

void expand_reference(const ir::Node&, Inputs inputs, Outputs outputs) {
  const ir::Tensor& src = *inputs[0];
  const ir::Shape strides = ir::row_major_strides(src.shape());
  const size_t added = outputs[0].shape().size() - src.shape().size();
  StridedBlock from{0, ir::Shape(outputs[0].shape().size(), 0)};
  for (size_t axis = 0; axis < strides.size(); ++axis)
    if (src.shape()[axis] != 1) from.strides[added + axis] = strides[axis];
  copy_block(src, from, outputs[0], whole(outputs[0]), outputs[0].shape());
}

std::vector<ir::TensorType> tile_shape(const ShapeContext& context) {
  ir::TensorType type = context.type(0);
  const std::vector<int64_t> repeats = int_operand(context, 1);
  if (repeats.size() != type.dims.size())
    refuse(context.node, "bad_operand", fmt::format("{} repeats for {}", repeats.size(), ir::to_string(type)),
           "one for each axis");
  for (size_t axis = 0; axis < repeats.size(); ++axis) {
    if (repeats[axis] < 0 || repeats[axis] > k_max_elements)
      refuse(context.node, repeats[axis] < 0 ? "bad_operand" : "too_large",
             "repeats are " + ir::to_string(repeats), "0 to 2^31");
    type.dims[axis] *= repeats[axis];
  }
  return one_output(context, type);
}

void tile_reference(const ir::Node&, Inputs inputs, Outputs outputs) {
  ir::Tensor data = *inputs[0];
  for (int64_t axis = static_cast<int64_t>(data.shape().size()) - 1; axis >= 0; --axis) {
    const int64_t extent = data.shape()[axis];
    if (outputs[0].shape()[axis] == extent) continue;
    std::vector<int64_t> indices;
    for (int64_t i = 0; i < outputs[0].shape()[axis]; ++i) indices.push_back(i % extent);
    data = take(data, axis, indices);
  }
  outputs[0] = data;
}

}  // namespace

const Meaning k_meaning_Expand{expand_shape, expand_reference, expand_reference};
const Meaning k_meaning_Tile{tile_shape, tile_reference, tile_reference};

}  // namespace onepass::ops
