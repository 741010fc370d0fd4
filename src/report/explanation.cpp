// SPDX-License-Identifier: Apache-2.0
#include "report/explanation.h"

#include <algorithm>
#include <set>

namespace onepass::report {

namespace {

bool traverses_a_map(const plan::Launch& launch) {
  return launch.estimate.bytes_written > 0;
}

std::vector<std::string> nodes_of(const ir::Graph& graph, const plan::Group& group) {
  std::vector<std::string> names;
  for (ir::NodeId id : group.nodes) {
    const auto& origins = graph.node(id).origins;
    names.insert(names.end(), origins.begin(), origins.end());
  }
  return names;
}

/// The rewrites that replaced nodes of this chain, then its joins.
std::vector<std::string> patterns_of(const std::vector<std::string>& nodes, const patterns::Journal& journal,
                                     const plan::Group& group) {
  const std::set<std::string> members(nodes.begin(), nodes.end());
  std::vector<std::string> patterns;
  for (const patterns::Applied& applied : journal.applied)
    if (std::all_of(applied.nodes.begin(), applied.nodes.end(),
                    [&](const std::string& n) { return members.contains(n); }))
      patterns.push_back(applied.pattern);
  patterns.insert(patterns.end(), group.joined_by.begin(), group.joined_by.end());
  return patterns;
}

/// What a group is that nothing computes: its result is another value's bytes, or made of them.
std::vector<std::string> families_without_launch(const ir::Graph& graph, const plan::Plan& plan) {
  std::vector<std::string> families;
  for (const plan::Group& group : plan.groups) {
    const std::vector<std::string> nodes = nodes_of(graph, group);
    const bool placed = std::any_of(plan.placements.begin(), plan.placements.end(),
                                    [&](const auto& d) { return d.fused && d.nodes == nodes; });
    families.emplace_back(placed ? "placed" : "view");
  }
  return families;
}

/// The check of the residual join inside `chain`, if it has one.
void find_residual(Chain& chain, const plan::Plan& plan) {
  const std::set<std::string> members(chain.nodes.begin(), chain.nodes.end());
  for (const plan::Decision& decision : plan.decisions) {
    if (!decision.fused || !decision.branched || decision.nodes.empty()) continue;
    if (!std::all_of(decision.nodes.begin(), decision.nodes.end(),
                     [&](const std::string& n) { return members.contains(n); }))
      continue;
    chain.residual = true;
    chain.proof = decision.reason;
  }
}

Striped striped_of(const plan::Launch& launch) {
  Striped result{.launches = {}, .stripes = launch.slices};
  for (const plan::Launch& member : launch.members) result.launches.push_back(member.name);
  return result;
}

/// Launches that compute groups: those that run in stripes one by one.
std::vector<const plan::Launch*> group_launches(const plan::Plan& plan) {
  std::vector<const plan::Launch*> launches;
  for (const plan::Launch& launch : plan.launches) {
    if (launch.members.empty() && launch.group >= 0) launches.push_back(&launch);
    for (const plan::Launch& member : launch.members) launches.push_back(&member);
  }
  return launches;
}

}  // namespace

Costs costs_of(const std::string& name, const plan::Plan& plan) {
  Costs costs{.name = name, .launches = static_cast<int64_t>(plan.launches.size())};
  costs.passes = std::count_if(plan.launches.begin(), plan.launches.end(), traverses_a_map);
  costs.bytes_read = plan.bytes_read();
  costs.bytes_written = plan.bytes_written();
  costs.peak_bytes = plan.arena_bytes;
  costs.weight_bytes = static_cast<int64_t>(plan.weights.size());
  costs.predicted_ms = plan.predicted_ns() / 1e6;
  return costs;
}

Explanation explain(const std::string& model, const Compilation& fused, std::vector<Costs> costs) {
  Explanation result{.model = model,
                     .target = fused.plan.target->name,
                     .warnings = fused.journal.warnings,
                     .budget = fused.budget,
                     .costs = std::move(costs)};
  std::vector<double> predicted_us(fused.plan.groups.size(), 0);
  std::vector<std::string> family = families_without_launch(fused.graph, fused.plan);
  for (const plan::Launch* launch : group_launches(fused.plan)) {
    predicted_us[launch->group] += launch->predicted_ns / 1e3;
    family[launch->group] = launch->family == "routine" ? launch->symbol : launch->family;
  }
  for (size_t g = 0; g < fused.plan.groups.size(); ++g) {
    const plan::Group& group = fused.plan.groups[g];
    Chain chain{.nodes = nodes_of(fused.graph, group), .family = family[g], .predicted_us = predicted_us[g]};
    chain.patterns = patterns_of(chain.nodes, fused.journal, group);
    chain.shape = ir::to_string(fused.graph.value(group.result).type);
    find_residual(chain, fused.plan);
    (chain.nodes.size() > 1 ? result.chains : result.single).push_back(std::move(chain));
  }
  for (const patterns::Refusal& refusal : fused.journal.refused)
    result.splits.push_back({refusal.nodes, refusal.pattern, refusal.condition, refusal.reason, false});
  for (const plan::Decision& decision : fused.plan.decisions)
    if (!decision.fused)
      result.splits.push_back(
          {decision.nodes, decision.pattern, decision.condition, decision.reason, decision.branched});
  for (const plan::Decision& decision : fused.plan.placements)
    if (decision.fused)
      result.placed.push_back({decision.nodes, decision.reason});
    else
      result.splits.push_back({decision.nodes, decision.pattern, decision.condition, decision.reason, false});
  for (const plan::Launch& launch : fused.plan.launches)
    if (!launch.members.empty()) result.striped.push_back(striped_of(launch));
  return result;
}

}  // namespace onepass::report
