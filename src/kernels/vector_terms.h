// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>

#include "loops/builder.h"

// Short names for vector_math*.cpp: there a formula is easier to check when it reads like one.
namespace onepass::kernels::terms {

using loops::Value;

inline Value number(double value, const Value& like) {
  return loops::constant(value, like->type.lanes);
}
inline Value integer(int64_t value, const Value& like) {
  return loops::constant_i32(value, like->type.lanes);
}

inline Value add(Value a, Value b) {
  return loops::binary(loops::Binary::add, std::move(a), std::move(b));
}
inline Value sub(Value a, Value b) {
  return loops::binary(loops::Binary::sub, std::move(a), std::move(b));
}
inline Value mul(Value a, Value b) {
  return loops::binary(loops::Binary::mul, std::move(a), std::move(b));
}
inline Value div(Value a, Value b) {
  return loops::binary(loops::Binary::div, std::move(a), std::move(b));
}
inline Value max(Value a, Value b) {
  return loops::binary(loops::Binary::max, std::move(a), std::move(b));
}
inline Value min(Value a, Value b) {
  return loops::binary(loops::Binary::min, std::move(a), std::move(b));
}
inline Value neg(Value a) {
  return loops::unary(loops::Unary::neg, std::move(a));
}
inline Value abs(Value a) {
  return loops::unary(loops::Unary::abs, std::move(a));
}

/// c0 + x * (c1 + x * (c2 + ...)), one fma per step.
inline Value polynomial(const Value& x, std::initializer_list<double> coefficients) {
  auto at = std::rbegin(coefficients);
  Value sum = number(*at++, x);
  for (; at != std::rend(coefficients); ++at) sum = loops::fma(sum, x, number(*at, x));
  return sum;
}

/// 2^n for integral n in [-126, 127].
inline Value power_of_two(const Value& n) {
  const Value biased = add(n, integer(127, n));
  return loops::unary(loops::Unary::bits_to_f32,
                      loops::binary(loops::Binary::shift_left, biased, integer(23, n)));
}

/// |magnitude| >= 0 with the sign of `sign`.
inline Value with_sign_of(const Value& magnitude, const Value& sign) {
  const Value sign_bit = loops::binary(loops::Binary::bit_and, loops::unary(loops::Unary::bits_to_i32, sign),
                                       integer(INT32_MIN, sign));
  const Value bits =
      loops::binary(loops::Binary::bit_or, loops::unary(loops::Unary::bits_to_i32, magnitude), sign_bit);
  return loops::unary(loops::Unary::bits_to_f32, bits);
}

}  // namespace onepass::kernels::terms
