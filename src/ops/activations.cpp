// SPDX-License-Identifier: Apache-2.0
//
// The unary operators of activations.def, each written from its ONNX formula with std:: mathematics. They
// share nothing with the formulas that kernels are built from: each is a check of the other.
#include <fmt/format.h>

#include "ops/meanings.h"
#include "ops/reference_support.h"
#include "ops/shape_support.h"

namespace onepass::ops {

namespace {

std::vector<ir::TensorType> float_shape(const ShapeContext& context) {
  require_float(context, 0);
  return one_output(context, context.type(0));
}

std::vector<ir::TensorType> numeric_shape(const ShapeContext& context) {
  if (!is_numeric(context.type(0).dtype))
    refuse(context.node, "unsupported_type", fmt::format("input 0 is {}", ir::to_string(context.type(0))),
           "a numeric type");
  return one_output(context, context.type(0));
}

std::vector<ir::TensorType> gelu_shape(const ShapeContext& context) {
  const std::string mode = context.node.attributes.get_string("approximate", "none");
  if (mode != "none" && mode != "tanh")
    refuse(context.node, "bad_attribute", fmt::format("approximate = '{}'", mode), "none or tanh");
  return float_shape(context);
}

std::vector<ir::TensorType> celu_shape(const ShapeContext& context) {
  if (context.node.attributes.get_float("alpha", 1.0) == 0.0)
    refuse(context.node, "bad_attribute", "alpha = 0", "alpha other than 0");
  return float_shape(context);
}

std::vector<ir::TensorType> clip_shape(const ShapeContext& context) {
  for (size_t bound : {1, 2}) {
    if (!context.has(bound)) continue;
    require_same_dtype(context, 0, bound);
    if (context.type(bound).counted_axis >= 0 || ir::element_count(context.type(bound).dims) != 1)
      refuse(context.node, "bad_bound",
             fmt::format("bound {} is {}", bound, ir::to_string(context.type(bound))), "a scalar");
  }
  return numeric_shape(context);
}

/// dst[i] = function(src[i]) over elements of type E.
template <class E, class Function>
void map_as(Inputs inputs, Outputs outputs, Function function) {
  const auto src = inputs[0]->data<E>();
  const auto dst = outputs[0].data<E>();
  for (size_t i = 0; i < src.size(); ++i) dst[i] = function(src[i]);
}

template <class T>
T parameter(const ir::Node& node, const char* name, double default_value) {
  return static_cast<T>(node.attributes.get_float(name, default_value));
}

template <class T>
void relu(const ir::Node&, Inputs inputs, Outputs outputs) {
  visit_numeric<T>(inputs[0]->dtype(), [&]<class E>(E) {
    map_as<E>(inputs, outputs, [](E x) { return x < E(0) ? E(0) : x; });  // NaN stays
  });
}

template <class T>
void leaky_relu(const ir::Node& node, Inputs inputs, Outputs outputs) {
  const T alpha = parameter<T>(node, "alpha", 0.01);
  map_as<T>(inputs, outputs, [=](T x) { return x < T(0) ? alpha * x : x; });
}

template <class T>
void thresholded_relu(const ir::Node& node, Inputs inputs, Outputs outputs) {
  const T alpha = parameter<T>(node, "alpha", 1.0);
  map_as<T>(inputs, outputs, [=](T x) { return x > alpha ? x : T(0); });
}

/// Min(high, Max(x, low)): where low > high everything becomes high. NaN stays.
template <class T>
void clip(const ir::Node&, Inputs inputs, Outputs outputs) {
  visit_numeric<T>(inputs[0]->dtype(), [&]<class E>(E) {
    const ir::Tensor* low_input = optional_input(inputs, 1);
    const ir::Tensor* high_input = optional_input(inputs, 2);
    const bool has_low = low_input != nullptr;
    const bool has_high = high_input != nullptr;
    const E low = has_low ? elements<E>(*low_input)[0] : E(0);
    const E high = has_high ? elements<E>(*high_input)[0] : E(0);
    map_as<E>(inputs, outputs, [=](E x) {
      const E raised = has_low && x < low ? low : x;
      return has_high && raised > high ? high : raised;
    });
  });
}

template <class T>
T logistic(T x) {
  return T(1) / (T(1) + std::exp(-x));
}

template <class T>
void sigmoid(const ir::Node&, Inputs inputs, Outputs outputs) {
  map_as<T>(inputs, outputs, [](T x) { return logistic(x); });
}

/// Cut to [0, 1]; NaN stays.
template <class T>
T unit_interval(T x) {
  if (x < T(0)) return T(0);
  return x > T(1) ? T(1) : x;
}

template <class T>
void hard_sigmoid(const ir::Node& node, Inputs inputs, Outputs outputs) {
  const T alpha = parameter<T>(node, "alpha", 0.2);
  const T beta = parameter<T>(node, "beta", 0.5);
  map_as<T>(inputs, outputs, [=](T x) { return unit_interval(alpha * x + beta); });
}

template <class T>
void hard_swish(const ir::Node&, Inputs inputs, Outputs outputs) {
  map_as<T>(inputs, outputs, [](T x) { return x * unit_interval(x / T(6) + T(0.5)); });
}

template <class T>
void swish(const ir::Node& node, Inputs inputs, Outputs outputs) {
  const T alpha = parameter<T>(node, "alpha", 1.0);
  map_as<T>(inputs, outputs, [=](T x) { return x * logistic(alpha * x); });
}

template <class T>
void tanh(const ir::Node&, Inputs inputs, Outputs outputs) {
  map_as<T>(inputs, outputs, [](T x) { return std::tanh(x); });
}

template <class T>
void elu(const ir::Node& node, Inputs inputs, Outputs outputs) {
  const T alpha = parameter<T>(node, "alpha", 1.0);
  map_as<T>(inputs, outputs, [=](T x) { return x < T(0) ? alpha * std::expm1(x) : x; });
}

/// max(0, x) + min(0, alpha * (exp(x / alpha) - 1))
template <class T>
void celu(const ir::Node& node, Inputs inputs, Outputs outputs) {
  const T alpha = parameter<T>(node, "alpha", 1.0);
  map_as<T>(inputs, outputs, [=](T x) {
    const T curve = alpha * std::expm1(x / alpha);
    return (x < T(0) ? T(0) : x) + (curve > T(0) ? T(0) : curve);
  });
}

template <class T>
void selu(const ir::Node& node, Inputs inputs, Outputs outputs) {
  const T alpha = parameter<T>(node, "alpha", 1.67326319217681884765625);
  const T gamma = parameter<T>(node, "gamma", 1.05070102214813232421875);
  map_as<T>(inputs, outputs, [=](T x) { return gamma * (x <= T(0) ? alpha * std::expm1(x) : x); });
}

template <class T>
void gelu(const ir::Node& node, Inputs inputs, Outputs outputs) {
  const T half = T(0.5);
  if (node.attributes.get_string("approximate", "none") == "tanh") {
    const T scale = static_cast<T>(std::sqrt(2.0 / M_PI));
    const T cubic = static_cast<T>(0.044715);
    return map_as<T>(inputs, outputs,
                     [=](T x) { return half * x * (T(1) + std::tanh(scale * (x + cubic * x * x * x))); });
  }
  const T inverse_root = static_cast<T>(std::sqrt(0.5));
  map_as<T>(inputs, outputs, [=](T x) { return half * x * (T(1) + std::erf(x * inverse_root)); });
}

/// log(1 + exp(x)) without overflow.
template <class T>
T log_one_plus_exp(T x) {
  return (x < T(0) ? T(0) : x) + std::log1p(std::exp(-std::abs(x)));
}

template <class T>
void mish(const ir::Node&, Inputs inputs, Outputs outputs) {
  map_as<T>(inputs, outputs, [](T x) { return x * std::tanh(log_one_plus_exp(x)); });
}

template <class T>
void softplus(const ir::Node&, Inputs inputs, Outputs outputs) {
  map_as<T>(inputs, outputs, [](T x) { return log_one_plus_exp(x); });
}

template <class T>
void softsign(const ir::Node&, Inputs inputs, Outputs outputs) {
  map_as<T>(inputs, outputs, [](T x) { return x / (T(1) + std::abs(x)); });
}

template <class T>
void exp(const ir::Node&, Inputs inputs, Outputs outputs) {
  map_as<T>(inputs, outputs, [](T x) { return std::exp(x); });
}

template <class T>
void log(const ir::Node&, Inputs inputs, Outputs outputs) {
  map_as<T>(inputs, outputs, [](T x) { return std::log(x); });
}

template <class T>
void erf(const ir::Node&, Inputs inputs, Outputs outputs) {
  map_as<T>(inputs, outputs, [](T x) { return std::erf(x); });
}

template <class T>
void sqrt(const ir::Node&, Inputs inputs, Outputs outputs) {
  map_as<T>(inputs, outputs, [](T x) { return std::sqrt(x); });
}

template <class T>
void reciprocal(const ir::Node&, Inputs inputs, Outputs outputs) {
  map_as<T>(inputs, outputs, [](T x) { return T(1) / x; });
}

template <class T>
void floor(const ir::Node&, Inputs inputs, Outputs outputs) {
  map_as<T>(inputs, outputs, [](T x) { return std::floor(x); });
}

template <class T>
void ceil(const ir::Node&, Inputs inputs, Outputs outputs) {
  map_as<T>(inputs, outputs, [](T x) { return std::ceil(x); });
}

/// Halves go to the even neighbour, whatever the rounding mode of the processor; the sign of zero stays.
template <class T>
T half_to_even(T x) {
  const T below = std::floor(x);
  const T distance = x - below;
  if (!(distance > T(0))) return x;  // integers, infinities and NaN
  const bool up = distance > T(0.5) || (distance == T(0.5) && std::fmod(below, T(2)) != T(0));
  return std::copysign(up ? below + T(1) : below, x);
}

template <class T>
void round(const ir::Node&, Inputs inputs, Outputs outputs) {
  map_as<T>(inputs, outputs, [](T x) { return half_to_even(x); });
}

/// -x; the smallest integer stays itself, as in two's complement.
template <class E>
E negated(E x) {
  if constexpr (std::is_integral_v<E>)
    return static_cast<E>(std::uint64_t{0} - static_cast<std::uint64_t>(x));
  else
    return -x;
}

template <class T>
void neg(const ir::Node&, Inputs inputs, Outputs outputs) {
  visit_numeric<T>(inputs[0]->dtype(), [&]<class E>(E) { map_as<E>(inputs, outputs, negated<E>); });
}

template <class T>
void abs(const ir::Node&, Inputs inputs, Outputs outputs) {
  visit_numeric<T>(inputs[0]->dtype(), [&]<class E>(E) {
    map_as<E>(inputs, outputs, [](E x) {
      if constexpr (std::is_integral_v<E>)
        return x < E(0) ? negated(x) : x;
      else
        return std::abs(x);
    });
  });
}

}  // namespace

const Meaning k_meaning_Relu{numeric_shape, relu<float>, relu<double>};
const Meaning k_meaning_LeakyRelu{float_shape, leaky_relu<float>, leaky_relu<double>};
const Meaning k_meaning_ThresholdedRelu{float_shape, thresholded_relu<float>, thresholded_relu<double>};
const Meaning k_meaning_Clip{clip_shape, clip<float>, clip<double>};
const Meaning k_meaning_Sigmoid{float_shape, sigmoid<float>, sigmoid<double>};
const Meaning k_meaning_HardSigmoid{float_shape, hard_sigmoid<float>, hard_sigmoid<double>};
const Meaning k_meaning_HardSwish{float_shape, hard_swish<float>, hard_swish<double>};
const Meaning k_meaning_Swish{float_shape, swish<float>, swish<double>};
const Meaning k_meaning_Tanh{float_shape, tanh<float>, tanh<double>};
const Meaning k_meaning_Elu{float_shape, elu<float>, elu<double>};
const Meaning k_meaning_Celu{celu_shape, celu<float>, celu<double>};
const Meaning k_meaning_Selu{float_shape, selu<float>, selu<double>};
const Meaning k_meaning_Gelu{gelu_shape, gelu<float>, gelu<double>};
const Meaning k_meaning_Mish{float_shape, mish<float>, mish<double>};
const Meaning k_meaning_Softplus{float_shape, softplus<float>, softplus<double>};
const Meaning k_meaning_Softsign{float_shape, softsign<float>, softsign<double>};
const Meaning k_meaning_Exp{float_shape, exp<float>, exp<double>};
const Meaning k_meaning_Log{float_shape, log<float>, log<double>};
const Meaning k_meaning_Erf{float_shape, erf<float>, erf<double>};
const Meaning k_meaning_Sqrt{float_shape, sqrt<float>, sqrt<double>};
const Meaning k_meaning_Abs{numeric_shape, abs<float>, abs<double>};
const Meaning k_meaning_Neg{numeric_shape, neg<float>, neg<double>};
const Meaning k_meaning_Reciprocal{float_shape, reciprocal<float>, reciprocal<double>};
const Meaning k_meaning_Floor{float_shape, floor<float>, floor<double>};
const Meaning k_meaning_Ceil{float_shape, ceil<float>, ceil<double>};
const Meaning k_meaning_Round{float_shape, round<float>, round<double>};

}  // namespace onepass::ops
