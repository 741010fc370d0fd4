// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "ir/graph.h"
#include "kernels/choice.h"
#include "plan/family.h"
#include "targets/target.h"

namespace onepass::budget {

/// What a convolution or matrix product reads in one frame.
struct Operands {
  const ir::Tensor* src = nullptr;
  const ir::Tensor* weights = nullptr;
  bool matrix = false;      ///< src is [rows, c]
  bool transposed = false;  ///< matrix: weights are [c, k]
};

/// The operands of `node`; its weights are constant.
Operands operands_of(const ir::Graph& graph, ir::NodeId node, plan::Family family, const ir::Tensor& src);

/// The error of `choice` on some outputs in the middle of its map: the kernel with its own reduction on a
/// map of one tile and one panel of channels, in the loop interpreter, beside sums in double. In the unit of
/// declared_error. Nothing for kernels of several groups but conv_amx, and where all products are zero.
std::optional<double> sampled_error(const kernels::KernelChoice& choice, const Operands& operands,
                                    const targets::Target& target);

}  // namespace onepass::budget
