// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <limits>
#include <type_traits>

#include "runtime/inside/routine.h"

// Functions of two operands as the reference interpreter means them: integers wrap as in two's complement,
// and an integer division by zero is bad input (its result is 0).
namespace onepass::inside {

/// a op b, on integers modulo 2^64 and cut to E.
template <class E, class Function>
E wrapping(E a, E b, Function function) {
  if constexpr (std::is_integral_v<E>)
    return static_cast<E>(function(static_cast<uint64_t>(a), static_cast<uint64_t>(b)));
  else
    return function(a, b);
}

/// Towards zero; out of range saturates and NaN becomes zero.
template <class Integer>
Integer to_integer(double value) {
  if (value != value) return 0;
  if (value <= static_cast<double>(std::numeric_limits<Integer>::min()))
    return std::numeric_limits<Integer>::min();
  if (value >= static_cast<double>(std::numeric_limits<Integer>::max()))
    return std::numeric_limits<Integer>::max();
  return static_cast<Integer>(value);
}

struct AddOf {
  template <class E>
  static E apply(const Call*, E a, E b) {
    return wrapping(a, b, [](auto x, auto y) { return x + y; });
  }
};

struct SubOf {
  template <class E>
  static E apply(const Call*, E a, E b) {
    return wrapping(a, b, [](auto x, auto y) { return x - y; });
  }
};

struct MulOf {
  template <class E>
  static E apply(const Call*, E a, E b) {
    return wrapping(a, b, [](auto x, auto y) { return x * y; });
  }
};

/// Dividing by -1 is a negation, so that the smallest integer wraps.
struct DivOf {
  template <class E>
  static E apply(const Call* call, E a, E b) {
    if constexpr (std::is_integral_v<E>) {
      if (b == 0) return report_bad_input(call), E(0);
      if (std::is_signed_v<E> && b == E(-1)) return SubOf::apply(call, E(0), a);
      return static_cast<E>(a / b);
    } else {
      return a / b;
    }
  }
};

/// The remainder with the sign of a.
struct FmodOf {
  template <class E>
  static E apply(const Call* call, E a, E b) {
    if constexpr (std::is_integral_v<E>) {
      if (b == 0) return report_bad_input(call), E(0);
      if (std::is_signed_v<E> && b == E(-1)) return 0;
      return static_cast<E>(a % b);
    } else {
      return std::fmod(a, b);
    }
  }
};

/// The remainder with the sign of b.
struct ModOf {
  template <class E>
  static E apply(const Call* call, E a, E b) {
    const E remainder = FmodOf::apply(call, a, b);
    const bool other_sign = (remainder < 0) != (b < 0);
    return remainder != 0 && other_sign ? static_cast<E>(remainder + b) : remainder;
  }
};

/// NaN wins.
struct MinOf {
  template <class E>
  static E apply(const Call*, E a, E b) {
    return a < b || a != a ? a : b;
  }
};

struct MaxOf {
  template <class E>
  static E apply(const Call*, E a, E b) {
    return a > b || a != a ? a : b;
  }
};

/// Integer powers wrap; a negative exponent truncates 1 / power.
struct PowOf {
  template <class E>
  static E apply(const Call* call, E base, E exponent) {
    if constexpr (std::is_integral_v<E>) {
      if (exponent < 0)
        return to_integer<E>(std::pow(static_cast<double>(base), static_cast<double>(exponent)));
      E result = 1;
      for (; exponent > 0; exponent /= 2) {
        if (exponent % 2 != 0) result = MulOf::apply(call, result, base);
        base = MulOf::apply(call, base, base);
      }
      return result;
    } else {
      return std::pow(base, exponent);
    }
  }
};

struct PReluOf {
  template <class E>
  static E apply(const Call*, E x, E slope) {
    return x < E(0) ? slope * x : x;
  }
};

struct EqualOf {
  template <class E>
  static bool apply(const Call*, E a, E b) {
    return a == b;
  }
};

struct GreaterOf {
  template <class E>
  static bool apply(const Call*, E a, E b) {
    return a > b;
  }
};

struct GreaterOrEqualOf {
  template <class E>
  static bool apply(const Call*, E a, E b) {
    return a >= b;
  }
};

struct LessOf {
  template <class E>
  static bool apply(const Call*, E a, E b) {
    return a < b;
  }
};

struct LessOrEqualOf {
  template <class E>
  static bool apply(const Call*, E a, E b) {
    return a <= b;
  }
};

struct AndOf {
  static bool apply(const Call*, bool a, bool b) { return a && b; }
};

struct OrOf {
  static bool apply(const Call*, bool a, bool b) { return a || b; }
};

}  // namespace onepass::inside
