// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <type_traits>

#include "runtime/inside/routine.h"

// The unary operators of ir/activations.def from their ONNX formulas with libm. alpha and beta as in
// ir/activation.h. NaN stays NaN.
namespace onepass::inside {

template <class E>
struct Parameters {
  E alpha, beta;
};

template <class E>
E cut_to_unit(E x) {
  if (x < E(0)) return E(0);
  return x > E(1) ? E(1) : x;
}

template <class E>
E logistic(E x) {
  return E(1) / (E(1) + std::exp(-x));
}

/// log(1 + exp(x)) without overflow.
template <class E>
E log_one_plus_exp(E x) {
  return (x < E(0) ? E(0) : x) + std::log1p(std::exp(-std::fabs(x)));
}

struct ReluOf {
  template <class E>
  static E apply(E x, const Parameters<E>&) {
    return x < E(0) ? E(0) : x;
  }
};

struct LeakyReluOf {
  template <class E>
  static E apply(E x, const Parameters<E>& p) {
    return x < E(0) ? p.alpha * x : x;
  }
};

struct ThresholdedReluOf {
  template <class E>
  static E apply(E x, const Parameters<E>& p) {
    return x > p.alpha ? x : E(0);
  }
};

/// Where low > high everything becomes high.
struct ClipOf {
  template <class E>
  static E apply(E x, const Parameters<E>& p) {
    const E raised = x < p.alpha ? p.alpha : x;
    return raised > p.beta ? p.beta : raised;
  }
};

struct SigmoidOf {
  template <class E>
  static E apply(E x, const Parameters<E>&) {
    return logistic(x);
  }
};

struct HardSigmoidOf {
  template <class E>
  static E apply(E x, const Parameters<E>& p) {
    return cut_to_unit(p.alpha * x + p.beta);
  }
};

struct HardSwishOf {
  template <class E>
  static E apply(E x, const Parameters<E>&) {
    return x * cut_to_unit(x / E(6) + E(0.5));
  }
};

struct SwishOf {
  template <class E>
  static E apply(E x, const Parameters<E>& p) {
    return x * logistic(p.alpha * x);
  }
};

struct TanhOf {
  template <class E>
  static E apply(E x, const Parameters<E>&) {
    return std::tanh(x);
  }
};

struct EluOf {
  template <class E>
  static E apply(E x, const Parameters<E>& p) {
    return x < E(0) ? p.alpha * std::expm1(x) : x;
  }
};

struct CeluOf {
  template <class E>
  static E apply(E x, const Parameters<E>& p) {
    const E curve = p.alpha * std::expm1(x / p.alpha);
    return (x < E(0) ? E(0) : x) + (curve > E(0) ? E(0) : curve);
  }
};

/// beta is ONNX's gamma.
struct SeluOf {
  template <class E>
  static E apply(E x, const Parameters<E>& p) {
    return p.beta * (x <= E(0) ? p.alpha * std::expm1(x) : x);
  }
};

/// alpha 1: the tanh approximation.
struct GeluOf {
  template <class E>
  static E apply(E x, const Parameters<E>& p) {
    constexpr E k_scale = E(0.797884560802865355880);  // sqrt(2 / pi)
    constexpr E k_cubic = E(0.044715);
    constexpr E k_inverse_root = E(0.707106781186547524401);  // sqrt(1 / 2)
    if (p.alpha != E(0)) return E(0.5) * x * (E(1) + std::tanh(k_scale * (x + k_cubic * x * x * x)));
    return E(0.5) * x * (E(1) + std::erf(x * k_inverse_root));
  }
};

struct MishOf {
  template <class E>
  static E apply(E x, const Parameters<E>&) {
    return x * std::tanh(log_one_plus_exp(x));
  }
};

struct SoftplusOf {
  template <class E>
  static E apply(E x, const Parameters<E>&) {
    return log_one_plus_exp(x);
  }
};

struct SoftsignOf {
  template <class E>
  static E apply(E x, const Parameters<E>&) {
    return x / (E(1) + std::fabs(x));
  }
};

struct ExpOf {
  template <class E>
  static E apply(E x, const Parameters<E>&) {
    return std::exp(x);
  }
};

struct LogOf {
  template <class E>
  static E apply(E x, const Parameters<E>&) {
    return std::log(x);
  }
};

struct ErfOf {
  template <class E>
  static E apply(E x, const Parameters<E>&) {
    return std::erf(x);
  }
};

struct SqrtOf {
  template <class E>
  static E apply(E x, const Parameters<E>&) {
    return std::sqrt(x);
  }
};

struct ReciprocalOf {
  template <class E>
  static E apply(E x, const Parameters<E>&) {
    return E(1) / x;
  }
};

struct FloorOf {
  template <class E>
  static E apply(E x, const Parameters<E>&) {
    return std::floor(x);
  }
};

struct CeilOf {
  template <class E>
  static E apply(E x, const Parameters<E>&) {
    return std::ceil(x);
  }
};

/// Halves go to the even neighbour, whatever the rounding mode; the sign of zero stays.
struct RoundOf {
  template <class E>
  static E apply(E x, const Parameters<E>&) {
    if constexpr (std::is_same_v<E, float>)
      return __builtin_roundevenf(x);
    else
      return __builtin_roundeven(x);
  }
};

/// The smallest integer stays itself, as in two's complement.
struct NegOf {
  template <class E>
  static E apply(E x, const Parameters<E>&) {
    if constexpr (std::is_integral_v<E>)
      return static_cast<E>(uint64_t{0} - static_cast<uint64_t>(x));
    else
      return -x;
  }
};

struct AbsOf {
  template <class E>
  static E apply(E x, const Parameters<E>& p) {
    if constexpr (std::is_integral_v<E>)
      return x < E(0) ? NegOf::apply(x, p) : x;
    else
      return std::fabs(x);
  }
};

struct NotOf {
  static bool apply(bool x, const Parameters<bool>&) { return !x; }
};

}  // namespace onepass::inside
