// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "ir/graph.h"

namespace onepass::ir {

/// One unary pointwise function with its parameters: an operator of activations.def. For Clip alpha and beta
/// are the bounds (infinite when absent); for Gelu alpha is 1 for the tanh approximation and 0 for erf.
struct Activation {
  Op op{};
  double alpha = 0;
  double beta = 0;
  bool operator==(const Activation&) const = default;
};

struct ActivationInfo {
  Op op;
  const char* alpha_name;
  double alpha_default;
  const char* beta_name;
  double beta_default;
  bool keeps_zero;
  int ulp;
};

bool is_activation(Op op);
const ActivationInfo& activation_info(Op op);  ///< only for is_activation(op)

/// The function that `node` applies to its input 0; nothing when the operator is no activation, the type is
/// not f32, or a Clip bound is not a constant.
std::optional<Activation> activation_of(const Graph& graph, NodeId node);

/// The same whatever the element type: for routines of other float types.
std::optional<Activation> activation_of_any_float(const Graph& graph, NodeId node);

/// f(0) = 0: zero lanes stay zero.
bool keeps_zero(const Activation& activation);

}  // namespace onepass::ir
