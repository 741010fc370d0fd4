// SPDX-License-Identifier: Apache-2.0
//
// erf and the distribution function of the standard normal. Coefficients: minimax by the Remez exchange,
// rounded to float.
#include "kernels/vector_math.h"
#include "kernels/vector_terms.h"

namespace onepass::kernels {

using namespace terms;

namespace {

/// For |x| <= 1.
Value erf_near_zero(const Value& x) {
  // erf(x) / x - 1 in x^2 on [0, 1]; relative error 4.6e-9.
  const Value tail = polynomial(mul(x, x), {0x1.06eba8p-3, -0x1.81273ep-2, 0x1.ce2cf8p-4, -0x1.b7f90cp-6,
                                            0x1.5405b2p-8, -0x1.a3f7p-11, 0x1.496a3p-14});
  return loops::fma(x, tail, x);
}

/// For a >= 1: 1 - exp(-q(a)). Beyond 4 it rounds to 1.
Value erf_far(const Value& a) {
  const Value bounded = min(number(4, a), a);
  // -log(1 - erf(a)) on [1, 4]; relative error of erf 7.5e-9.
  const Value q = polynomial(bounded, {0x1.661d84p-12, 0x1.2088eap+0, 0x1.46baecp-1, 0x1.a6534p-4,
                                       -0x1.65cb7p-6, 0x1.825aep-9, -0x1.86dd6p-13});
  return sub(number(1, a), exp(neg(q)));
}

}  // namespace

Value erf(Value x) {
  const Value a = abs(x);
  return loops::select(loops::Compare::lt, a, number(1, x), erf_near_zero(x), with_sign_of(erf_far(a), x));
}

/// The upper tail is Q(t) = exp(-t^2 / 2) w(u) / (t + 4) with u = (t - 4) / (t + 4), which maps all t >= 0 to
/// [-1, 1). The rounding error of t^2 is put back: exp would multiply it by t^2 / 2.
Value normal_cdf(Value x) {
  const Value t = min(number(14.5, x), abs(x));  // Q(14.5) is zero in float
  const Value square = mul(t, t);
  const Value square_low = loops::fma(t, t, neg(square));
  const Value half = number(-0.5, x);
  const Value rounded = exp(mul(square, half));
  const Value decay = loops::fma(rounded, mul(square_low, half), rounded);
  const Value inverse = div(number(1, x), add(t, number(4, x)));
  const Value u = loops::fma(number(-8, x), inverse, number(1, x));
  // Q(t) exp(t^2 / 2) (t + 4) for t in [0, 14.5]; relative error 9.7e-8.
  const Value w = polynomial(u, {0x1.82b4bep-1, -0x1.373e3ep-1, 0x1.8c6ccap-2, -0x1.7dfde2p-3, 0x1.ef235ep-5,
                                 -0x1.ee49ep-8, -0x1.e0d198p-9, 0x1.94c78cp-10, 0x1.9c7762p-12});
  const Value tail = mul(decay, mul(w, inverse));
  return loops::select(loops::Compare::lt, x, number(0, x), tail, sub(number(1, x), tail));
}

}  // namespace onepass::kernels
