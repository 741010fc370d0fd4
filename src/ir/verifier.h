// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ir/graph.h"

namespace onepass::ir {

/// Checks the graph's own invariants and throws InternalError with the node or value at fault: no dangling
/// ids, use lists and producers that agree with the nodes, operand counts of ops.def, well-formed types, a
/// type on every computed value as soon as one has a type, no cycle.
void verify(const Graph& graph);

}  // namespace onepass::ir
