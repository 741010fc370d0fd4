// SPDX-License-Identifier: Apache-2.0
#include "runtime/inside/routine.h"
#include "runtime/inside/routines.h"

namespace onepass::inside {

namespace {

/// Position of the largest element, the first of equals or the last. The first NaN wins.
template <class E>
int64_t position_of_max(const E* src, int64_t step, int64_t extent, bool last_of_equals) {
  int64_t best = 0;
  for (int64_t i = 1; i < extent; ++i) {
    const E candidate = src[i * step];
    const E leader = src[best * step];
    if (leader != leader) return best;
    if (candidate > leader || candidate != candidate || (last_of_equals && candidate == leader)) best = i;
  }
  return best;
}

template <class E>
void arg_max(const Call* call, int64_t slice_begin, int64_t slice_end) {
  Params params(call);
  const int64_t extent = params.take();
  const int64_t step = params.take();
  const bool last_of_equals = params.take() != 0;
  const Range lines = units(call, slice_begin, slice_end);
  for (int64_t line = lines.begin; line < lines.end; ++line) {
    const E* src = src_of<E>(call, 0) + line / step * extent * step + line % step;
    dst_of<int64_t>(call, 1)[line] = position_of_max(src, step, extent, last_of_equals);
  }
}

}  // namespace

}  // namespace onepass::inside

using namespace onepass;

void onepass_arg_max_f32(const Call* call, int64_t begin, int64_t end) {
  inside::arg_max<float>(call, begin, end);
}
void onepass_arg_max_i64(const Call* call, int64_t begin, int64_t end) {
  inside::arg_max<int64_t>(call, begin, end);
}
void onepass_arg_max_i32(const Call* call, int64_t begin, int64_t end) {
  inside::arg_max<int32_t>(call, begin, end);
}
void onepass_arg_max_i8(const Call* call, int64_t begin, int64_t end) {
  inside::arg_max<int8_t>(call, begin, end);
}
void onepass_arg_max_u8(const Call* call, int64_t begin, int64_t end) {
  inside::arg_max<uint8_t>(call, begin, end);
}
