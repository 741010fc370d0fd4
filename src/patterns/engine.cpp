// SPDX-License-Identifier: Apache-2.0
#include "patterns/engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "patterns/catalogue.h"

namespace onepass::patterns {

namespace {

bool contains(std::span<const ir::NodeId> nodes, ir::NodeId node) {
  return std::find(nodes.begin(), nodes.end(), node) != nodes.end();
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// U1 and U2 for one value that the replacement makes disappear.
std::optional<Failure> interior_failure(const ir::Graph& graph, const Match& match, ir::ValueId id) {
  const ir::Value& value = graph.value(id);
  for (const ir::Use& use : value.uses)
    if (!contains(match.nodes, use.node))
      return Failure{"U1", fmt::format("value '{}' is also read by '{}' ({})", value.name,
                                       graph.node(use.node).name, ir::name(graph.node(use.node).op))};
  if (graph.is_output(id)) return Failure{"U2", fmt::format("value '{}' is a graph output", value.name)};
  return std::nullopt;
}

std::optional<Failure> convexity_failure(const ir::Graph& graph, const Match& match) {
  for (ir::NodeId id : match.nodes)
    for (ir::ValueId input : graph.node(id).inputs) {
      if (!input.valid() || contains(match.nodes, graph.producer(input))) continue;
      if (depends_on(graph, input, match.nodes))
        return Failure{"U3", fmt::format("input '{}' of '{}' is computed outside from a node of the match",
                                         graph.value(input).name, graph.node(id).name)};
    }
  return std::nullopt;
}

std::optional<Failure> type_failure(const ir::Graph& graph, const ir::Node& root,
                                    const std::vector<ir::ValueId>& values) {
  for (size_t i = 0; i < root.outputs.size(); ++i) {
    if (!root.outputs[i].valid()) continue;
    require(i < values.size() && values[i].valid(),
            "a replacement gives a value for every output of the root");
    const ir::TensorType& before = graph.value(root.outputs[i]).type;
    const ir::TensorType& after = graph.value(values[i]).type;
    if (before != after)
      return Failure{"U4",
                     fmt::format("output '{}' is {}, the replacement {}", graph.value(root.outputs[i]).name,
                                 ir::to_string(before), ir::to_string(after))};
  }
  return std::nullopt;
}

std::vector<std::string> origins_of(const ir::Graph& graph, const Match& match) {
  std::vector<std::string> origins;
  for (ir::NodeId id : match.nodes)
    for (const std::string& origin : graph.node(id).origins)
      if (!contains(origins, origin)) origins.push_back(origin);
  return origins;
}

/// The origins with `name` first, when it is one of them.
std::vector<std::string> itself_first(std::vector<std::string> origins, const std::string& name) {
  const auto found = std::find(origins.begin(), origins.end(), name);
  if (found != origins.end()) std::rotate(origins.begin(), found, found + 1);
  return origins;
}

void drop_nodes_from(ir::Graph& graph, size_t first) {
  for (size_t i = graph.node_capacity(); i-- > first;) graph.remove_node({static_cast<int32_t>(i)});
}

/// The readers of the root read the replacement, which takes over the value names of the root.
void redirect(ir::Graph& graph, const ir::Node& root, const std::vector<ir::ValueId>& values,
              size_t first_new) {
  for (size_t i = 0; i < root.outputs.size(); ++i) {
    if (!root.outputs[i].valid()) continue;
    graph.replace_uses(root.outputs[i], values[i]);
    const bool is_new = graph.producer(values[i]).index >= static_cast<int32_t>(first_new);
    if (is_new) std::swap(graph.value(root.outputs[i]).name, graph.value(values[i]).name);
  }
}

struct Sweep {
  ir::Graph& graph;
  Journal& journal;
  const RewriteOptions& options;
  int64_t applied = 0;

  bool stopped() const { return options.stop_after >= 0 && applied >= options.stop_after; }

  void refuse(const RewritePattern& pattern, const Match& match, const Failure& failure) {
    journal.refused.push_back(
        {pattern.name, failure.condition, node_names(graph, match.nodes), failure.reason});
  }

  /// Tries one pattern at one root; true when the graph changed.
  bool try_pattern(const RewritePattern& pattern, ir::NodeId root) {
    if (contains(options.disabled, pattern.name)) return false;
    const std::optional<Match> match = pattern.match(graph, root);
    if (!match) return false;
    require(match->nodes.back() == root, "the root is the last node of a match");
    std::optional<Failure> failure = universal_failure(graph, *match);
    if (!failure) failure = pattern.check(graph, *match);
    if (!failure && stopped()) return false;
    if (!failure) failure = apply(graph, pattern, *match, journal);
    if (failure) refuse(pattern, *match, *failure);
    if (!failure) ++applied;
    return !failure;
  }

  bool try_node(ir::NodeId root) {
    for (const RewritePattern& pattern : rewrites())
      if (try_pattern(pattern, root)) return true;
    return false;
  }

  /// Once over the graph; fan-out is read afresh for every candidate. True when something changed.
  bool run() {
    journal.refused.clear();
    bool changed = false;
    for (ir::NodeId id : graph.topological_order())
      if (!graph.node(id).removed) changed = try_node(id) || changed;
    return changed;
  }
};

}  // namespace

bool depends_on(const ir::Graph& graph, ir::ValueId value, std::span<const ir::NodeId> nodes) {
  std::unordered_set<int32_t> seen;
  std::vector<ir::NodeId> waiting = {graph.producer(value)};
  while (!waiting.empty()) {
    const ir::NodeId id = waiting.back();
    waiting.pop_back();
    if (!id.valid() || !seen.insert(id.index).second) continue;
    if (contains(nodes, id)) return true;
    for (ir::ValueId input : graph.node(id).inputs) waiting.push_back(graph.producer(input));
  }
  return false;
}

std::vector<std::string> node_names(const ir::Graph& graph, std::span<const ir::NodeId> nodes) {
  std::vector<std::string> names;
  for (ir::NodeId id : nodes) names.push_back(graph.node(id).name);
  return names;
}

std::optional<Failure> universal_failure(const ir::Graph& graph, const Match& match) {
  for (ir::NodeId id : match.nodes) {
    if (id == match.nodes.back()) continue;
    for (ir::ValueId output : graph.node(id).outputs) {
      if (!output.valid()) continue;
      if (auto failure = interior_failure(graph, match, output)) return failure;
    }
  }
  return convexity_failure(graph, match);
}

std::optional<Failure> apply(ir::Graph& graph, const RewritePattern& pattern, const Match& match,
                             Journal& journal) {
  const size_t first_new = graph.node_capacity();
  const size_t warnings = journal.warnings.size();
  const std::vector<ir::ValueId> values = pattern.replace(graph, match, journal);
  const ir::Node root = graph.node(match.nodes.back());
  if (auto failure = type_failure(graph, root, values)) {
    drop_nodes_from(graph, first_new);
    journal.warnings.resize(warnings);
    return failure;
  }
  const std::vector<std::string> origins = origins_of(graph, match);
  for (size_t i = first_new; i < graph.node_capacity(); ++i) {
    ir::Node& made = graph.node(ir::NodeId{static_cast<int32_t>(i)});
    made.origins = itself_first(origins, made.name);
  }
  journal.applied.push_back({pattern.name, node_names(graph, match.nodes)});
  redirect(graph, root, values, first_new);
  for (size_t i = match.nodes.size(); i-- > 0;) graph.remove_node(match.nodes[i]);
  return std::nullopt;
}

void apply_rewrites(ir::Graph& graph, Journal& journal, const RewriteOptions& options) {
  Sweep sweep{graph, journal, options};
  while (sweep.run()) {
  }
}

}  // namespace onepass::patterns
