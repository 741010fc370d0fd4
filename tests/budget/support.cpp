// SPDX-License-Identifier: Apache-2.0
#include "budget/support.h"

#include "ir/parser.h"
#include "passes/infer_shapes.h"

namespace onepass::test {

ir::Graph budget_graph(const std::string& statements) {
  ir::Graph graph = ir::parse("graph g {\n" + statements + "}\n");
  passes::infer_shapes(graph);
  for (const ir::NodeId id : graph.topological_order()) {
    ir::Node& node = graph.node(id);
    node.name = graph.value(node.outputs.at(0)).name;
    node.origins = {node.name};
  }
  return graph;
}

const targets::Target& amx_target() {
  return targets::find("x86-64-v4+amx");
}

ir::NodeId node_of(const ir::Graph& graph, const std::string& value) {
  for (const ir::NodeId id : graph.topological_order())
    if (graph.node(id).name == value) return id;
  throw InternalError("the test has no node '" + value + "'");
}

}  // namespace onepass::test
