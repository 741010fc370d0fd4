// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/estimate.h"
#include "targets/target.h"

namespace onepass::plan {

/// T = max(compute, maps) + (1 - overlap) * min(compute, maps) + weights + start, one thread
/// (docs/cost-model.md). Compute is executed flops at the tile's share of peak; maps are read and written at
/// the bandwidth of the smallest cache that holds them; weights stream from memory in a whole network.
double predict_ns(const kernels::Estimate& estimate, const targets::Target& target);

/// What a pass of its own over `elems` f32 values costs: read, write, launch. The price of not joining a
/// step.
double separate_pass_ns(int64_t elems, int operands, double flops_per_elem, const targets::Target& target);

/// What the same step costs inside a kernel that holds the values already: arithmetic, and its operands read.
double joined_step_ns(int64_t elems, int operands, double flops_per_elem, const targets::Target& target);

}  // namespace onepass::plan
