// SPDX-License-Identifier: Apache-2.0
#include "patterns/pads.h"

#include <fmt/format.h>

#include "patterns/fold.h"

namespace onepass::patterns {

namespace {

bool has_input(const ir::Node& node, size_t input) {
  return input < node.inputs.size() && node.inputs[input].valid();
}

size_t rank_of(const ir::Graph& graph, ir::NodeId pad) {
  return graph.value(graph.node(pad).inputs[0]).type.dims.size();
}

/// Begins and ends for all axes; nothing when the list does not fit the rank.
std::optional<std::vector<int64_t>> all_amounts(const ir::Graph& graph, ir::NodeId pad) {
  const ir::Node& node = graph.node(pad);
  const auto rank = static_cast<int64_t>(rank_of(graph, pad));
  const std::vector<int64_t> given = known_constant(graph, node.inputs[1])->to_ints();
  std::vector<int64_t> axes;
  if (has_input(node, 3)) axes = known_constant(graph, node.inputs[3])->to_ints();
  for (int64_t axis = 0; !has_input(node, 3) && axis < rank; ++axis) axes.push_back(axis);
  if (given.size() != 2 * axes.size()) return std::nullopt;
  std::vector<int64_t> amounts(2 * rank, 0);
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t axis = axes[i] < 0 ? axes[i] + rank : axes[i];
    if (axis < 0 || axis >= rank) return std::nullopt;
    amounts[axis] = given[i];
    amounts[rank + axis] = given[axes.size() + i];
  }
  return amounts;
}

std::optional<Failure> amounts_failure(const ir::Graph& graph, ir::NodeId pad, const PadConditions& ids) {
  const std::string& name = graph.node(pad).name;
  const auto amounts = all_amounts(graph, pad);
  if (!amounts) return Failure{ids.known, fmt::format("the amounts of '{}' do not fit its rank", name)};
  const size_t rank = amounts->size() / 2;
  for (size_t axis = 0; axis < rank; ++axis) {
    const int64_t begin = (*amounts)[axis], end = (*amounts)[rank + axis];
    if (axis < 2 && (begin != 0 || end != 0))
      return Failure{ids.spatial, fmt::format("'{}' pads axis {} by {} and {}", name, axis, begin, end)};
    if (begin < 0 || end < 0)
      return Failure{ids.positive, fmt::format("'{}' crops axis {} by {} and {}", name, axis, begin, end)};
  }
  return std::nullopt;
}

}  // namespace

std::optional<Match> match_pad(const ir::Graph& graph, ir::NodeId window) {
  const ir::NodeId pad = graph.producer(graph.node(window).inputs[0]);
  if (!pad.valid() || graph.node(pad).op != ir::Op::Pad || rank_of(graph, pad) < 3) return std::nullopt;
  return Match{{pad, window}};
}

std::optional<Failure> pad_failure(const ir::Graph& graph, const Match& match, const PadConditions& ids) {
  const ir::Node& pad = graph.node(match.nodes[0]);
  const std::string mode = pad.attributes.get_string("mode", "constant");
  if (mode != "constant") return Failure{ids.mode, fmt::format("'{}' has mode {}", pad.name, mode)};
  for (size_t input = 1; input < pad.inputs.size(); ++input)
    if (has_input(pad, input) && known_constant(graph, pad.inputs[input]) == nullptr)
      return Failure{ids.known, fmt::format("input '{}' of '{}' is not constant",
                                            graph.value(pad.inputs[input]).name, pad.name)};
  if (auto failure = amounts_failure(graph, match.nodes[0], ids)) return failure;
  const ir::Node& window = graph.node(match.nodes[1]);
  const std::string auto_pad = window.attributes.get_string("auto_pad", "NOTSET");
  if (auto_pad == "NOTSET" || auto_pad == "VALID") return std::nullopt;
  return Failure{ids.auto_pad, fmt::format("'{}' has auto_pad {}", window.name, auto_pad)};
}

double pad_value(const ir::Graph& graph, ir::NodeId pad) {
  const ir::Node& node = graph.node(pad);
  return has_input(node, 2) ? known_constant(graph, node.inputs[2])->to_doubles().at(0) : 0.0;
}

std::vector<int64_t> summed_pads(const ir::Graph& graph, const Match& match) {
  const std::vector<int64_t> amounts = all_amounts(graph, match.nodes[0]).value();
  const size_t rank = amounts.size() / 2;
  std::vector<int64_t> sums(amounts.begin() + 2, amounts.begin() + static_cast<int64_t>(rank));
  sums.insert(sums.end(), amounts.begin() + static_cast<int64_t>(rank) + 2, amounts.end());
  const ir::Attributes& attributes = graph.node(match.nodes[1]).attributes;
  const bool explicit_pads = attributes.get_string("auto_pad", "NOTSET") == "NOTSET";
  const std::vector<int64_t> own = explicit_pads ? attributes.get_ints("pads") : std::vector<int64_t>{};
  for (size_t i = 0; i < own.size() && i < sums.size(); ++i) sums[i] += own[i];
  return sums;
}

ir::ValueId rebuild_window(ir::Graph& graph, const Match& match, ir::Attributes attributes) {
  const ir::Node window = graph.node(match.nodes[1]);
  attributes.set("pads", summed_pads(graph, match));
  attributes.erase("auto_pad");
  std::vector<ir::ValueId> inputs = window.inputs;
  inputs[0] = graph.node(match.nodes[0]).inputs[0];
  return graph.add_node(window.op, window.name, inputs, graph.value(window.outputs[0]).type,
                        std::move(attributes));
}

}  // namespace onepass::patterns
