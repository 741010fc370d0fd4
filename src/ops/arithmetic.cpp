// SPDX-License-Identifier: Apache-2.0
//
// Arithmetic over broadcast operands. Integers wrap as in two's complement.
#include <fmt/format.h>

#include "ops/broadcast.h"
#include "ops/meanings.h"
#include "ops/shape_support.h"

namespace onepass::ops {

namespace {

void require_numeric(const ShapeContext& context, size_t input) {
  if (!is_numeric(context.type(input).dtype))
    refuse(context.node, "unsupported_type",
           fmt::format("input {} is {}", input, ir::to_string(context.type(input))), "a numeric type");
}

/// Any number of operands of one numeric type.
std::vector<ir::TensorType> arithmetic_shape(const ShapeContext& context) {
  require_numeric(context, 0);
  ir::TensorType result = context.type(0);
  for (size_t input = 1; input < context.inputs.size(); ++input) {
    context.type(input);
    require_same_dtype(context, 0, input);
    result = broadcast_types(context.node, result, context.type(input));
  }
  return one_output(context, std::move(result));
}

std::vector<ir::TensorType> binary_shape(const ShapeContext& context) {
  context.type(1);
  if (context.inputs.size() != 2)
    refuse(context.node, "too_many_inputs", fmt::format("{} inputs", context.inputs.size()), "2 inputs");
  return arithmetic_shape(context);
}

std::vector<ir::TensorType> sum_shape(const ShapeContext& context) {
  require_float(context, 0);
  return arithmetic_shape(context);
}

/// The exponent may have another type than the base.
std::vector<ir::TensorType> pow_shape(const ShapeContext& context) {
  require_numeric(context, 0);
  require_numeric(context, 1);
  return one_output(context, broadcast_types(context.node, context.type(0), context.type(1)));
}

/// The slope broadcasts to x, x does not grow.
std::vector<ir::TensorType> prelu_shape(const ShapeContext& context) {
  std::vector<ir::TensorType> result = binary_shape(context);
  if (result[0].dims != context.type(0).dims)
    refuse(context.node, "not_broadcastable",
           fmt::format("slope {} on {}", ir::to_string(context.type(1)), ir::to_string(context.type(0))),
           "a slope that broadcasts to the shape of x");
  return result;
}

/// a op b, on integers modulo 2^64 and cut to E.
template <class E, class Function>
E wrapping(E a, E b, Function function) {
  if constexpr (std::is_integral_v<E>)
    return static_cast<E>(function(static_cast<uint64_t>(a), static_cast<uint64_t>(b)));
  else
    return function(a, b);
}

struct AddOf {
  template <class E>
  static E apply(E a, E b) {
    return wrapping(a, b, [](auto x, auto y) { return x + y; });
  }
};

struct SubOf {
  template <class E>
  static E apply(E a, E b) {
    return wrapping(a, b, [](auto x, auto y) { return x - y; });
  }
};

struct MulOf {
  template <class E>
  static E apply(E a, E b) {
    return wrapping(a, b, [](auto x, auto y) { return x * y; });
  }
};

/// NaN wins, as in numpy.
struct MinOf {
  template <class E>
  static E apply(E a, E b) {
    return a < b || a != a ? a : b;
  }
};

struct MaxOf {
  template <class E>
  static E apply(E a, E b) {
    return a > b || a != a ? a : b;
  }
};

struct PReluOf {
  template <class E>
  static E apply(E x, E slope) {
    return x < E(0) ? MulOf::apply(slope, x) : x;
  }
};

/// Operands from left to right: dst = x0, then dst = f(dst, x1), ...
template <class T, class Function>
void fold_operands(const ir::Node&, Inputs inputs, Outputs outputs) {
  visit_numeric<T>(outputs[0].dtype(), [&]<class E>(E) {
    if (inputs.size() == 1) return zip<E, E, E>(*inputs[0], *inputs[0], outputs[0], [](E a, E) { return a; });
    zip<E, E, E>(*inputs[0], *inputs[1], outputs[0], Function::template apply<E>);
    for (size_t k = 2; k < inputs.size(); ++k)
      zip<E, E, E>(outputs[0], *inputs[k], outputs[0], Function::template apply<E>);
  });
}

template <class E>
void refuse_zero_divisor(const ir::Node& node, const ir::Tensor& divisor) {
  for (E element : divisor.data<E>())
    if (element == 0)
      refuse(node, "division_by_zero", "an integer is divided by zero", "divisors other than 0");
}

/// a / b towards zero, where b is not 0. Dividing by -1 is a negation, so that the smallest integer wraps.
template <class E>
E integer_quotient(E a, E b) {
  if (std::is_signed_v<E> && b == E(-1)) return SubOf::apply(E(0), a);
  return static_cast<E>(a / b);
}

/// The remainder of the division towards zero, with the sign of a.
template <class E>
E integer_remainder(E a, E b) {
  if (std::is_signed_v<E> && b == E(-1)) return 0;
  return static_cast<E>(a % b);
}

template <class T>
void div(const ir::Node& node, Inputs inputs, Outputs outputs) {
  visit_numeric<T>(outputs[0].dtype(), [&]<class E>(E) {
    if constexpr (std::is_integral_v<E>) {
      refuse_zero_divisor<E>(node, *inputs[1]);
      zip<E, E, E>(*inputs[0], *inputs[1], outputs[0], integer_quotient<E>);
    } else {
      zip<E, E, E>(*inputs[0], *inputs[1], outputs[0], [](E a, E b) { return a / b; });
    }
  });
}

template <class E>
E remainder_like_c(E a, E b) {
  if constexpr (std::is_integral_v<E>)
    return integer_remainder(a, b);
  else
    return std::fmod(a, b);
}

/// The remainder of the division towards minus infinity, with the sign of b.
template <class E>
E remainder_like_python(E a, E b) {
  const E remainder = remainder_like_c(a, b);
  if (remainder != 0) return (remainder < 0) != (b < 0) ? static_cast<E>(remainder + b) : remainder;
  if constexpr (std::is_integral_v<E>)
    return 0;
  else
    return std::copysign(remainder, b);
}

template <class T>
void mod(const ir::Node& node, Inputs inputs, Outputs outputs) {
  const bool like_c = node.attributes.get_int("fmod", 0) == 1;
  visit_numeric<T>(outputs[0].dtype(), [&]<class E>(E) {
    if constexpr (std::is_integral_v<E>) refuse_zero_divisor<E>(node, *inputs[1]);
    zip<E, E, E>(*inputs[0], *inputs[1], outputs[0], like_c ? remainder_like_c<E> : remainder_like_python<E>);
  });
}

/// Integer powers wrap; a negative exponent truncates 1 / power.
template <class E>
E integer_power(E base, int64_t exponent) {
  if (exponent < 0) return to_integer<E>(std::pow(static_cast<double>(base), static_cast<double>(exponent)));
  E result = 1;
  for (; exponent > 0; exponent /= 2) {
    if (exponent % 2 != 0) result = MulOf::apply(result, base);
    base = MulOf::apply(base, base);
  }
  return result;
}

template <class E, class X>
E power(E base, X exponent) {
  if constexpr (std::is_integral_v<E> && std::is_integral_v<X>)
    return integer_power(base, static_cast<int64_t>(exponent));
  else if constexpr (std::is_integral_v<E>)
    return to_integer<E>(std::pow(static_cast<double>(base), static_cast<double>(exponent)));
  else
    return std::pow(base, static_cast<E>(exponent));
}

template <class T>
void pow(const ir::Node&, Inputs inputs, Outputs outputs) {
  visit_numeric<T>(inputs[0]->dtype(), [&]<class E>(E) {
    visit_numeric<T>(inputs[1]->dtype(),
                     [&]<class X>(X) { zip<E, X, E>(*inputs[0], *inputs[1], outputs[0], power<E, X>); });
  });
}

}  // namespace

const Meaning k_meaning_Add{binary_shape, fold_operands<float, AddOf>, fold_operands<double, AddOf>};
const Meaning k_meaning_Sub{binary_shape, fold_operands<float, SubOf>, fold_operands<double, SubOf>};
const Meaning k_meaning_Mul{binary_shape, fold_operands<float, MulOf>, fold_operands<double, MulOf>};
const Meaning k_meaning_Div{binary_shape, div<float>, div<double>};
const Meaning k_meaning_Pow{pow_shape, pow<float>, pow<double>};
const Meaning k_meaning_Mod{binary_shape, mod<float>, mod<double>};
const Meaning k_meaning_Min{arithmetic_shape, fold_operands<float, MinOf>, fold_operands<double, MinOf>};
const Meaning k_meaning_Max{arithmetic_shape, fold_operands<float, MaxOf>, fold_operands<double, MaxOf>};
const Meaning k_meaning_Sum{sum_shape, fold_operands<float, AddOf>, fold_operands<double, AddOf>};
const Meaning k_meaning_PRelu{prelu_shape, fold_operands<float, PReluOf>, fold_operands<double, PReluOf>};

}  // namespace onepass::ops
