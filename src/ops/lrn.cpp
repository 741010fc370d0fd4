// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "ops/meanings.h"
#include "ops/reference_support.h"
#include "ops/shape_support.h"

namespace onepass::ops {

namespace {

std::vector<ir::TensorType> lrn_shape(const ShapeContext& context) {
  require_float(context, 0);
  require_static_extents(context);
  require_rank(context, 0, 2, 5);
  const int64_t size = context.node.attributes.get_int("size", 0);
  if (size < 1 || size > k_max_elements)
    refuse(context.node, "bad_attribute", fmt::format("size = {}", size), "size >= 1");
  return one_output(context, context.type(0));
}

/// x / (bias + alpha / size * sum of x^2 over `size` channels around)^beta
template <class T>
void lrn(const ir::Node& node, Inputs inputs, Outputs outputs) {
  const ir::Shape& shape = inputs[0]->shape();
  const int64_t size = node.attributes.get_int("size", 0);
  const T scale = static_cast<T>(node.attributes.get_float("alpha", 1e-4)) / static_cast<T>(size);
  const T beta = static_cast<T>(node.attributes.get_float("beta", 0.75));
  const T bias = static_cast<T>(node.attributes.get_float("bias", 1.0));
  const int64_t plane = ir::element_count({shape.begin() + 2, shape.end()});
  for (int64_t n = 0; n < shape[0]; ++n) {
    const T* src = elements<T>(*inputs[0]) + n * shape[1] * plane;
    T* dst = elements<T>(outputs[0]) + n * shape[1] * plane;
    for (int64_t c = 0; c < shape[1]; ++c) {
      const int64_t first = std::max<int64_t>(0, c - (size - 1) / 2);
      const int64_t last = std::min(shape[1] - 1, c + size / 2);
      for (int64_t i = 0; i < plane; ++i) {
        T sum = 0;
        for (int64_t near = first; near <= last; ++near) sum += src[near * plane + i] * src[near * plane + i];
        dst[c * plane + i] = src[c * plane + i] / std::pow(bias + scale * sum, beta);
      }
    }
  }
}

}  // namespace

const Meaning k_meaning_LRN{lrn_shape, lrn<float>, lrn<double>};

}  // namespace onepass::ops
