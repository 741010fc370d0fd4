// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "plan/plan.h"

namespace onepass::test {

/// Runs the plan in the loop interpreter, the arena full of NaN; every operand is bounded by its buffer. Of
/// the routines only the copy of a value to an output is known. Results in the order of graph outputs.
std::vector<ir::Tensor> run_plan(const ir::Graph& graph, const plan::Plan& plan,
                                 const std::vector<ir::Tensor>& inputs);

/// No launch calls another routine.
bool runs_here(const plan::Plan& plan);

}  // namespace onepass::test
