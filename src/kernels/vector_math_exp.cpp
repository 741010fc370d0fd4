// SPDX-License-Identifier: Apache-2.0
//
// exp, expm1 and tanh. With n the integer next to x / log(2) and r = x - n log(2), exp(x) = 2^n exp(r).
// Coefficients: minimax by the Remez exchange, rounded to float.
#include "kernels/vector_math.h"
#include "kernels/vector_terms.h"

namespace onepass::kernels {

using namespace terms;

namespace {

struct Reduced {
  Value n;        ///< integral
  Value r_expm1;  ///< exp(r) - 1
};

/// For |x| < 128. log(2) is subtracted in two parts, both by fma: n times the first part is exact inside it.
Reduced reduce(const Value& x) {
  constexpr double k_log2_e = 1.44269504088896340736;
  constexpr double k_log_2_high = 0x1.62e43p-1, k_log_2_low = -1.90465421e-09;
  const Value n = loops::unary(loops::Unary::round_even, mul(x, number(k_log2_e, x)));
  const Value r = loops::fma(n, number(-k_log_2_low, x), loops::fma(n, number(-k_log_2_high, x), x));
  // (exp(r) - 1 - r) / r^2 on |r| <= log(2) / 2 + 1e-4; relative error of exp(r) 3.7e-9.
  const Value tail =
      polynomial(r, {0x1.fffffcp-2, 0x1.555492p-3, 0x1.5558f2p-5, 0x1.123ap-7, 0x1.6a2404p-10});
  return {n, loops::fma(mul(r, r), tail, r)};
}

/// exp of x in [-104, 89], into denormals and infinity.
Value exp_in_range(const Value& x) {
  const Reduced reduced = reduce(x);
  return loops::binary(loops::Binary::scale, add(reduced.r_expm1, number(1, x)), reduced.n);
}

}  // namespace

// Beyond these bounds the result is zero or infinite; a NaN passes.
Value exp(Value x) {
  return exp_in_range(min(number(89, x), max(number(-104, x), x)));
}

Value exp_of_negative(Value x) {
  return exp_in_range(max(number(-104, x), x));
}

Value div_by_1_to_2(Value a, Value b) {
  // 1 - b p(b) = -T3(2b - 3) / 99 is the least that a p of degree 2 reaches on [1, 2]; each Newton step
  // squares it.
  Value inverse = polynomial(b, {210.0 / 99, -144.0 / 99, 32.0 / 99});
  for (int step = 0; step < 2; ++step)
    inverse = loops::fma(inverse, loops::fma(neg(b), inverse, number(1, b)), inverse);
  const Value quotient = mul(a, inverse);
  return loops::fma(loops::fma(neg(b), quotient, a), inverse, quotient);
}

Value expm1(Value x) {
  // exp(x) - 1 = 2 (2^(n-1) (exp(r) - 1) + (2^(n-1) - 1/2)). Below -20 the result rounds to -1.
  const Value bounded = min(number(89, x), max(number(-20, x), x));
  const Reduced reduced = reduce(bounded);
  const Value scale = power_of_two(sub(loops::unary(loops::Unary::to_i32, reduced.n), integer(1, x)));
  const Value half = loops::fma(scale, reduced.r_expm1, sub(scale, number(0.5, x)));
  return add(half, half);
}

/// tanh(a) = (exp(2a) - 1) / (exp(2a) + 1), odd. Beyond 10 it rounds to 1.
Value tanh(Value x) {
  const Value bounded = min(number(10, x), abs(x));
  const Value grown = expm1(add(bounded, bounded));
  return with_sign_of(div(grown, add(grown, number(2, x))), x);
}

}  // namespace onepass::kernels
