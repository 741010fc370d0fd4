// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "runtime/inside/pairwise_sum.h"
#include "runtime/inside/routine.h"
#include "runtime/inside/routines.h"

namespace onepass::inside {

namespace {

/// A line of `extent` elements, `step` apart.
struct Line {
  const float* src;
  float* dst;
  int64_t extent, step;
};

float maximum_of(const Line& line) {
  float maximum = line.src[0];
  for (int64_t i = 1; i < line.extent; ++i) {
    const float x = line.src[i * line.step];
    maximum = maximum < x ? x : maximum;
  }
  return maximum;
}

/// Each exponential once: dst holds them until the sum is known.
void softmax_line(const Line& line) {
  const float maximum = maximum_of(line);
  for (int64_t i = 0; i < line.extent; ++i)
    line.dst[i * line.step] = std::exp(line.src[i * line.step] - maximum);
  const float sum = pairwise_sum<float>(0, line.extent, [&](int64_t i) { return line.dst[i * line.step]; });
  for (int64_t i = 0; i < line.extent; ++i) line.dst[i * line.step] /= sum;
}

void log_softmax_line(const Line& line) {
  const float maximum = maximum_of(line);
  const float sum = pairwise_sum<float>(
      0, line.extent, [&](int64_t i) { return std::exp(line.src[i * line.step] - maximum); });
  const float log_sum = std::log(sum);
  for (int64_t i = 0; i < line.extent; ++i)
    line.dst[i * line.step] = (line.src[i * line.step] - maximum) - log_sum;
}

template <class Function>
void for_each_line(const Call* call, int64_t slice_begin, int64_t slice_end, Function function) {
  Params params(call);
  const int64_t extent = params.take();
  const int64_t step = params.take();
  const Range lines = units(call, slice_begin, slice_end);
  for (int64_t line = lines.begin; line < lines.end; ++line) {
    const int64_t offset = line / step * extent * step + line % step;
    function(Line{src_of<float>(call, 0) + offset, dst_of<float>(call, 1) + offset, extent, step});
  }
}

}  // namespace

}  // namespace onepass::inside

using namespace onepass;

void onepass_softmax_f32(const Call* call, int64_t begin, int64_t end) {
  inside::for_each_line(call, begin, end, inside::softmax_line);
}
void onepass_log_softmax_f32(const Call* call, int64_t begin, int64_t end) {
  inside::for_each_line(call, begin, end, inside::log_softmax_line);
}
