// SPDX-License-Identifier: Apache-2.0
#include "plan/support.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "ir/parser.h"
#include "passes/infer_shapes.h"

namespace onepass::test {

const targets::Target& plan_target() {
  return targets::find("x86-64-v3");
}

ir::Graph typed_graph(const std::string& statements) {
  ir::Graph graph = ir::parse("graph g {\n" + statements + "}\n");
  passes::infer_shapes(graph);
  for (const ir::NodeId id : graph.topological_order()) {
    ir::Node& node = graph.node(id);
    node.name = graph.value(node.outputs.at(0)).name;
    node.origins = {node.name};
  }
  return graph;
}

plan::Plan plan_of(const std::string& statements, const plan::PlanOptions& options) {
  return plan::make_plan(typed_graph(statements), plan_target(), options);
}

ir::NodeId node_named(const ir::Graph& graph, const std::string& name) {
  for (const ir::NodeId id : graph.topological_order())
    if (graph.node(id).name == name) return id;
  throw InternalError("the test has no node '" + name + "'");
}

ir::ValueId value_named(const ir::Graph& graph, const std::string& name) {
  for (int32_t i = 0; i < static_cast<int32_t>(graph.value_capacity()); ++i)
    if (graph.value(ir::ValueId{i}).name == name) return ir::ValueId{i};
  throw InternalError("the test has no value '" + name + "'");
}

const plan::Buffer& buffer_named(const plan::Plan& plan, const std::string& name) {
  const plan::Buffer* found = nullptr;
  for (const plan::Buffer& buffer : plan.buffers) {
    if (buffer.name != name) continue;
    require(found == nullptr, "one buffer has that name");
    found = &buffer;
  }
  require(found != nullptr, ("a buffer is named '" + name + "'").c_str());
  return *found;
}

int32_t launch_named(const plan::Plan& plan, const std::string& name) {
  const auto found =
      std::find_if(plan.launches.begin(), plan.launches.end(), [&](const auto& l) { return l.name == name; });
  require(found != plan.launches.end(), ("a launch is named '" + name + "'").c_str());
  return static_cast<int32_t>(found - plan.launches.begin());
}

int64_t launches_of(const plan::Plan& plan, const std::string& family) {
  return std::count_if(plan.launches.begin(), plan.launches.end(),
                       [&](const auto& l) { return l.family == family; });
}

const plan::Buffer& destination(const plan::Plan& plan, const std::string& launch) {
  return plan.buffers[plan.launches[launch_named(plan, launch)].writes.at(0)];
}

std::vector<plan::Decision> decisions_between(const plan::Plan& plan, const std::string& producer,
                                              const std::string& reader) {
  std::vector<plan::Decision> found;
  for (const plan::Decision& decision : plan.decisions) {
    const auto& names = decision.nodes;
    if (names.back() == reader && std::find(names.begin(), names.end(), producer) != names.end())
      found.push_back(decision);
  }
  return found;
}

}  // namespace onepass::test
