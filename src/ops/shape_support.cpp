// SPDX-License-Identifier: Apache-2.0
#include "ops/shape_support.h"

#include <fmt/format.h>

#include <algorithm>

namespace onepass::ops {

namespace {

/// `axis` of a shape of `rank` axes, -1 when there is none, as an axis of a broadcast shape of `result_rank`.
int aligned_axis(int axis, size_t rank, size_t result_rank) {
  return axis < 0 ? -1 : axis + static_cast<int>(result_rank - rank);
}

int64_t extent_from_back(const ir::Shape& shape, size_t from_back) {
  return from_back < shape.size() ? shape[shape.size() - 1 - from_back] : 1;
}

}  // namespace

void refuse(const ir::Node& node, std::string code, std::string message, std::string accepted) {
  Diagnostic diagnostic = ir::diagnostic_at(node, std::move(code), std::move(message));
  diagnostic.accepted = std::move(accepted);
  throw Error(std::move(diagnostic));
}

const ir::TensorType& ShapeContext::type(size_t input) const {
  if (!has(input))
    refuse(node, "missing_input", fmt::format("input {} is missing", input),
           fmt::format("input {} present", input));
  return *inputs[input];
}

const ir::Tensor& ShapeContext::constant(size_t input) const {
  type(input);
  if (input >= constants.size() || constants[input] == nullptr)
    refuse(node, "dynamic_operand", fmt::format("input {} is not known at compile time", input),
           "a constant, or a value computed from constants and shapes");
  return *constants[input];
}

ir::TensorType checked(const ir::Node& node, ir::TensorType type) {
  int64_t count = 1;
  for (int64_t extent : type.dims) {
    if (extent < 0)
      refuse(node, "bad_extent", fmt::format("the result would be {}", ir::to_string(type)), "extents >= 0");
    if (__builtin_mul_overflow(count, extent, &count) || count > k_max_elements)
      refuse(node, "too_large", fmt::format("the result would be {}", ir::to_string(type)),
             fmt::format("at most {} elements", k_max_elements));
  }
  return type;
}

std::vector<ir::TensorType> one_output(const ShapeContext& context, ir::TensorType type) {
  if (context.node.outputs.size() > 1)
    refuse(context.node, "too_many_outputs",
           fmt::format("{} outputs are asked for", context.node.outputs.size()), "one output");
  return {checked(context.node, std::move(type))};
}

int64_t normalized_axis(const ir::Node& node, int64_t axis, int64_t rank) {
  if (axis < -rank || axis >= rank)
    refuse(node, "bad_axis", fmt::format("axis {} of a tensor of rank {}", axis, rank),
           fmt::format("axes {} to {}", -rank, rank - 1));
  return axis < 0 ? axis + rank : axis;
}

std::vector<int64_t> normalized_axes(const ir::Node& node, const std::vector<int64_t>& axes, int64_t rank) {
  std::vector<int64_t> result;
  for (int64_t axis : axes) result.push_back(normalized_axis(node, axis, rank));
  std::sort(result.begin(), result.end());
  const auto repeated = std::adjacent_find(result.begin(), result.end());
  if (repeated != result.end())
    refuse(node, "bad_axis", fmt::format("axis {} is named twice", *repeated), "each axis once");
  return result;
}

ir::Shape broadcast_shapes(const ir::Node& node, const ir::Shape& a, const ir::Shape& b) {
  ir::Shape result(std::max(a.size(), b.size()));
  for (size_t from_back = 0; from_back < result.size(); ++from_back) {
    const int64_t extent_a = extent_from_back(a, from_back);
    const int64_t extent_b = extent_from_back(b, from_back);
    if (extent_a != extent_b && extent_a != 1 && extent_b != 1)
      refuse(node, "not_broadcastable",
             fmt::format("operands {} and {} do not broadcast", ir::to_string(a), ir::to_string(b)),
             "extents that are equal or 1, counted from the last axis");
    result[result.size() - 1 - from_back] = extent_a == 1 ? extent_b : extent_a;
  }
  return result;
}

ir::TensorType broadcast_types(const ir::Node& node, const ir::TensorType& a, const ir::TensorType& b) {
  ir::TensorType result{a.dtype, broadcast_shapes(node, a.dims, b.dims)};
  const int counted_a = aligned_axis(a.counted_axis, a.dims.size(), result.dims.size());
  const int counted_b = aligned_axis(b.counted_axis, b.dims.size(), result.dims.size());
  if (counted_a >= 0 && counted_b >= 0 && counted_a != counted_b)
    refuse(node, "counted_extent", "the operands have data-dependent extents on different axes",
           "at most one data-dependent axis");
  result.counted_axis = std::max(counted_a, counted_b);
  return result;
}

bool is_float(ir::DType dtype) {
  return dtype == ir::DType::f32 || dtype == ir::DType::f64;
}

bool is_integer(ir::DType dtype) {
  return dtype == ir::DType::i64 || dtype == ir::DType::i32 || dtype == ir::DType::i8 ||
         dtype == ir::DType::u8;
}

bool is_numeric(ir::DType dtype) {
  return is_float(dtype) || is_integer(dtype);
}

void require_dtype(const ShapeContext& context, size_t input, std::initializer_list<ir::DType> accepted) {
  const ir::DType dtype = context.type(input).dtype;
  if (std::find(accepted.begin(), accepted.end(), dtype) != accepted.end()) return;
  std::string names;
  for (ir::DType d : accepted) names += (names.empty() ? "" : ", ") + std::string(ir::name(d));
  refuse(context.node, "unsupported_type",
         fmt::format("input {} is {}", input, ir::to_string(context.type(input))), names);
}

void require_float(const ShapeContext& context, size_t input) {
  require_dtype(context, input, {ir::DType::f32, ir::DType::f64});
}

void require_same_dtype(const ShapeContext& context, size_t input_a, size_t input_b) {
  if (!context.has(input_a) || !context.has(input_b)) return;
  const ir::TensorType& a = context.type(input_a);
  const ir::TensorType& b = context.type(input_b);
  if (a.dtype == b.dtype) return;
  refuse(context.node, "unsupported_type",
         fmt::format("inputs {} and {} are {} and {}", input_a, input_b, ir::to_string(a), ir::to_string(b)),
         "the same element type");
}

void require_rank(const ShapeContext& context, size_t input, int64_t min_rank, int64_t max_rank) {
  const ir::TensorType& type = context.type(input);
  const auto rank = static_cast<int64_t>(type.dims.size());
  if (rank >= min_rank && rank <= max_rank) return;
  const std::string accepted = min_rank == max_rank ? fmt::format("rank {}", min_rank)
                                                    : fmt::format("rank {} to {}", min_rank, max_rank);
  refuse(context.node, "bad_rank", fmt::format("input {} is {}", input, ir::to_string(type)), accepted);
}

void require_static_extents(const ShapeContext& context) {
  for (size_t input = 0; input < context.inputs.size(); ++input)
    if (context.has(input) && context.type(input).counted_axis >= 0)
      refuse(context.node, "counted_extent",
             fmt::format("input {} is {}: its extent depends on data", input,
                         ir::to_string(context.type(input))),
             "extents known at compile time");
}

}  // namespace onepass::ops
