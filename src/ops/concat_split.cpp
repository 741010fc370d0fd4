// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "ops/data_movement.h"
#include "ops/meanings.h"
#include "ops/operands.h"
#include "ops/reference_support.h"
#include "ops/shape_support.h"

namespace onepass::ops {

namespace {

bool agree_beside(const ir::TensorType& a, const ir::TensorType& b, int64_t axis) {
  if (a.dims.size() != b.dims.size()) return false;
  for (size_t i = 0; i < a.dims.size(); ++i)
    if (static_cast<int64_t>(i) != axis && a.dims[i] != b.dims[i]) return false;
  return true;
}

std::vector<ir::TensorType> concat_shape(const ShapeContext& context) {
  ir::TensorType result = context.type(0);
  const auto rank = static_cast<int64_t>(result.dims.size());
  const int64_t axis = normalized_axis(context.node, required_int(context.node, "axis"), rank);
  if (result.counted_axis == axis) refuse_counted(context, 0, "another axis");
  for (size_t i = 1; i < context.inputs.size(); ++i) {
    const ir::TensorType& type = context.type(i);
    require_same_dtype(context, 0, i);
    if (type.counted_axis == axis) refuse_counted(context, i, "another axis");
    if (!agree_beside(result, type, axis) || type.counted_axis != result.counted_axis)
      refuse(context.node, "bad_operand",
             fmt::format("inputs 0 and {} are {} and {}, joined on axis {}", i,
                         ir::to_string(context.type(0)), ir::to_string(type), axis),
             "operands that agree on every other axis");
    result.dims[axis] += type.dims[axis];
  }
  return one_output(context, result);
}

void concat_reference(const ir::Node& node, Inputs inputs, Outputs outputs) {
  ir::Tensor& dst = outputs[0];
  const int64_t axis =
      normalized_axis(node, required_int(node, "axis"), static_cast<int64_t>(dst.shape().size()));
  StridedBlock to = whole(dst);
  for (const ir::Tensor* src : inputs) {
    copy_block(*src, whole(*src), dst, to, src->shape());
    to.offset += src->shape()[axis] * to.strides[axis];
  }
}

/// Sizes when no `split` operand is given: equal, with a smaller last one where num_outputs allows it.
std::vector<int64_t> equal_sizes(const ir::Node& node, int64_t extent) {
  const auto count = static_cast<int64_t>(node.outputs.size());
  const bool uneven = node.attributes.has("num_outputs");
  const int64_t asked = node.attributes.get_int("num_outputs", count);
  const int64_t size = (extent + count - 1) / count;
  const int64_t last = extent - size * (count - 1);
  if (asked != count || last < 0 || (!uneven && last != size))
    refuse(node, "bad_split", fmt::format("extent {} is split into {} of {} outputs", extent, asked, count),
           "as many parts as outputs, of equal size");
  std::vector<int64_t> sizes(node.outputs.size(), size);
  sizes.back() = last;
  return sizes;
}

void check_sizes(const ir::Node& node, const std::vector<int64_t>& sizes, int64_t extent) {
  int64_t left = extent;
  bool fits = sizes.size() == node.outputs.size();
  for (const int64_t size : sizes) {
    fits = fits && size >= 0 && size <= left;
    if (fits) left -= size;
  }
  if (!fits || left != 0)
    refuse(node, "bad_split",
           fmt::format("extent {} is split into {} for {} outputs", extent, ir::to_string(sizes),
                       node.outputs.size()),
           "one size per output, with the extent as their sum");
}

std::vector<ir::TensorType> split_shape(const ShapeContext& context) {
  const ir::TensorType& type = context.type(0);
  const ir::Node& node = context.node;
  const int64_t axis =
      normalized_axis(node, node.attributes.get_int("axis", 0), static_cast<int64_t>(type.dims.size()));
  if (type.counted_axis == axis) refuse_counted(context, 0, "another axis");
  const std::vector<int64_t> sizes =
      context.has(1) ? int_operand(context, 1) : equal_sizes(node, type.dims[axis]);
  check_sizes(node, sizes, type.dims[axis]);
  std::vector<ir::TensorType> results(sizes.size(), type);
  for (size_t i = 0; i < sizes.size(); ++i) results[i].dims[axis] = sizes[i];
  return results;
}

void split_reference(const ir::Node& node, Inputs inputs, Outputs outputs) {
  const ir::Tensor& src = *inputs[0];
  const int64_t axis =
      normalized_axis(node, node.attributes.get_int("axis", 0), static_cast<int64_t>(src.shape().size()));
  StridedBlock from = whole(src);
  for (ir::Tensor& dst : outputs) {
    copy_block(src, from, dst, whole(dst), dst.shape());
    from.offset += dst.shape()[axis] * from.strides[axis];
  }
}

}  // namespace

const Meaning k_meaning_Concat{concat_shape, concat_reference, concat_reference};
const Meaning k_meaning_Split{split_shape, split_reference, split_reference};

}  // namespace onepass::ops
