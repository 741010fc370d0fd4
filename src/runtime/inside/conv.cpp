// SPDX-License-Identifier: Apache-2.0
//
// Convolutions that no kernel family takes: any group, dilation and up to three spatial axes. Every output is
// summed in the order c, kd, kh, kw.
#include "runtime/inside/routines.h"
#include "runtime/inside/window.h"

namespace onepass::inside {

namespace {

struct Conv {
  int64_t src_channels, dst_channels;  ///< of one group
  int64_t groups;
  bool has_bias;
  Window window;

  explicit Conv(const Call* call) {
    Params params(call);
    src_channels = params.take();
    dst_channels = params.take();
    groups = params.take();
    has_bias = params.take() != 0;
    window = take_window(params);
  }
};

/// dst[w] += weight * src[w * stride - pad + kw * dilation] where that lies in the row.
void add_tap(const Window& window, int64_t kw, float weight, const float* src, float* dst) {
  const int64_t stride = window.strides[2];
  const int64_t shift = kw * window.dilations[2] - window.pads[2];
  const int64_t begin = max_of(0, ceil_div(-shift, stride));
  const int64_t end = min_of(window.dst[2], ceil_div(window.src[2] - shift, stride));
  if (stride == 1)
    for (int64_t w = begin; w < end; ++w) dst[w] += weight * src[w + shift];
  else
    for (int64_t w = begin; w < end; ++w) dst[w] += weight * src[w * stride + shift];
}

/// One channel's share of the row at (d, h).
void add_channel(const Window& window, const float* src, const float* weights, const int64_t* at,
                 float* dst) {
  for (int64_t kd = 0; kd < window.kernel[0]; ++kd)
    for (int64_t kh = 0; kh < window.kernel[1]; ++kh, weights += window.kernel[2]) {
      const int64_t d = at[0] * window.strides[0] - window.pads[0] + kd * window.dilations[0];
      const int64_t h = at[1] * window.strides[1] - window.pads[1] + kh * window.dilations[1];
      if (d < 0 || d >= window.src[0] || h < 0 || h >= window.src[1]) continue;
      const float* row = src + (d * window.src[1] + h) * window.src[2];
      for (int64_t kw = 0; kw < window.kernel[2]; ++kw) add_tap(window, kw, weights[kw], row, dst);
    }
}

void conv_row(const Conv& conv, const Call* call, int64_t row) {
  const Window& window = conv.window;
  const int64_t plane_rows = window.dst[0] * window.dst[1];
  const int64_t plane = row / plane_rows;  // image, group, output channel
  const int64_t at[2] = {row % plane_rows / window.dst[1], row % window.dst[1]};
  const int64_t group_image = plane / conv.dst_channels;
  const int64_t channel = plane % (conv.dst_channels * conv.groups);
  const float* src = src_of<float>(call, 0) + group_image * conv.src_channels * window.src_plane();
  const float* weights = src_of<float>(call, 1) + channel * conv.src_channels * window.taps();
  float* dst = dst_of<float>(call, conv.has_bias ? 3 : 2) + row * window.dst[2];
  for (int64_t w = 0; w < window.dst[2]; ++w) dst[w] = 0;
  for (int64_t c = 0; c < conv.src_channels; ++c)
    add_channel(window, src + c * window.src_plane(), weights + c * window.taps(), at, dst);
  if (!conv.has_bias) return;
  const float bias = src_of<float>(call, 2)[channel];
  for (int64_t w = 0; w < window.dst[2]; ++w) dst[w] += bias;
}

}  // namespace

}  // namespace onepass::inside

using namespace onepass;

void onepass_conv_f32(const Call* call, int64_t begin, int64_t end) {
  const inside::Conv conv(call);
  const inside::Range rows = inside::units(call, begin, end);
  for (int64_t row = rows.begin; row < rows.end; ++row) inside::conv_row(conv, call, row);
}
