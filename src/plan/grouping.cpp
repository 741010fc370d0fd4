// SPDX-License-Identifier: Apache-2.0
#include "plan/grouping.h"

#include <fmt/format.h>

#include <algorithm>
#include <queue>

#include "plan/cost.h"
#include "plan/family.h"
#include "plan/join_proof.h"

namespace onepass::plan {

namespace {

using ir::Graph;
using ir::NodeId;
using ir::Op;
using ir::ValueId;

std::vector<std::string> origins_of(const Graph& graph, const std::vector<NodeId>& nodes) {
  std::vector<std::string> names;
  for (NodeId id : nodes)
    names.insert(names.end(), graph.node(id).origins.begin(), graph.node(id).origins.end());
  return names;
}

class Grower {
 public:
  Grower(const Graph& graph, const targets::Target& target, const PlanOptions& options)
      : graph_(graph), target_(target), options_(options), owner_(graph.node_capacity(), -1) {}

  Grouping run() {
    const std::vector<NodeId> order = graph_.topological_order();
    if (options_.joins) {
      for (auto id = order.rbegin(); id != order.rend(); ++id)
        if (ir::info(graph_.node(*id).op).kind == ir::OpKind::anchor) grow(*id);
    }
    for (NodeId id : order)
      if (owner_[id.index] < 0) grow(id);
    sort_groups();
    return std::move(result_);
  }

 private:
  void grow(NodeId anchor) {
    const auto index = static_cast<int32_t>(result_.groups.size());
    Group group{.nodes = {anchor}, .result = graph_.node(anchor).outputs.at(0)};
    owner_[anchor.index] = index;
    const Family family = family_of(graph_, anchor, target_);
    if (options_.joins && takes_steps(family))
      while (join_next(group, family)) owner_[group.nodes.back().index] = index;
    group.name = fmt::format("{}", fmt::join(origins_of(graph_, group.nodes), " + "));
    result_.groups.push_back(std::move(group));
  }

  /// Joins the reader of the group's result, if a rule allows it and it pays.
  bool join_next(Group& group, Family family) {
    const NodeId next = graph_.only_consumer(group.result);
    if (!next.valid()) {
      record_shared(group);
      return false;
    }
    const patterns::GroupDraft draft{group.nodes, group.steps, group.result};
    const patterns::JoinVerdict verdict = patterns::legal_join(graph_, draft, next, options_.join);
    if (verdict.pattern == nullptr) return false;
    Decision decision{.pattern = verdict.pattern->name};
    decision.nodes = origins_of(graph_, group.nodes);
    const auto& next_origins = graph_.node(next).origins;
    decision.nodes.insert(decision.nodes.end(), next_origins.begin(), next_origins.end());
    if (const auto* refusal = std::get_if<patterns::Refusal>(&verdict.outcome)) {
      decision.condition = refusal->condition;
      decision.reason = refusal->reason;
      decision.branched = ir::info(graph_.node(next).op).kind == ir::OpKind::broadcast;
    } else {
      decide(group, family, std::get<patterns::Step>(verdict.outcome), decision);
      if (decision.fused) append(group, std::get<patterns::Step>(verdict.outcome), verdict.pattern->name);
    }
    result_.decisions.push_back(decision);
    return decision.fused;
  }

  static void append(Group& group, const patterns::Step& step, const char* pattern, const Graph& graph) {
    group.nodes.push_back(step.node);
    group.steps.push_back(step);
    group.joined_by.emplace_back(pattern);
    group.result = graph.node(step.node).outputs.at(0);
  }
  void append(Group& group, const patterns::Step& step, const char* pattern) {
    append(group, step, pattern, graph_);
  }

  void decide(const Group& group, Family family, const patterns::Step& step, Decision& decision) {
    if (owner_[step.node.index] >= 0) {
      decision.condition = "taken";
      decision.branched = true;
      decision.reason = fmt::format("'{}' already belongs to the kernel of '{}'", graph_.node(step.node).name,
                                    graph_.node(result_.groups[owner_[step.node.index]].nodes.front()).name);
      return;
    }
    const ir::TensorType& type = graph_.value(graph_.node(step.node).outputs[0]).type;
    kernels::StepOperand::Kind kind = kernels::StepOperand::Kind::scalar;
    if (step.operand.valid()) kind = operand_kind(graph_, step.operand, type, channel_axis(family, type));
    if (kind == kernels::StepOperand::Kind::none || !layout_reads(family, step, kind, type)) {
      decision.condition = "layout";
      decision.reason = fmt::format(
          "no kernel of this family reads an operand of {} beside {}",
          step.operand.valid() ? ir::to_string(graph_.value(step.operand).type) : "per-channel constants",
          ir::to_string(type));
      return;
    }
    decision.branched = kind == kernels::StepOperand::Kind::map && !graph_.is_constant(step.operand);
    price(step, type, decision);
    if (!decision.fused || !decision.branched) return;
    prove(group, family, step, decision);
  }

  /// A product of computed matrices reads constants of its columns; a chain over values without channel
  /// blocks scalars and maps alone.
  bool layout_reads(Family family, const patterns::Step& step, kernels::StepOperand::Kind kind,
                    const ir::TensorType& type) const {
    if (family == Family::product)
      return step.kind != patterns::Step::Kind::affine && kind != kernels::StepOperand::Kind::map;
    if (family != Family::elementwise || extents_of(type)) return true;
    return step.kind != patterns::Step::Kind::affine && kind != kernels::StepOperand::Kind::per_channel &&
           kind != kernels::StepOperand::Kind::gate;
  }

  void price(const patterns::Step& step, const ir::TensorType& type, Decision& decision) const {
    kernels::EpilogueStep priced{.kind = static_cast<kernels::EpilogueStep::Kind>(step.kind),
                                 .activation = step.activation};
    const double flops = kernels::flops_per_element({{priced}});
    const int64_t elems = ir::element_count(type.dims);
    const int operands = decision.branched ? 1 : 0;
    decision.split_ns = separate_pass_ns(elems, operands, flops, target_);
    // Joined, the operand is still read and the arithmetic still done; the pass over the map is not.
    decision.fused_ns = joined_step_ns(elems, operands, flops, target_);
    decision.fused = decision.fused_ns <= decision.split_ns;
    if (!decision.fused) {
      decision.condition = "cost";
      decision.reason =
          fmt::format("predicted {:.0f} ns joined, {:.0f} ns split", decision.fused_ns, decision.split_ns);
    }
  }

  void prove(const Group& group, Family family, const patterns::Step& step, Decision& decision) {
    const JoinProof proof =
        prove_join(graph_, group, family, step, target_, options_.policy_for(graph_, group.nodes.front()));
    decision.fused = proof.holds;
    decision.reason = proof.text;
    if (!proof.holds) decision.condition = "proof";
  }

  /// The result has several readers or is a graph output: what would have joined is told why it did not.
  void record_shared(const Group& group) {
    const patterns::GroupDraft draft{group.nodes, group.steps, group.result};
    for (const ir::Use& use : graph_.value(group.result).uses) {
      const patterns::JoinVerdict verdict = patterns::legal_join(graph_, draft, use.node, options_.join);
      const auto* refusal = std::get_if<patterns::Refusal>(&verdict.outcome);
      if (verdict.pattern == nullptr || refusal == nullptr) continue;
      Decision decision{.pattern = verdict.pattern->name,
                        .branched = true,
                        .condition = refusal->condition,
                        .reason = refusal->reason};
      decision.nodes = origins_of(graph_, group.nodes);
      const auto& origins = graph_.node(use.node).origins;
      decision.nodes.insert(decision.nodes.end(), origins.begin(), origins.end());
      result_.decisions.push_back(std::move(decision));
    }
  }

  /// Execution order: a group stands behind the groups that produce what it reads.
  void sort_groups() {
    std::vector<std::vector<int32_t>> readers(result_.groups.size());
    std::vector<int> waiting(result_.groups.size(), 0);
    for (int32_t g = 0; g < static_cast<int32_t>(result_.groups.size()); ++g)
      for (NodeId id : result_.groups[g].nodes)
        for (ValueId input : graph_.node(id).inputs) {
          const NodeId producer = graph_.producer(input);
          if (!producer.valid() || owner_[producer.index] == g) continue;
          readers[owner_[producer.index]].push_back(g);
          ++waiting[g];
        }
    const auto later = [&](int32_t a, int32_t b) {
      return result_.groups[a].nodes.front().index > result_.groups[b].nodes.front().index;
    };
    std::priority_queue<int32_t, std::vector<int32_t>, decltype(later)> ready(later);
    for (int32_t g = 0; g < static_cast<int32_t>(waiting.size()); ++g)
      if (waiting[g] == 0) ready.push(g);
    std::vector<Group> sorted;
    while (!ready.empty()) {
      const int32_t g = ready.top();
      ready.pop();
      for (int32_t reader : readers[g])
        if (--waiting[reader] == 0) ready.push(reader);
      sorted.push_back(std::move(result_.groups[g]));
    }
    require(sorted.size() == result_.groups.size(), "groups are convex");
    result_.groups = std::move(sorted);
  }

  const Graph& graph_;
  const targets::Target& target_;
  const PlanOptions& options_;
  std::vector<int32_t> owner_;
  Grouping result_;
};

bool keeps_element_order(const Graph& graph, NodeId id) {
  const ir::Node& node = graph.node(id);
  if (node.op != Op::Transpose) return false;
  // Moving axes of extent 1 moves no element.
  const ir::Shape& dims = graph.value(node.inputs[0]).type.dims;
  std::vector<int64_t> kept;
  for (int64_t axis : node.attributes.get_ints("perm"))
    if (dims[axis] != 1) kept.push_back(axis);
  return node.attributes.has("perm") && std::is_sorted(kept.begin(), kept.end());
}

}  // namespace

Grouping group_nodes(const Graph& graph, const targets::Target& target, const PlanOptions& options) {
  return Grower(graph, target, options).run();
}

bool is_view(const Graph& graph, NodeId id) {
  const ir::Node& node = graph.node(id);
  switch (node.op) {
    case Op::Reshape:
    case Op::Flatten:
    case Op::Squeeze:
    case Op::Unsqueeze:
    case Op::Identity:
      return true;
    case Op::Dropout:
      return node.outputs.size() == 1 || !node.outputs[1].valid();
    default:
      return keeps_element_order(graph, id);
  }
}

}  // namespace onepass::plan
