// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "passes/passes.h"

namespace onepass::passes {

namespace {

bool is_dead(const ir::Graph& graph, const ir::Node& node) {
  return std::all_of(node.outputs.begin(), node.outputs.end(),
                     [&](ir::ValueId output) { return !output.valid() || graph.use_count(output) == 0; });
}

}  // namespace

bool eliminate_dead_code(ir::Graph& graph) {
  bool changed = false;
  const std::vector<ir::NodeId> order = graph.topological_order();
  for (size_t i = order.size(); i-- > 0;) {
    if (!is_dead(graph, graph.node(order[i]))) continue;
    graph.remove_node(order[i]);
    changed = true;
  }
  return changed;
}

}  // namespace onepass::passes
