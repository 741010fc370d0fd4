// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "ops/conv_rows.h"
#include "ops/conv_support.h"
#include "ops/meanings.h"
#include "ops/reference_support.h"
#include "ops/window.h"

namespace onepass::ops {

namespace {

std::vector<ir::TensorType> conv_shape(const ShapeContext& context) {
  check_conv_operands(context);
  const ir::Shape& src = context.type(0).dims;
  const ir::Shape& weight = context.type(1).dims;
  const int64_t groups = conv_groups(context.node);
  if (src[1] != weight[1] * groups || weight[0] % groups != 0)
    refuse(context.node, "bad_weight",
           fmt::format("weight {} with {} groups on {}", ir::to_string(context.type(1)), groups,
                       ir::to_string(context.type(0))),
           "weight [m, c / groups, kernel...] with m a multiple of groups");
  check_conv_bias(context, weight[0]);
  const Window window = conv_window(context.node, src, {weight.begin() + 2, weight.end()});
  ir::TensorType result{context.type(0).dtype, {src[0], weight[0]}};
  result.dims.insert(result.dims.end(), window.dst.begin(), window.dst.end());
  return one_output(context, std::move(result));
}

/// A convolution over d h w, and how its zero-padded source is laid out. Along w the padded row is cut into
/// one part per phase of the stride, so that whatever a tap reads for successive outputs lies side by side.
struct Geometry : Window3d {
  explicit Geometry(const Window& window);

  Triple padded{};          ///< what the windows span
  int64_t phase_elems = 0;  ///< elements of one phase of a row
  int64_t row_elems = 0;    ///< all phases of a row
  int64_t plane_elems = 0;  ///< one channel

  int64_t column(int64_t w) const { return (w % strides[2]) * phase_elems + w / strides[2]; }
  int64_t row(int64_t d, int64_t h) const { return (d * padded[1] + h) * row_elems; }
};

/// A 1x1 kernel that touches every element sees one long row.
bool is_one_row(const Window& window) {
  for (size_t axis = 0; axis < window.rank(); ++axis)
    if (window.kernel[axis] != 1 || window.strides[axis] != 1 || window.dst[axis] != window.src[axis])
      return false;
  return true;
}

Geometry::Geometry(const Window& window) : Window3d(window) {
  if (is_one_row(window)) src = dst = {1, 1, ir::element_count(window.src)};
  for (int axis = 0; axis < 3; ++axis)
    padded[axis] = (dst[axis] - 1) * strides[axis] + (kernel[axis] - 1) * dilations[axis] + 1;
  phase_elems = (padded[2] + strides[2] - 1) / strides[2];
  row_elems = phase_elems * strides[2];
  plane_elems = row_elems * padded[0] * padded[1];
}

/// Where each weight of a filter [channels, kd, kh, kw] reads, relative to the row of the output.
std::vector<int64_t> tap_offsets(const Geometry& g, int64_t channels) {
  std::vector<int64_t> offsets;
  for (int64_t c = 0; c < channels; ++c)
    for (int64_t kd = 0; kd < g.kernel[0]; ++kd)
      for (int64_t kh = 0; kh < g.kernel[1]; ++kh)
        for (int64_t kw = 0; kw < g.kernel[2]; ++kw)
          offsets.push_back(c * g.plane_elems + g.row(kd * g.dilations[0], kh * g.dilations[1]) +
                            g.column(kw * g.dilations[2]));
  return offsets;
}

/// Copies the part of one source channel that some window reads into a plane of zeros.
template <class T>
void pad_plane(const Geometry& g, const T* src, T* plane) {
  for (int64_t d = 0; d < g.src[0]; ++d)
    for (int64_t h = 0; h < g.src[1]; ++h) {
      const T* src_row = src + (d * g.src[1] + h) * g.src[2];
      if (d + g.pads[0] >= g.padded[0] || h + g.pads[1] >= g.padded[1]) continue;
      T* row = plane + g.row(d + g.pads[0], h + g.pads[1]);
      const int64_t end = std::min(g.src[2], g.padded[2] - g.pads[2]);
      for (int64_t w = 0; w < end; ++w) row[g.column(w + g.pads[2])] = src_row[w];
    }
}

/// All outputs of one group of one image, without bias. Rows are walked in pieces that keep the source in
/// the first cache levels; every output is summed in the order c, kd, kh, kw.
template <class T>
void convolve_group(const Geometry& g, const std::vector<T>& padded, const std::vector<int64_t>& offsets,
                    const T* weights, std::span<T> dst) {
  constexpr int64_t piece = 64;
  const auto taps = static_cast<int64_t>(offsets.size());
  const int64_t dst_plane = g.dst_plane();
  const int64_t channels = static_cast<int64_t>(dst.size()) / dst_plane;
  for (int64_t d = 0; d < g.dst[0]; ++d)
    for (int64_t h = 0; h < g.dst[1]; ++h)
      for (int64_t w = 0; w < g.dst[2]; w += piece)
        for (int64_t m = 0; m < channels; m += k_row_channels) {
          const RowTask<T> task{.src = padded.data() + g.row(d * g.strides[0], h * g.strides[1]) + w,
                                .offsets = offsets.data(),
                                .taps = taps,
                                .weights = weights + m * taps,
                                .weight_pitch_elems = taps,
                                .dst = dst.data() + m * dst_plane + (d * g.dst[1] + h) * g.dst[2] + w,
                                .dst_pitch_elems = dst_plane,
                                .width = std::min(piece, g.dst[2] - w)};
          sum_rows(task, std::min(k_row_channels, channels - m));
        }
}

template <class T>
void conv(const ir::Node& node, Inputs inputs, Outputs outputs) {
  const ir::Shape& src_shape = inputs[0]->shape();
  const ir::Shape& weight_shape = inputs[1]->shape();
  const Geometry g(conv_window(node, src_shape, {weight_shape.begin() + 2, weight_shape.end()}));
  const int64_t groups = conv_groups(node);
  const int64_t src_channels = weight_shape[1];
  const int64_t dst_channels = weight_shape[0] / groups;
  const int64_t src_plane = g.src_plane();
  const int64_t dst_group = dst_channels * g.dst_plane();
  const std::vector<int64_t> offsets = tap_offsets(g, src_channels);
  std::vector<T> padded(src_channels * g.plane_elems + k_row_slack_elems, T(0));
  for (int64_t image = 0; image < src_shape[0] * groups; ++image) {
    const T* src = elements<T>(*inputs[0]) + image * src_channels * src_plane;
    for (int64_t c = 0; c < src_channels; ++c)
      pad_plane(g, src + c * src_plane, padded.data() + c * g.plane_elems);
    const T* weights =
        elements<T>(*inputs[1]) + (image % groups) * dst_channels * static_cast<int64_t>(offsets.size());
    convolve_group<T>(g, padded, offsets, weights,
                      {elements<T>(outputs[0]) + image * dst_group, static_cast<size_t>(dst_group)});
  }
  add_conv_bias<T>(optional_input(inputs, 2), outputs[0]);
}

}  // namespace

const Meaning k_meaning_Conv{conv_shape, conv<float>, conv<double>};

}  // namespace onepass::ops
