// SPDX-License-Identifier: Apache-2.0
//
// log and log(1 + exp(x)). Coefficients: minimax by the Remez exchange, rounded to float.
#include <limits>

#include "kernels/vector_math.h"
#include "kernels/vector_terms.h"

namespace onepass::kernels {

using namespace terms;

namespace {

struct Split {
  Value exponent;  ///< f32, integral
  Value fraction;  ///< x = 2^exponent (1 + fraction), fraction in [sqrt(1/2) - 1, sqrt(2) - 1)
};

/// For positive finite x, denormals included.
Split split(const Value& x) {
  constexpr int64_t k_bits_of_sqrt_half = 0x3f3504f3;
  constexpr double k_smallest_normal = 0x1p-126;
  const Value tiny = number(k_smallest_normal, x);
  const Value scaled = loops::select(loops::Compare::lt, x, tiny, mul(x, number(0x1p23, x)), x);
  const Value scale = loops::select(loops::Compare::lt, x, tiny, number(-23, x), number(0, x));
  const Value bits = loops::unary(loops::Unary::bits_to_i32, scaled);
  const Value shift = integer(23, x);
  const Value exponent =
      loops::binary(loops::Binary::shift_right, sub(bits, integer(k_bits_of_sqrt_half, x)), shift);
  const Value mantissa = sub(bits, loops::binary(loops::Binary::shift_left, exponent, shift));
  return {add(loops::unary(loops::Unary::to_f32, exponent), scale),
          sub(loops::unary(loops::Unary::bits_to_f32, mantissa), number(1, x))};
}

/// log(2) in two parts; the first has 15 bits, so that its product with an exponent is exact.
constexpr double k_log_2_high = 0x1.62e4p-1, k_log_2_low = 1.42860677e-06;

Value log_of_positive(const Value& x) {
  const Split s = split(x);
  const Value f = s.fraction;
  const Value square = mul(f, f);
  // (log(1 + f) - f + f^2 / 2) / f^3; relative error of log(1 + f) 6.4e-9.
  const Value cubic = polynomial(f, {0x1.555554p-2, -0x1.000226p-2, 0x1.99a008p-3, -0x1.547244p-3,
                                     0x1.22da1ep-3, -0x1.0d8542p-3, 0x1.055b68p-3, -0x1.38b57ap-4});
  const Value low = loops::fma(s.exponent, number(k_log_2_low, x), mul(mul(f, square), cubic));
  const Value small = add(f, loops::fma(square, number(-0.5, x), low));
  return loops::fma(s.exponent, number(k_log_2_high, x), small);
}

/// log(1 + y) for y in [0, 1], = 2 atanh(s) with s = y / (2 + y).
Value log1p_of_unit(const Value& y) {
  const Value s = div(y, add(y, number(2, y)));
  const Value square = mul(s, s);
  // (2 atanh(s) - 2 s) / s^3 in s^2 on [0, 1/9]; relative error of the logarithm 4.9e-9.
  const Value tail = polynomial(square, {0x1.5555p-1, 0x1.99d27cp-2, 0x1.1eb612p-2, 0x1.1ef87p-2});
  return loops::fma(mul(s, square), tail, add(s, s));
}

}  // namespace

Value log(Value x) {
  constexpr double k_infinity = std::numeric_limits<double>::infinity();
  const Value zero = number(0, x);
  const Value infinity = number(k_infinity, x);
  const Value finite =
      loops::select(loops::Compare::lt, x, infinity, log_of_positive(x), x);  // inf and NaN stay
  const Value above = loops::select(loops::Compare::eq, x, zero, number(-k_infinity, x), finite);
  return loops::select(loops::Compare::lt, x, zero, number(std::numeric_limits<double>::quiet_NaN(), x),
                       above);
}

Value log1p_of_exp(Value x) {
  return add(max(number(0, x), x), log1p_of_unit(exp(neg(abs(x)))));
}

}  // namespace onepass::kernels
