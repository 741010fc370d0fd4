// SPDX-License-Identifier: Apache-2.0
#include "kernels/vector_math.h"

#include "base/diagnostic.h"
#include "ir/activation_formulas.h"
#include "kernels/vector_terms.h"

namespace onepass::kernels {

namespace {

/// The operations of ir/activation_formulas.h as loop-language expressions.
struct LoopMath {
  using Value = loops::Value;
  int lanes;

  Value constant(double value) const { return loops::constant(value, lanes); }
  Value add(Value a, Value b) const { return terms::add(a, b); }
  Value sub(Value a, Value b) const { return terms::sub(a, b); }
  Value mul(Value a, Value b) const { return terms::mul(a, b); }
  Value div(Value a, Value b) const { return terms::div(a, b); }
  Value fma(Value a, Value b, Value c) const { return loops::fma(a, b, c); }
  Value max(Value a, Value b) const { return terms::max(a, b); }
  Value min(Value a, Value b) const { return terms::min(a, b); }
  Value neg(Value a) const { return terms::neg(a); }
  Value abs(Value a) const { return terms::abs(a); }
  Value sqrt(Value a) const { return loops::unary(loops::Unary::sqrt, a); }
  Value floor(Value a) const { return loops::unary(loops::Unary::floor, a); }
  Value ceil(Value a) const { return loops::unary(loops::Unary::ceil, a); }
  Value round_even(Value a) const { return loops::unary(loops::Unary::round_even, a); }
  Value select_lt(Value a, Value b, Value then, Value otherwise) const {
    return loops::select(loops::Compare::lt, a, b, then, otherwise);
  }
  Value exp(Value a) const { return kernels::exp(a); }
  Value exp_of_negative(Value a) const { return kernels::exp_of_negative(a); }
  Value div_by_1_to_2(Value a, Value b) const { return kernels::div_by_1_to_2(a, b); }
  Value expm1(Value a) const { return kernels::expm1(a); }
  Value log(Value a) const { return kernels::log(a); }
  Value tanh(Value a) const { return kernels::tanh(a); }
  Value erf(Value a) const { return kernels::erf(a); }
  Value log1p_of_exp(Value a) const { return kernels::log1p_of_exp(a); }
  Value normal_cdf(Value a) const { return kernels::normal_cdf(a); }
};

}  // namespace

loops::Value apply_activation(const ir::Activation& activation, loops::Value x) {
  const LoopMath math{x->type.lanes};
  switch (activation.op) {
#define ONEPASS_ACTIVATION(op, formula, ...) \
  case ir::Op::op:                           \
    return ir::formulas::formula::apply(math, x, activation.alpha, activation.beta);
#include "ir/activations.def"
#undef ONEPASS_ACTIVATION
    default:
      throw InternalError(std::string("no activation: ") + ir::name(activation.op));
  }
}

}  // namespace onepass::kernels
