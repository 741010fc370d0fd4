// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "runtime/inside/routine.h"
#include "runtime/inside/routines.h"

using namespace onepass;

void onepass_batch_normalization_elements_f32(const Call* call, int64_t begin, int64_t end) {
  inside::Params params(call);
  const int64_t count = params.take();
  const float epsilon = params.take_float();
  const float* src = inside::src_of<float>(call, 0);
  const float* scale = inside::src_of<float>(call, 1);
  const float* bias = inside::src_of<float>(call, 2);
  const float* mean = inside::src_of<float>(call, 3);
  const float* variance = inside::src_of<float>(call, 4);
  float* dst = inside::dst_of<float>(call, 5);
  const inside::Range elems = inside::units(call, begin, end);
  for (int64_t i = elems.begin; i < elems.end; ++i) {
    const int64_t p = i % count;
    dst[i] = (src[i] - mean[p]) / std::sqrt(variance[p] + epsilon) * scale[p] + bias[p];
  }
}

void onepass_batch_normalization_channels_f32(const Call* call, int64_t begin, int64_t end) {
  inside::Params params(call);
  const int64_t channels = params.take();
  const int64_t plane_elems = params.take();
  const float epsilon = params.take_float();
  const inside::Range planes = inside::units(call, begin, end);
  for (int64_t plane = planes.begin; plane < planes.end; ++plane) {
    const int64_t c = plane % channels;
    const float scale = inside::src_of<float>(call, 1)[c];
    const float bias = inside::src_of<float>(call, 2)[c];
    const float mean = inside::src_of<float>(call, 3)[c];
    const float deviation = std::sqrt(inside::src_of<float>(call, 4)[c] + epsilon);
    const float* src = inside::src_of<float>(call, 0) + plane * plane_elems;
    float* dst = inside::dst_of<float>(call, 5) + plane * plane_elems;
    for (int64_t i = 0; i < plane_elems; ++i) dst[i] = (src[i] - mean) / deviation * scale + bias;
  }
}
