// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "ir/graph.h"

namespace onepass::ops {

/// What a shape rule sees: the node, its input types and, where known, its input values. An absent optional
/// input has a null type; `constants[i]` is null when the value is not known at compile time.
struct ShapeContext {
  const ir::Node& node;
  std::vector<const ir::TensorType*> inputs;
  std::vector<const ir::Tensor*> constants;

  bool has(size_t input) const { return input < inputs.size() && inputs[input] != nullptr; }
  const ir::TensorType& type(size_t input) const;  ///< throws Error("missing_input") when absent
  /// The known value; throws Error("dynamic_operand") when it is not known at compile time.
  const ir::Tensor& constant(size_t input) const;
};

/// Output types, one for every output in the node's list (absent outputs too). Throws Error naming the node
/// when ranks, extents, types or attributes are outside the standard.
using ShapeRule = std::vector<ir::TensorType> (*)(const ShapeContext&);

/// Computes the node's outputs. Float tensors hold T elements (f32 for float, f64 for double); all other
/// types are as declared. The types of `outputs` are what the shape rule says for the actual inputs.
using Reference = void (*)(const ir::Node& node, std::span<const ir::Tensor* const> inputs,
                           std::span<ir::Tensor> outputs);

struct Meaning {
  ShapeRule shape = nullptr;
  Reference reference_f32 = nullptr;
  Reference reference_f64 = nullptr;
};

/// The meaning of every operator in ops.def and activations.def.
const Meaning& meaning(ir::Op op);

/// Throws Error(code) that names the context's node.
[[noreturn]] void refuse(const ir::Node& node, std::string code, std::string message,
                         std::string accepted = "");

}  // namespace onepass::ops
