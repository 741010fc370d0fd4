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

inline float cut_to_unit(float x) {
  if (x < 0.0f) return 0.0f;
  return x > 1.0f ? 1.0f : x;
}

inline float logistic(float x) {
  return 1.0f / (1.0f + std::exp(-x));
}

/// log(1 + exp(x)) without overflow.
inline float log_one_plus_exp(float x) {
  return (x < 0.0f ? 0.0f : x) + std::log1p(std::exp(-std::fabs(x)));
}

struct ReluOf {
  template <class E>
  static E apply(E x, const Parameters<E>&) {
    return x < E(0) ? E(0) : x;
  }
};

struct LeakyReluOf {
  static float apply(float x, const Parameters<float>& p) { return x < 0.0f ? p.alpha * x : x; }
};

struct ThresholdedReluOf {
  static float apply(float x, const Parameters<float>& p) { return x > p.alpha ? x : 0.0f; }
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
  static float apply(float x, const Parameters<float>&) { return logistic(x); }
};

struct HardSigmoidOf {
  static float apply(float x, const Parameters<float>& p) { return cut_to_unit(p.alpha * x + p.beta); }
};

struct HardSwishOf {
  static float apply(float x, const Parameters<float>&) { return x * cut_to_unit(x / 6.0f + 0.5f); }
};

struct SwishOf {
  static float apply(float x, const Parameters<float>& p) { return x * logistic(p.alpha * x); }
};

struct TanhOf {
  static float apply(float x, const Parameters<float>&) { return std::tanh(x); }
};

struct EluOf {
  static float apply(float x, const Parameters<float>& p) { return x < 0.0f ? p.alpha * std::expm1(x) : x; }
};

struct CeluOf {
  static float apply(float x, const Parameters<float>& p) {
    const float curve = p.alpha * std::expm1(x / p.alpha);
    return (x < 0.0f ? 0.0f : x) + (curve > 0.0f ? 0.0f : curve);
  }
};

/// beta is ONNX's gamma.
struct SeluOf {
  static float apply(float x, const Parameters<float>& p) {
    return p.beta * (x <= 0.0f ? p.alpha * std::expm1(x) : x);
  }
};

/// alpha 1: the tanh approximation.
struct GeluOf {
  static float apply(float x, const Parameters<float>& p) {
    constexpr float k_scale = 0.797884560802865355880f;  // sqrt(2 / pi)
    constexpr float k_cubic = 0.044715f;
    constexpr float k_inverse_root = 0.707106781186547524401f;  // sqrt(1 / 2)
    if (p.alpha != 0.0f) return 0.5f * x * (1.0f + std::tanh(k_scale * (x + k_cubic * x * x * x)));
    return 0.5f * x * (1.0f + std::erf(x * k_inverse_root));
  }
};

struct MishOf {
  static float apply(float x, const Parameters<float>&) { return x * std::tanh(log_one_plus_exp(x)); }
};

struct SoftplusOf {
  static float apply(float x, const Parameters<float>&) { return log_one_plus_exp(x); }
};

struct SoftsignOf {
  static float apply(float x, const Parameters<float>&) { return x / (1.0f + std::fabs(x)); }
};

struct ExpOf {
  static float apply(float x, const Parameters<float>&) { return std::exp(x); }
};

struct LogOf {
  static float apply(float x, const Parameters<float>&) { return std::log(x); }
};

struct ErfOf {
  static float apply(float x, const Parameters<float>&) { return std::erf(x); }
};

struct SqrtOf {
  static float apply(float x, const Parameters<float>&) { return std::sqrt(x); }
};

struct ReciprocalOf {
  static float apply(float x, const Parameters<float>&) { return 1.0f / x; }
};

struct FloorOf {
  static float apply(float x, const Parameters<float>&) { return std::floor(x); }
};

struct CeilOf {
  static float apply(float x, const Parameters<float>&) { return std::ceil(x); }
};

/// Halves go to the even neighbour, whatever the rounding mode; the sign of zero stays.
struct RoundOf {
  static float apply(float x, const Parameters<float>&) { return __builtin_roundevenf(x); }
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
