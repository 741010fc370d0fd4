// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "kernels/choice.h"
#include "plan/family.h"
#include "plan/plan.h"

namespace onepass::plan {

struct JoinProof {
  bool holds = false;
  std::string text;  ///< what was checked, or the first element that differs
};

/// A step in a kernel of its own, which reads the result of the kernel before it as its source or beside it.
struct SeparateStep {
  kernels::ElementwiseSpec spec;
  size_t result_operand = 0;  ///< 0: the source, 1: the step's operand
};

/// Whether `joined` computes the bits of `first` followed by `separate`, in the loop interpreter on seeded
/// data. What `joined` reads behind the operands of `first` is the other operand of `separate`.
JoinProof compare_bitwise(const kernels::KernelChoice& joined, const kernels::KernelChoice& first,
                          const SeparateStep& separate, const targets::Target& target);

/// Whether the group's kernel with `step` joined gives the same bits as the group's kernel followed by the
/// step in a kernel of its own, whose operands stand as the graph has them. Both nests, for the group's own
/// kernel size, strides, epilogue and tile on a map cut to two rows and at most two channel blocks, run in
/// the loop interpreter on seeded data. Nothing is executed natively, so the answer is the same for a foreign
/// target.
JoinProof prove_join(const ir::Graph& graph, const Group& group, Family family, const patterns::Step& step,
                     const targets::Target& target, const kernels::ConvPolicy& policy = {});

/// The same for a kernel that was chosen otherwise and every map that its group has joined.
JoinProof prove_kernel(const ir::Graph& graph, const Group& group, Family family,
                       const kernels::KernelChoice& kernel, const targets::Target& target);
/// Throws Error("bad_choices") when that proof fails.
void require_joins(const ir::Graph& graph, const Group& group, Family family,
                   const kernels::KernelChoice& kernel, const targets::Target& target);

}  // namespace onepass::plan
