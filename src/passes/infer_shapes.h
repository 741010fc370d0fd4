// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ir/graph.h"

namespace onepass::passes {

/// Gives every value its static type, folding the shape arithmetic (Shape, Gather, Concat, ... of known
/// values) that later shapes depend on. Values whose contents are known become constants only as far as
/// shapes need them: the graph keeps its nodes. Throws Error with every node whose type cannot be found.
void infer_shapes(ir::Graph& graph);

}  // namespace onepass::passes
