// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "ops/conv_support.h"
#include "ops/meanings.h"
#include "ops/window.h"

namespace onepass::ops {

namespace {

std::vector<ir::TensorType> conv_transpose_shape(const ShapeContext& context) {
  check_conv_operands(context);
  const ir::Shape& src = context.type(0).dims;
  const ir::Shape& weight = context.type(1).dims;
  const int64_t groups = conv_groups(context.node);
  if (src[1] != weight[0] || weight[0] % groups != 0)
    refuse(context.node, "bad_weight",
           fmt::format("weight {} with {} groups on {}", ir::to_string(context.type(1)), groups,
                       ir::to_string(context.type(0))),
           "weight [c, m / groups, kernel...] with c a multiple of groups");
  int64_t channels = 0;
  if (__builtin_mul_overflow(weight[1], groups, &channels)) channels = k_max_elements + 1;
  check_conv_bias(context, channels);
  const Window window = conv_transpose_window(context.node, src, {weight.begin() + 2, weight.end()});
  ir::TensorType result{context.type(0).dtype, {src[0], channels}};
  result.dims.insert(result.dims.end(), window.dst.begin(), window.dst.end());
  return one_output(context, std::move(result));
}

struct Geometry : Window3d {
  using Window3d::Window3d;

  /// Where source element `i` goes through tap `k`; outside [0, dst) it is cut off.
  int64_t target(int axis, int64_t i, int64_t k) const {
    return i * strides[axis] + k * dilations[axis] - pads[axis];
  }
  bool inside(int axis, int64_t position) const { return position >= 0 && position < dst[axis]; }
};

/// dst[target] += weight * src over one plane, for one tap.
template <class T>
void scatter_tap(const Geometry& g, const Triple& tap, T weight, const T* src, T* dst) {
  for (int64_t d = 0; d < g.src[0]; ++d)
    for (int64_t h = 0; h < g.src[1]; ++h) {
      const int64_t dst_d = g.target(0, d, tap[0]);
      const int64_t dst_h = g.target(1, h, tap[1]);
      if (!g.inside(0, dst_d) || !g.inside(1, dst_h)) continue;
      const T* src_row = src + (d * g.src[1] + h) * g.src[2];
      T* dst_row = dst + (dst_d * g.dst[1] + dst_h) * g.dst[2];
      for (int64_t w = 0; w < g.src[2]; ++w) {
        const int64_t dst_w = g.target(2, w, tap[2]);
        if (g.inside(2, dst_w)) dst_row[dst_w] += weight * src_row[w];
      }
    }
}

template <class T>
void scatter_plane(const Geometry& g, const T* weights, const T* src, T* dst) {
  for (int64_t kd = 0; kd < g.kernel[0]; ++kd)
    for (int64_t kh = 0; kh < g.kernel[1]; ++kh)
      for (int64_t kw = 0; kw < g.kernel[2]; ++kw) scatter_tap(g, {kd, kh, kw}, *weights++, src, dst);
}

template <class T>
void conv_transpose(const ir::Node& node, Inputs inputs, Outputs outputs) {
  const ir::Shape& src_shape = inputs[0]->shape();
  const ir::Shape& weight_shape = inputs[1]->shape();
  const ir::Shape kernel(weight_shape.begin() + 2, weight_shape.end());
  const Geometry g(conv_transpose_window(node, src_shape, kernel));
  const int64_t groups = conv_groups(node);
  const int64_t src_channels = weight_shape[0] / groups;
  const int64_t dst_channels = weight_shape[1];
  const int64_t src_plane = g.src_plane();
  const int64_t dst_plane = g.dst_plane();
  const int64_t taps = ir::element_count(kernel);
  for (int64_t image = 0; image < src_shape[0] * groups; ++image)
    for (int64_t m = 0; m < dst_channels; ++m)
      for (int64_t c = 0; c < src_channels; ++c) {
        const int64_t weight_channel = (image % groups) * src_channels + c;
        scatter_plane(g, elements<T>(*inputs[1]) + (weight_channel * dst_channels + m) * taps,
                      elements<T>(*inputs[0]) + (image * src_channels + c) * src_plane,
                      elements<T>(outputs[0]) + (image * dst_channels + m) * dst_plane);
      }
  add_conv_bias<T>(optional_input(inputs, 2), outputs[0]);
}

}  // namespace

const Meaning k_meaning_ConvTranspose{conv_transpose_shape, conv_transpose<float>, conv_transpose<double>};

}  // namespace onepass::ops
