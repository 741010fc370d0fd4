// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "ir/graph.h"

namespace onepass::ops {

/// f32: the reference as the standard means it in float. f64: the referee; float tensors are held in double.
enum class Precision { f32, f64 };

struct InterpretOptions {
  Precision precision = Precision::f32;
  /// Called with every value that a node computes, in order; for parity inside the graph.
  std::function<void(ir::ValueId, const ir::Tensor&)> on_value;
};

/// Runs `graph` on `inputs` (one tensor per graph input, in order, f32 where the graph says f32) and returns
/// one tensor per graph output. Data-dependent extents come back as they are. In f64 precision float
/// outputs are f64. Tensors are freed after their last reader. Thread-safe: the graph is only read.
/// Throws Error when an input has the wrong type or a node refuses its operands.
std::vector<ir::Tensor> interpret(const ir::Graph& graph, const std::vector<ir::Tensor>& inputs,
                                  const InterpretOptions& options = {});

/// Evaluates one node on known tensors (null: absent input). Used for constant folding as well.
std::vector<ir::Tensor> evaluate(const ir::Node& node, const std::vector<const ir::Tensor*>& inputs,
                                 Precision precision = Precision::f32);

}  // namespace onepass::ops
