// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "passes/pipeline.h"

namespace onepass::passes {

/// Runs one pass: times it, verifies a changed graph, hands it to the dump hook, and names the pass in
/// whatever it throws. Returns whether the graph changed.
bool run_pass(const char* name, ir::Graph& graph, const PassOptions& options,
              const std::function<bool(ir::Graph&)>& pass);

}  // namespace onepass::passes
