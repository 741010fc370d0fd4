// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "kernels/choice.h"
#include "plan/family.h"
#include "plan/plan.h"

namespace onepass::plan {

/// The layouts of a group's maps, chosen before its kernel is.
struct GroupMaps {
  kernels::FeatureMap src, dst;
  std::vector<kernels::FeatureMap> operands;  ///< one per step that reads a gate or a map, in step order
  size_t part = 0;                            ///< of conv_parts
};

/// The steps of a group as its kernel computes them. For an elementwise group the anchor is the first step.
std::vector<patterns::Step> kernel_steps(const ir::Graph& graph, const Group& group, Family family);

kernels::Epilogue epilogue_for(const ir::Graph& graph, const std::vector<patterns::Step>& steps,
                               Family family, const ir::TensorType& result,
                               const std::vector<kernels::FeatureMap>& operand_maps);

/// The kernel of a conv, gemm, pool or elementwise group under the given layouts.
kernels::KernelChoice choose_kernel(const ir::Graph& graph, const Group& group, Family family,
                                    const GroupMaps& maps, const targets::Target& target,
                                    const kernels::ConvPolicy& policy = {});

/// The kernel of a group with every map in its family's own layout and the halo that it needs itself.
kernels::KernelChoice nominal_kernel(const ir::Graph& graph, const Group& group, Family family,
                                     const targets::Target& target, const kernels::ConvPolicy& policy = {});

/// Values that the steps read as gate or map, in step order.
std::vector<ir::ValueId> map_operands(const ir::Graph& graph, const std::vector<patterns::Step>& steps,
                                      Family family, const ir::TensorType& result);

}  // namespace onepass::plan
