// SPDX-License-Identifier: Apache-2.0
#include "plan/plan.h"

#include "plan/grouping.h"
#include "plan/lowering.h"
#include "plan/memory.h"

namespace onepass::plan {

const kernels::ConvPolicy& PlanOptions::policy_for(const ir::Graph& graph, ir::NodeId anchor) const {
  const auto own = conv_by_value.find(graph.value(graph.node(anchor).outputs.at(0)).name);
  return own == conv_by_value.end() ? conv : own->second;
}

int64_t Plan::bytes_read() const {
  int64_t bytes = 0;
  for (const Launch& launch : launches) bytes += launch.estimate.bytes_read + launch.estimate.weight_bytes;
  return bytes;
}

int64_t Plan::bytes_written() const {
  int64_t bytes = 0;
  for (const Launch& launch : launches) bytes += launch.estimate.bytes_written;
  return bytes;
}

double Plan::predicted_ns() const {
  double ns = 0;
  for (const Launch& launch : launches) ns += launch.predicted_ns;
  return ns;
}

Plan make_plan(const ir::Graph& graph, const targets::Target& target, const PlanOptions& options) {
  Grouping grouping = group_nodes(graph, target, options);
  Plan plan = Lowering(graph, target, std::move(grouping.groups), options).run();
  plan.decisions = std::move(grouping.decisions);
  set_lifetimes(plan);
  plan_memory(plan);
  check_memory(plan);
  return plan;
}

}  // namespace onepass::plan
