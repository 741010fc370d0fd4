// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "ir/activation.h"
#include "patterns/pattern.h"

namespace onepass::patterns {

/// The one element of a constant of size 1.
std::optional<double> scalar_constant(const ir::Graph& graph, ir::ValueId value);

/// Equal up to the rounding of a constant to f32.
bool nearly(double value, double expected);

/// value = base * factor by a Mul or Div with a scalar constant, or value itself times 1.
struct Scaled {
  ir::ValueId base;
  double factor = 1;
  ir::NodeId node;  ///< invalid: not scaled
};
Scaled scaled(const ir::Graph& graph, ir::ValueId value);

/// value = base + addend by an Add with a scalar constant.
struct Shifted {
  ir::ValueId base;
  double addend = 0;
  ir::NodeId node;
};
std::optional<Shifted> shifted(const ir::Graph& graph, ir::ValueId value);

/// root = constant * left * right, through Mul and Div nodes that only this product reads.
struct Product {
  std::vector<ir::NodeId> nodes;  ///< inner first, root last
  double constant = 1;
  std::vector<ir::ValueId> factors;
};
Product product(const ir::Graph& graph, ir::NodeId root);

/// A product of constant * x * f(..) with f computed by `op`: x, and the node of f. Nothing for other
/// products.
struct Gated {
  Product product;
  ir::ValueId x;
  ir::NodeId gate;
};
/// One entry for each factor that `op` computes (at most two).
std::vector<Gated> gated_products(const ir::Graph& graph, ir::NodeId root, ir::Op op);

/// C1 of every spelling: the value is f32.
std::optional<Failure> f32_failure(const ir::Graph& graph, ir::ValueId value, const char* condition);

/// The root of `match` as one activation of `x`, under the root's name.
ir::ValueId add_activation(ir::Graph& graph, const Match& match, ir::ValueId x,
                           const ir::Activation& activation);

}  // namespace onepass::patterns
