// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "ops/meanings.h"
#include "ops/operands.h"
#include "ops/reference_support.h"
#include "ops/shape_support.h"

namespace onepass::ops {

namespace {

std::vector<ir::TensorType> top_k_shape(const ShapeContext& context) {
  ir::TensorType type = context.type(0);
  const ir::Node& node = context.node;
  if (!is_numeric(type.dtype))
    refuse(node, "unsupported_type", "input 0 is " + ir::to_string(type), "numbers");
  const auto rank = static_cast<int64_t>(type.dims.size());
  const int64_t axis = normalized_axis(node, node.attributes.get_int("axis", -1), rank);
  if (axis == type.counted_axis) refuse_counted(context, 0, "another axis");
  const int64_t k = int_scalar_operand(context, 1);
  if (k < 0 || k > type.dims[axis])
    refuse(node, "bad_operand", fmt::format("k is {} for {} on axis {}", k, ir::to_string(type), axis),
           "0 to the extent of the axis");
  if (node.outputs.size() != 2)
    refuse(node, "bad_outputs", fmt::format("{} outputs are asked for", node.outputs.size()), "two");
  type.dims[axis] = k;
  ir::TensorType indices = type;
  indices.dtype = ir::DType::i64;
  return {checked(node, type), indices};
}

/// Total order with NaN above every number.
template <class E>
bool below(E a, E b) {
  if constexpr (std::is_floating_point_v<E>) {
    if (std::isnan(a) || std::isnan(b)) return !std::isnan(a) && std::isnan(b);
  }
  return a < b;
}

/// A line of elements along the axis.
template <class E>
struct Line {
  const E* data;
  int64_t extent;
  int64_t stride;
};

/// The k best positions, best first; of equal ones the lower position.
template <class E>
std::vector<int64_t> best_positions(const Line<E>& line, int64_t k, bool largest) {
  std::vector<int64_t> order(static_cast<size_t>(line.extent));
  std::iota(order.begin(), order.end(), int64_t{0});
  std::partial_sort(order.begin(), order.begin() + k, order.end(), [&](int64_t i, int64_t j) {
    const E a = line.data[i * line.stride];
    const E b = line.data[j * line.stride];
    if (below(a, b)) return !largest;
    if (below(b, a)) return largest;
    return i < j;
  });
  order.resize(static_cast<size_t>(k));
  return order;
}

template <class E>
void top_k_lines(const ir::Tensor& src, int64_t axis, bool largest, Outputs outputs) {
  const int64_t extent = src.shape()[axis];
  const int64_t k = outputs[0].shape()[axis];
  const int64_t stride = ir::row_major_strides(src.shape())[axis];
  const int64_t blocks = extent * stride == 0 ? 0 : src.size() / (extent * stride);
  E* values = elements<E>(outputs[0]);
  int64_t* positions = elements<int64_t>(outputs[1]);
  for (int64_t line = 0; line < blocks * stride; ++line) {
    const int64_t block = line / stride;
    const E* data = elements<E>(src) + block * extent * stride + line % stride;
    int64_t to = block * k * stride + line % stride;
    for (const int64_t position : best_positions<E>({data, extent, stride}, k, largest)) {
      values[to] = data[position * stride];
      positions[to] = position;
      to += stride;
    }
  }
}

template <class T>
void top_k_reference(const ir::Node& node, Inputs inputs, Outputs outputs) {
  const auto rank = static_cast<int64_t>(inputs[0]->shape().size());
  const int64_t axis = normalized_axis(node, node.attributes.get_int("axis", -1), rank);
  const bool largest = node.attributes.get_int("largest", 1) != 0;
  visit_numeric<T>(inputs[0]->dtype(),
                   [&]<class E>(E) { top_k_lines<E>(*inputs[0], axis, largest, outputs); });
}

}  // namespace

const Meaning k_meaning_TopK{top_k_shape, top_k_reference<float>, top_k_reference<double>};

}  // namespace onepass::ops
