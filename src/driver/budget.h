// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "budget/budget.h"
#include "driver/pipeline.h"

namespace onepass::driver {

/// What the error budget of `options` makes of a network after the rewrites. Reads the frames that the
/// options name, and looks up and keeps sensitivities in their file or object cache.
budget::Assignment assign_budget(const Network& network, const ir::Graph& graph,
                                 const targets::Target& target, const CompileOptions& options);

}  // namespace onepass::driver
