// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "ir/graph.h"
#include "targets/target.h"

namespace onepass::test {

/// A graph from its statements, typed; each node bears the name of its first output.
ir::Graph budget_graph(const std::string& statements);

/// The target of these tests wherever they run: nothing here is executed.
const targets::Target& amx_target();

ir::NodeId node_of(const ir::Graph& graph, const std::string& value);

}  // namespace onepass::test
