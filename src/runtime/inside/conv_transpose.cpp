// SPDX-License-Identifier: Apache-2.0
//
// Transposed convolutions that no kernel family takes. The order of sums is that of the reference: c, kd, kh,
// kw.
#include "runtime/inside/routines.h"
#include "runtime/inside/window.h"

namespace onepass::inside {

namespace {

struct ConvTranspose {
  int64_t src_channels, dst_channels;  ///< of one group
  int64_t groups;
  bool has_bias;
  Window window;  ///< src is the smaller map, pads are cut from dst

  explicit ConvTranspose(const Call* call) {
    Params params(call);
    src_channels = params.take();
    dst_channels = params.take();
    groups = params.take();
    has_bias = params.take() != 0;
    window = take_window(params);
  }
};

/// dst[w * stride + kw * dilation - pad] += weight * src[w] where that lies in the row.
void scatter_row(const Window& window, int64_t kw, float weight, const float* src, float* dst) {
  const int64_t stride = window.strides[2];
  const int64_t shift = kw * window.dilations[2] - window.pads[2];
  const int64_t begin = max_of(0, ceil_div(-shift, stride));
  const int64_t end = min_of(window.src[2], ceil_div(window.dst[2] - shift, stride));
  for (int64_t w = begin; w < end; ++w) dst[w * stride + shift] += weight * src[w];
}

void scatter_tap(const Window& window, const int64_t* tap, float weight, const float* src, float* dst) {
  for (int64_t d = 0; d < window.src[0]; ++d)
    for (int64_t h = 0; h < window.src[1]; ++h) {
      const int64_t dst_d = d * window.strides[0] + tap[0] * window.dilations[0] - window.pads[0];
      const int64_t dst_h = h * window.strides[1] + tap[1] * window.dilations[1] - window.pads[1];
      if (dst_d < 0 || dst_d >= window.dst[0] || dst_h < 0 || dst_h >= window.dst[1]) continue;
      scatter_row(window, tap[2], weight, src + (d * window.src[1] + h) * window.src[2],
                  dst + (dst_d * window.dst[1] + dst_h) * window.dst[2]);
    }
}

void scatter_plane(const Window& window, const float* weights, const float* src, float* dst) {
  int64_t tap[3];
  for (tap[0] = 0; tap[0] < window.kernel[0]; ++tap[0])
    for (tap[1] = 0; tap[1] < window.kernel[1]; ++tap[1])
      for (tap[2] = 0; tap[2] < window.kernel[2]; ++tap[2]) scatter_tap(window, tap, *weights++, src, dst);
}

/// One output channel of one image.
void conv_transpose_plane(const ConvTranspose& conv, const Call* call, int64_t plane) {
  const Window& window = conv.window;
  const int64_t group_image = plane / conv.dst_channels;
  const int64_t group = group_image % conv.groups;
  const int64_t m = plane % conv.dst_channels;
  float* dst = dst_of<float>(call, conv.has_bias ? 3 : 2) + plane * window.dst_plane();
  for (int64_t i = 0; i < window.dst_plane(); ++i) dst[i] = 0;
  for (int64_t c = 0; c < conv.src_channels; ++c) {
    const int64_t filter = (group * conv.src_channels + c) * conv.dst_channels + m;
    scatter_plane(window, src_of<float>(call, 1) + filter * window.taps(),
                  src_of<float>(call, 0) + (group_image * conv.src_channels + c) * window.src_plane(), dst);
  }
  if (!conv.has_bias) return;
  const float bias = src_of<float>(call, 2)[group * conv.dst_channels + m];
  for (int64_t i = 0; i < window.dst_plane(); ++i) dst[i] += bias;
}

}  // namespace

}  // namespace onepass::inside

using namespace onepass;

void onepass_conv_transpose_f32(const Call* call, int64_t begin, int64_t end) {
  const inside::ConvTranspose conv(call);
  const inside::Range planes = inside::units(call, begin, end);
  for (int64_t plane = planes.begin; plane < planes.end; ++plane)
    inside::conv_transpose_plane(conv, call, plane);
}
