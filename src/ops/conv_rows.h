// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace onepass::ops {

/// Up to this many output channels are computed together.
constexpr int64_t k_row_channels = 4;
/// A row may be read this many elements beyond its width.
constexpr int64_t k_row_slack_elems = 16;

/// dst[o][x] = sum over t, in order, of weights[o][t] * src[offsets[t] + x], for x < width.
template <class T>
struct RowTask {
  const T* src;
  const int64_t* offsets;
  int64_t taps;
  const T* weights;
  int64_t weight_pitch_elems;
  T* dst;
  int64_t dst_pitch_elems;
  int64_t width;
};

/// `channels` is 1 to k_row_channels. Products are rounded before they are added (no fused multiply-add).
void sum_rows(const RowTask<float>& task, int64_t channels);
void sum_rows(const RowTask<double>& task, int64_t channels);

}  // namespace onepass::ops
