// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "ops/meanings.h"
#include "ops/reference_support.h"
#include "ops/shape_support.h"
#include "ops/summation.h"

namespace onepass::ops {

namespace {

int64_t softmax_axis(const ir::Node& node, const ir::Shape& shape) {
  return normalized_axis(node, node.attributes.get_int("axis", -1), static_cast<int64_t>(shape.size()));
}

std::vector<ir::TensorType> softmax_shape(const ShapeContext& context) {
  require_float(context, 0);
  softmax_axis(context.node, context.type(0).dims);
  return one_output(context, context.type(0));
}

/// Calls body(first offset, step) for each line of `shape` along `axis`.
template <class Body>
void for_each_line(const ir::Shape& shape, int64_t axis, Body body) {
  if (ir::element_count(shape) == 0) return;
  const int64_t step = ir::row_major_strides(shape)[axis];
  const int64_t block = step * shape[axis];
  const int64_t blocks = ir::element_count(shape) / block;
  for (int64_t outer = 0; outer < blocks; ++outer)
    for (int64_t inner = 0; inner < step; ++inner) body(outer * block + inner, step);
}

/// dst = body(x - maximum, sum of exp(x - maximum)), maximum and sum taken over the line of x.
template <class T, class Body>
void map_lines(const ir::Node& node, Inputs inputs, Outputs outputs, Body body) {
  const ir::Shape& shape = inputs[0]->shape();
  const int64_t axis = softmax_axis(node, shape);
  for_each_line(shape, axis, [&](int64_t offset, int64_t step) {
    const T* src = elements<T>(*inputs[0]) + offset;
    T maximum = src[0];
    for (int64_t i = 1; i < shape[axis]; ++i) maximum = std::max(maximum, src[i * step]);
    const T sum =
        pairwise_sum<T>(0, shape[axis], [&](int64_t i) { return std::exp(src[i * step] - maximum); });
    for (int64_t i = 0; i < shape[axis]; ++i)
      elements<T>(outputs[0])[offset + i * step] = body(src[i * step] - maximum, sum);
  });
}

template <class T>
void softmax(const ir::Node& node, Inputs inputs, Outputs outputs) {
  map_lines<T>(node, inputs, outputs, [](T shifted, T sum) { return std::exp(shifted) / sum; });
}

template <class T>
void log_softmax(const ir::Node& node, Inputs inputs, Outputs outputs) {
  map_lines<T>(node, inputs, outputs, [](T shifted, T sum) { return shifted - std::log(sum); });
}

}  // namespace

const Meaning k_meaning_Softmax{softmax_shape, softmax<float>, softmax<double>};
const Meaning k_meaning_LogSoftmax{softmax_shape, log_softmax<float>, log_softmax<double>};

}  // namespace onepass::ops
