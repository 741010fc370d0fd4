// SPDX-License-Identifier: Apache-2.0
//
// Along one axis, row y of the result gets src row i through tap k = y + pad - i * s (dilation 1). With
// y + pad = u * s + r, 0 <= r < s, the taps that count are r, r + s, ..., and tap r + t * s reads row u - t:
// all rows of phase r are one convolution over u with the kernel's every s-th tap.
#include "kernels/conv_phases.h"

#include <algorithm>

#include "base/diagnostic.h"
#include "kernels/conv.h"

namespace onepass::kernels {

namespace {

struct Axis {
  int64_t kernel, stride, dilation, pad, dst;
};

/// Neighbouring phases of one axis with the same taps and the same range of u.
struct PhaseRange {
  int64_t first = 0, count = 1;      ///< phases
  int64_t taps = 1;                  ///< of each
  int64_t begin = 0, extent = 0;     ///< of u
  int64_t dilation = 1, stride = 1;  ///< of the kernel of taps; of the axis
  int64_t pad = 0;                   ///< of the axis

  int64_t window_pad() const { return (taps - 1) * dilation - begin; }
  int64_t first_row() const { return begin * stride + first - pad; }
};

int64_t ceil_div(int64_t a, int64_t b) {
  return (a + b - 1) / b;
}

std::vector<PhaseRange> ranges_of(const Axis& axis) {
  std::vector<PhaseRange> ranges;
  for (int64_t r = 0; r < axis.stride; ++r) {
    PhaseRange range{.first = r, .stride = axis.stride, .pad = axis.pad};
    range.taps = ceil_div(axis.kernel - r, axis.stride);
    range.dilation = axis.dilation;
    range.begin = std::max<int64_t>(0, ceil_div(axis.pad - r, axis.stride));
    const int64_t last = axis.dst - 1 + axis.pad - r;
    range.extent = last < 0 ? 0 : last / axis.stride - range.begin + 1;
    if (range.extent <= 0) continue;
    const auto same = [&](const PhaseRange& before) {
      return before.first + before.count == r && before.taps == range.taps && before.begin == range.begin &&
             before.extent == range.extent;
    };
    if (!ranges.empty() && same(ranges.back()))
      ++ranges.back().count;
    else
      ranges.push_back(range);
  }
  return ranges;
}

ConvSpec convolution(const TransposedConv& t, const PhaseRange& h, const PhaseRange& w) {
  ConvSpec spec;
  spec.src = t.src;
  spec.kernel_h = h.taps;
  spec.kernel_w = w.taps;
  spec.dilation_h = h.dilation;
  spec.dilation_w = w.dilation;
  spec.pad_top = h.window_pad();
  spec.pad_left = w.window_pad();
  spec.groups = t.groups;
  spec.bias = t.bias;
  spec.dst = plain_map(t.dst.n, t.dst.c * h.count * w.count, h.extent, w.extent);
  if (t.stride_h == 1 && t.stride_w == 1) return spec;
  spec.phases = OutputPhases{.map = t.dst,
                             .step_h = t.stride_h,
                             .step_w = t.stride_w,
                             .count_h = h.count,
                             .count_w = w.count,
                             .first_h = h.first_row(),
                             .first_w = w.first_row(),
                             .tap_h = h.first,
                             .tap_w = w.first};
  return spec;
}

bool is_covered(const TransposedConv& t) {
  const bool strided = t.stride_h > 1 || t.stride_w > 1;
  const bool reached = t.kernel_h >= t.stride_h && t.kernel_w >= t.stride_w;  // every phase has a tap
  const bool depthwise = t.groups == t.src.c && t.groups == t.dst.c;
  const bool dilated = (t.stride_h > 1 && t.dilation_h > 1) || (t.stride_w > 1 && t.dilation_w > 1);
  return reached && !dilated && (!strided || t.groups == 1 || depthwise);
}

}  // namespace

std::vector<ConvSpec> convolutions_of(const TransposedConv& t) {
  if (!is_covered(t)) return {};
  std::vector<ConvSpec> specs;
  const std::vector<PhaseRange> columns =
      ranges_of({t.kernel_w, t.stride_w, t.dilation_w, t.pad_left, t.dst.w});
  for (const PhaseRange& h : ranges_of({t.kernel_h, t.stride_h, t.dilation_h, t.pad_top, t.dst.h}))
    for (const PhaseRange& w : columns) {
      if (h.window_pad() < 0 || w.window_pad() < 0) return {};
      specs.push_back(convolution(t, h, w));
      if (specs.back().phases) specs.back().phases->writes_halo = &w == &columns.front();
    }
  return specs;
}

const FeatureMap& destination(const ConvSpec& spec) {
  return spec.phases ? spec.phases->map : spec.dst;
}

void set_destination(ConvSpec& spec, const FeatureMap& map) {
  if (!spec.phases) {
    spec.dst = map;
    return;
  }
  spec.phases->map = map;
  const int64_t channels = spec.phases->count() * map.blocks() * map.block;
  spec.dst = blocked_map(map.n, channels, spec.dst.h, spec.dst.w, map.block);
  spec.dst.scalar = map.scalar;
}

std::vector<float> part_weights(const TransposedConv& t, const ConvSpec& part,
                                std::span<const float> weights) {
  const int64_t channels = t.src.c / t.groups, outputs = t.dst.c / t.groups;
  require(static_cast<int64_t>(weights.size()) == t.src.c * outputs * t.kernel_h * t.kernel_w,
          "weights have the shape of the transposed convolution");
  const OutputPhases phases = part.phases.value_or(OutputPhases{.map = part.dst});
  const int64_t lanes = phases.map.block;
  std::vector<float> result(part.dst.c * channels * part.kernel_h * part.kernel_w, 0.0F);
  const auto copy = [&](int64_t py, int64_t px, int64_t k, int64_t c) {
    const int64_t vector = k / lanes * phases.count() + py * phases.count_w + px;
    float* to = result.data() + ((vector * lanes + k % lanes) * channels + c) * part.kernel_h * part.kernel_w;
    const float* from =
        weights.data() + ((k / outputs * channels + c) * outputs + k % outputs) * t.kernel_h * t.kernel_w;
    for (int64_t th = 0; th < part.kernel_h; ++th)
      for (int64_t tw = 0; tw < part.kernel_w; ++tw) {
        const int64_t kh = phases.tap_h + py + (part.kernel_h - 1 - th) * t.stride_h;
        const int64_t kw = phases.tap_w + px + (part.kernel_w - 1 - tw) * t.stride_w;
        if (kh < t.kernel_h && kw < t.kernel_w) to[th * part.kernel_w + tw] = from[kh * t.kernel_w + kw];
      }
  };
  for (int64_t phase = 0; phase < phases.count(); ++phase)
    for (int64_t k = 0; k < t.dst.c; ++k)
      for (int64_t c = 0; c < channels; ++c) copy(phase / phases.count_w, phase % phases.count_w, k, c);
  return result;
}

}  // namespace onepass::kernels
