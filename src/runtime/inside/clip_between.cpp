// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "runtime/inside/routines.h"
#include "runtime/inside/unary_functions.h"

namespace onepass::inside {

namespace {

/// What bounds nothing.
template <class E>
Parameters<E> no_bounds() {
  using Limits = std::numeric_limits<E>;
  if constexpr (Limits::has_infinity)
    return {-Limits::infinity(), Limits::infinity()};
  else
    return {Limits::min(), Limits::max()};
}

template <class E>
void clip_between(const Call* call, int64_t slice_begin, int64_t slice_end) {
  Params params(call);
  int64_t operand = 1;
  Parameters<E> bounds = no_bounds<E>();
  if (params.take() != 0) bounds.alpha = *src_of<E>(call, operand++);
  if (params.take() != 0) bounds.beta = *src_of<E>(call, operand++);
  const E* src = src_of<E>(call, 0);
  E* dst = dst_of<E>(call, operand);
  const Range elems = units(call, slice_begin, slice_end);
  for (int64_t i = elems.begin; i < elems.end; ++i) dst[i] = ClipOf::apply(src[i], bounds);
}

}  // namespace

}  // namespace onepass::inside

using namespace onepass;

void onepass_clip_between_f32(const Call* call, int64_t begin, int64_t end) {
  inside::clip_between<float>(call, begin, end);
}
void onepass_clip_between_f64(const Call* call, int64_t begin, int64_t end) {
  inside::clip_between<double>(call, begin, end);
}
void onepass_clip_between_i64(const Call* call, int64_t begin, int64_t end) {
  inside::clip_between<int64_t>(call, begin, end);
}
void onepass_clip_between_i32(const Call* call, int64_t begin, int64_t end) {
  inside::clip_between<int32_t>(call, begin, end);
}
void onepass_clip_between_i8(const Call* call, int64_t begin, int64_t end) {
  inside::clip_between<int8_t>(call, begin, end);
}
void onepass_clip_between_u8(const Call* call, int64_t begin, int64_t end) {
  inside::clip_between<uint8_t>(call, begin, end);
}
