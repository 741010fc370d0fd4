// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "budget/algorithm.h"
#include "budget/allocation.h"
#include "ir/graph.h"
#include "plan/family.h"
#include "targets/target.h"

namespace onepass::budget {

/// A convolution or matrix product and the kernels that could compute it.
struct ProductLayer {
  ir::NodeId node;
  plan::Family family = plan::Family::conv;
  int64_t reduction = 1;                       ///< products in one sum
  std::vector<kernels::KernelChoice> kernels;  ///< one for each algorithm
  std::vector<double> predicted_ns;            ///< of each, by the cost model
  std::vector<double> errors;                  ///< of each, as declared
  std::vector<bool> sampled;                   ///< errors: refined on a tile
};

/// Every node with products of constant weights, in order. `bf16` admits plain bf16 products.
std::vector<ProductLayer> product_layers(const ir::Graph& graph, const targets::Target& target, bool bf16);

/// Whether a loose algorithm would make the layer faster than any other.
bool gains_from_loose(const ProductLayer& layer);

/// The layer's candidates, in the order of its kernels.
Layer to_layer(const ir::Graph& graph, const ProductLayer& layer, double sensitivity);

}  // namespace onepass::budget
