// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>

namespace onepass::ir::formulas {

// One struct for each name in the `formula` column of activations.def: the ONNX formula, arranged so that it
// is accurate in float for every input. `m` supplies the operations on values, each rounded once:
//   constant, add, sub, mul, div, fma, neg, abs, sqrt, floor, ceil, round_even,
//   max(a, b) = a > b ? a : b and min(a, b) = a < b ? a : b (so b when either is NaN),
//   select_lt(a, b, then, otherwise), and the functions
//   exp, exp_of_negative (the same for x <= 0), expm1, log, tanh, erf, log1p_of_exp
//   (log(1 + exp(x))), normal_cdf (that of the standard normal), div_by_1_to_2 (a / b for 1 <= b <= 2).
// Bounds stand on the left of max and min so that a NaN in x is kept.

/// 1 / (1 + exp(-(z + z_low))), without overflow; z_low is the part of the argument that z rounds off.
auto logistic(const auto& m, auto z, auto z_low) {
  const auto zero = m.constant(0);
  const auto one = m.constant(1);
  const auto low_of_abs = m.select_lt(z, zero, z_low, m.neg(z_low));
  const auto decay = m.exp_of_negative(m.neg(m.abs(z)));
  const auto e = m.fma(decay, low_of_abs, decay);
  return m.div_by_1_to_2(m.select_lt(z, zero, e, one), m.add(one, e));
}

auto logistic(const auto& m, auto z) {
  const auto zero = m.constant(0);
  const auto one = m.constant(1);
  const auto e = m.exp_of_negative(m.neg(m.abs(z)));
  return m.div_by_1_to_2(m.select_lt(z, zero, e, one), m.add(one, e));
}

struct relu {
  static auto apply(const auto& m, auto x, double, double) { return m.max(m.constant(0), x); }
};

struct leaky_relu {
  static auto apply(const auto& m, auto x, double alpha, double) {
    return m.select_lt(x, m.constant(0), m.mul(m.constant(alpha), x), x);
  }
};

struct thresholded_relu {
  static auto apply(const auto& m, auto x, double alpha, double) {
    return m.select_lt(m.constant(alpha), x, x, m.constant(0));
  }
};

/// Min(beta, Max(alpha, x)): everything is beta where alpha > beta. An infinite bound does nothing.
struct clip {
  static auto apply(const auto& m, auto x, double alpha, double beta) {
    constexpr double k_infinity = std::numeric_limits<double>::infinity();
    if (alpha != -k_infinity) x = m.max(m.constant(alpha), x);
    if (beta != k_infinity) x = m.min(m.constant(beta), x);
    return x;
  }
};

struct sigmoid {
  static auto apply(const auto& m, auto x, double, double) { return logistic(m, x); }
};

struct hard_sigmoid {
  static auto apply(const auto& m, auto x, double alpha, double beta) {
    return clip::apply(m, m.fma(m.constant(alpha), x, m.constant(beta)), 0, 1);
  }
};

/// x * HardSigmoid(x; 1/6, 1/2), with x / 6 + 1/2 as (x + 3) / 6, which is accurate next to -3 too.
struct hard_swish {
  static auto apply(const auto& m, auto x, double, double) {
    const auto gate = m.mul(m.add(x, m.constant(3)), m.constant(1.0 / 6));
    return m.mul(x, clip::apply(m, gate, 0, 1));
  }
};

struct swish {
  static auto apply(const auto& m, auto x, double alpha, double) {
    if (alpha == 1) return m.mul(x, logistic(m, x));
    const auto limit = m.constant(k_saturated);
    const auto z = m.mul(m.constant(alpha), x);
    const auto low = m.fma(m.constant(alpha), x, m.neg(z));
    return m.mul(x, logistic(m, z, m.select_lt(m.abs(z), limit, low, m.constant(0))));
  }
  static constexpr double k_saturated = 128;  ///< logistic(-128) is zero in float
};

struct tanh {
  static auto apply(const auto& m, auto x, double, double) { return m.tanh(x); }
};

struct elu {
  static auto apply(const auto& m, auto x, double alpha, double) {
    return m.select_lt(x, m.constant(0), m.mul(m.constant(alpha), m.expm1(x)), x);
  }
};

/// max(0, x) + min(0, alpha * (exp(x / alpha) - 1)): one of the two terms is zero.
struct celu {
  static auto apply(const auto& m, auto x, double alpha, double) {
    const auto curve = m.expm1(m.div(x, m.constant(alpha)));
    return m.select_lt(x, m.constant(0), m.mul(m.constant(alpha), curve), x);
  }
};

/// beta is ONNX's gamma.
struct selu {
  static auto apply(const auto& m, auto x, double alpha, double beta) {
    return m.mul(m.constant(beta), elu::apply(m, x, alpha, 0));
  }
};

/// x * normal_cdf(x) or, where alpha is 1, its approximation 0.5 * x * (1 + tanh(z / 2)) = x * logistic(z)
/// with z = sqrt(8 / pi) * (x + 0.044715 * x^3), which is computed to twice the precision: exp multiplies its
/// error.
struct gelu {
  static auto apply(const auto& m, auto x, double alpha, double) {
    return m.mul(x, alpha == 1 ? logistic_of_cubic(m, x) : m.normal_cdf(x));
  }

 private:
  static auto logistic_of_cubic(const auto& m, auto x) {
    // sqrt(8 / pi) and 0.044715 * sqrt(8 / pi), each as a float and the rest.
    const auto linear = m.constant(0x1.988454p+0), linear_low = m.constant(-4.53406805e-08);
    const auto cubic = m.constant(0x1.2444f2p-4), cubic_low = m.constant(2.39883247e-09);
    const auto t = m.max(m.constant(-k_saturated), m.min(m.constant(k_saturated), x));
    const auto square = m.mul(t, t);
    const auto square_low = m.fma(t, t, m.neg(square));
    const auto part = m.mul(cubic, square);
    const auto part_low =
        m.fma(cubic, square_low, m.fma(cubic_low, square, m.fma(cubic, square, m.neg(part))));
    const auto slope = m.add(linear, part);
    const auto part_taken = m.sub(slope, linear);
    const auto sum_low = m.add(m.sub(linear, m.sub(slope, part_taken)), m.sub(part, part_taken));
    const auto slope_low = m.add(sum_low, m.add(part_low, linear_low));
    const auto z = m.mul(t, slope);
    return logistic(m, z, m.fma(t, slope_low, m.fma(t, slope, m.neg(z))));
  }
  static constexpr double k_saturated = 12;  ///< logistic(z(-12)) is zero in float
};

/// x * tanh(log(1 + e)) with e = exp(x), and tanh(log(1 + e)) = e (e + 2) / (e (e + 2) + 2).
struct mish {
  static auto apply(const auto& m, auto x, double, double) {
    constexpr double k_saturated = 20;  // the quotient is 1 in float
    const auto two = m.constant(2);
    const auto e = m.exp(m.min(m.constant(k_saturated), x));
    const auto square = m.mul(e, m.add(e, two));
    return m.mul(x, m.div(square, m.add(square, two)));
  }
};

struct softplus {
  static auto apply(const auto& m, auto x, double, double) { return m.log1p_of_exp(x); }
};

struct softsign {
  static auto apply(const auto& m, auto x, double, double) {
    return m.div(x, m.add(m.constant(1), m.abs(x)));
  }
};

struct reciprocal {
  static auto apply(const auto& m, auto x, double, double) { return m.div(m.constant(1), x); }
};

struct exp {
  static auto apply(const auto& m, auto x, double, double) { return m.exp(x); }
};

struct log {
  static auto apply(const auto& m, auto x, double, double) { return m.log(x); }
};

struct erf {
  static auto apply(const auto& m, auto x, double, double) { return m.erf(x); }
};

struct sqrt {
  static auto apply(const auto& m, auto x, double, double) { return m.sqrt(x); }
};

struct abs {
  static auto apply(const auto& m, auto x, double, double) { return m.abs(x); }
};

struct neg {
  static auto apply(const auto& m, auto x, double, double) { return m.neg(x); }
};

struct floor {
  static auto apply(const auto& m, auto x, double, double) { return m.floor(x); }
};

struct ceil {
  static auto apply(const auto& m, auto x, double, double) { return m.ceil(x); }
};

struct round {
  static auto apply(const auto& m, auto x, double, double) { return m.round_even(x); }
};

}  // namespace onepass::ir::formulas
