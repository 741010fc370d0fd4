// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "runtime/inside/routine.h"
#include "runtime/inside/routines.h"

using namespace onepass;

void onepass_lrn_f32(const Call* call, int64_t begin, int64_t end) {
  inside::Params params(call);
  const int64_t channels = params.take();
  const int64_t plane = params.take();
  const int64_t size = params.take();
  const float scale = params.take_float() / static_cast<float>(size);
  const float beta = params.take_float();
  const float bias = params.take_float();
  const inside::Range planes = inside::units(call, begin, end);
  for (int64_t unit = planes.begin; unit < planes.end; ++unit) {
    const int64_t c = unit % channels;
    const float* src = inside::src_of<float>(call, 0) + (unit - c) * plane;
    float* dst = inside::dst_of<float>(call, 1) + unit * plane;
    const int64_t first = inside::max_of(0, c - (size - 1) / 2);
    const int64_t last = inside::min_of(channels - 1, c + size / 2);
    for (int64_t i = 0; i < plane; ++i) {
      float sum = 0;
      for (int64_t near = first; near <= last; ++near) sum += src[near * plane + i] * src[near * plane + i];
      dst[i] = src[c * plane + i] / std::pow(bias + scale * sum, beta);
    }
  }
}
