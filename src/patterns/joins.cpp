// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "patterns/catalogue.h"
#include "patterns/engine.h"
#include "patterns/steps.h"

namespace onepass::patterns {

namespace {

std::optional<Failure> reader_failure(const ir::Graph& graph, const GroupDraft& draft, ir::NodeId next) {
  const ir::Value& result = graph.value(draft.result);
  for (const ir::Use& use : result.uses)
    if (use.node != next)
      return Failure{"U1", fmt::format("value '{}' is also read by '{}' ({})", result.name,
                                       graph.node(use.node).name, ir::name(graph.node(use.node).op))};
  if (graph.is_output(draft.result))
    return Failure{"U1", fmt::format("value '{}' is a graph output", result.name)};
  return std::nullopt;
}

std::optional<Failure> convexity_failure(const ir::Graph& graph, const GroupDraft& draft, ir::NodeId next) {
  for (const ir::ValueId input : graph.node(next).inputs)
    if (input.valid() && input != draft.result && depends_on(graph, input, draft.nodes))
      return Failure{"U2", fmt::format("operand '{}' of '{}' is itself computed from the group",
                                       graph.value(input).name, graph.node(next).name)};
  return std::nullopt;
}

std::optional<Failure> type_failure(const ir::Graph& graph, const GroupDraft& draft, ir::NodeId next) {
  const ir::TensorType& before = graph.value(draft.result).type;
  const ir::TensorType& after = graph.value(graph.node(next).outputs[0]).type;
  if (before == after) return std::nullopt;
  return Failure{"U3", fmt::format("'{}' makes {} of {}", graph.node(next).name, ir::to_string(after),
                                   ir::to_string(before))};
}

std::optional<Failure> universal_join_failure(const ir::Graph& graph, const GroupDraft& draft,
                                              ir::NodeId next, const JoinOptions& options) {
  if (auto failure = reader_failure(graph, draft, next)) return failure;
  if (auto failure = convexity_failure(graph, draft, next)) return failure;
  if (auto failure = type_failure(graph, draft, next)) return failure;
  if (static_cast<int>(draft.steps.size()) < options.max_steps) return std::nullopt;
  return Failure{"U4", fmt::format("the group has {} steps already", draft.steps.size())};
}

const JoinPattern* find_rule(const ir::Graph& graph, const GroupDraft& draft, ir::NodeId next) {
  const auto& rules = joins();
  const auto found = std::find_if(rules.begin(), rules.end(),
                                  [&](const JoinPattern& rule) { return rule.applies(graph, draft, next); });
  return found == rules.end() ? nullptr : &*found;
}

Refusal refusal(const ir::Graph& graph, const GroupDraft& draft, ir::NodeId next, const JoinPattern* rule,
                const Failure& failure) {
  std::vector<ir::NodeId> nodes = draft.nodes;
  nodes.push_back(next);
  return {rule == nullptr ? "" : rule->name, failure.condition, node_names(graph, nodes), failure.reason};
}

}  // namespace

JoinVerdict legal_join(const ir::Graph& graph, const GroupDraft& draft, ir::NodeId next,
                       const JoinOptions& options) {
  const JoinPattern* rule = find_rule(graph, draft, next);
  const auto refuse = [&](const Failure& failure) {
    return JoinVerdict{rule, refusal(graph, draft, next, rule, failure)};
  };
  if (rule == nullptr)
    return refuse(
        {"", fmt::format("no rule of the catalogue joins {} behind {}", ir::name(graph.node(next).op),
                         ir::name(graph.node(draft.nodes.front()).op))});
  if (auto failure = universal_join_failure(graph, draft, next, options)) return refuse(*failure);
  const StepOrFailure outcome = rule->legal(graph, draft, next, options);
  if (const Failure* failure = std::get_if<Failure>(&outcome)) return refuse(*failure);
  return {rule, std::get<Step>(outcome)};
}

}  // namespace onepass::patterns
