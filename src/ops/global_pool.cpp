// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "ops/meanings.h"
#include "ops/reference_support.h"
#include "ops/shape_support.h"
#include "ops/summation.h"

namespace onepass::ops {

namespace {

std::vector<ir::TensorType> global_pool_shape(const ShapeContext& context) {
  require_static_extents(context);
  require_float(context, 0);
  require_rank(context, 0, 3, 5);
  ir::TensorType result = context.type(0);
  if (std::count(result.dims.begin() + 2, result.dims.end(), 0) > 0)
    refuse(context.node, "bad_extent", fmt::format("input 0 is {}", ir::to_string(result)),
           "spatial extents >= 1");
  std::fill(result.dims.begin() + 2, result.dims.end(), 1);
  return one_output(context, std::move(result));
}

/// dst[plane] = function(src of the plane, its elements)
template <class T, class Function>
void for_each_plane(Inputs inputs, Outputs outputs, Function function) {
  const int64_t planes = outputs[0].size();
  const int64_t plane_elems = planes == 0 ? 0 : inputs[0]->size() / planes;
  for (int64_t plane = 0; plane < planes; ++plane)
    elements<T>(outputs[0])[plane] = function(elements<T>(*inputs[0]) + plane * plane_elems, plane_elems);
}

template <class T>
void global_average_pool(const ir::Node&, Inputs inputs, Outputs outputs) {
  for_each_plane<T>(inputs, outputs, [](const T* src, int64_t count) {
    return pairwise_sum<T>(0, count, [&](int64_t i) { return src[i]; }) / static_cast<T>(count);
  });
}

/// NaN wins.
template <class T>
void global_max_pool(const ir::Node&, Inputs inputs, Outputs outputs) {
  for_each_plane<T>(inputs, outputs, [](const T* src, int64_t count) {
    T best = src[0];
    for (int64_t i = 1; i < count; ++i)
      if (src[i] > best || src[i] != src[i]) best = src[i];
    return best;
  });
}

}  // namespace

const Meaning k_meaning_GlobalAveragePool{global_pool_shape, global_average_pool<float>,
                                          global_average_pool<double>};
const Meaning k_meaning_GlobalMaxPool{global_pool_shape, global_max_pool<float>, global_max_pool<double>};

}  // namespace onepass::ops
