// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "ops/data_movement.h"
#include "ops/meanings.h"
#include "ops/operands.h"
#include "ops/reference_support.h"
#include "ops/shape_support.h"

namespace onepass::ops {

namespace {

std::vector<int64_t> permutation_of(const ir::Node& node, int64_t rank) {
  std::vector<int64_t> axes = all_axes(rank);
  const std::vector<int64_t> reversed(axes.rbegin(), axes.rend());
  std::vector<int64_t> permutation = node.attributes.get_ints("perm", reversed);
  if (!std::is_permutation(axes.begin(), axes.end(), permutation.begin(), permutation.end()))
    refuse(node, "bad_permutation", "perm is " + ir::to_string(permutation), "each axis once");
  return permutation;
}

std::vector<ir::TensorType> transpose_shape(const ShapeContext& context) {
  const ir::TensorType& type = context.type(0);
  ir::TensorType result{type.dtype, {}};
  for (const int64_t axis : permutation_of(context.node, static_cast<int64_t>(type.dims.size()))) {
    if (axis == type.counted_axis) result.counted_axis = static_cast<int>(result.dims.size());
    result.dims.push_back(type.dims[axis]);
  }
  return one_output(context, result);
}

void transpose_reference(const ir::Node& node, Inputs inputs, Outputs outputs) {
  const auto rank = static_cast<int64_t>(inputs[0]->shape().size());
  transpose_into(*inputs[0], permutation_of(node, rank), outputs[0]);
}

}  // namespace

const Meaning k_meaning_Transpose{transpose_shape, transpose_reference, transpose_reference};

}  // namespace onepass::ops
