// SPDX-License-Identifier: Apache-2.0
//
// Relu | Clip -> Relu | Clip => Relu | Clip
//
// Exactness: bitwise. Pays always: one step in place of two.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "patterns/patterns.h"
#include "patterns/spelling.h"

namespace onepass::patterns {

namespace {

constexpr Condition k_conditions[] = {
    {"C1", "both are of type f32 with constant bounds"},
    {"C2", "neither range is empty or bounded by NaN, and the two overlap"}};

constexpr double k_infinity = std::numeric_limits<double>::infinity();

struct Range {
  double low, high;
};

bool is_clip(const ir::Graph& graph, ir::NodeId id) {
  return id.valid() && (graph.node(id).op == ir::Op::Relu || graph.node(id).op == ir::Op::Clip);
}

std::optional<Range> range_of(const ir::Graph& graph, ir::NodeId id) {
  const auto activation = ir::activation_of(graph, id);
  if (!activation) return std::nullopt;
  if (activation->op == ir::Op::Relu) return Range{0, k_infinity};
  return Range{activation->alpha, activation->beta};
}

std::optional<Match> match(const ir::Graph& graph, ir::NodeId root) {
  if (!is_clip(graph, root)) return std::nullopt;
  const ir::NodeId before = graph.producer(graph.node(root).inputs[0]);
  return is_clip(graph, before) ? std::optional(Match{{before, root}}) : std::nullopt;
}

/// The common range; both are known.
Range common_range(const ir::Graph& graph, const Match& match) {
  const Range first = *range_of(graph, match.nodes[0]), second = *range_of(graph, match.nodes[1]);
  return {std::max(first.low, second.low), std::min(first.high, second.high)};
}

std::optional<Failure> check(const ir::Graph& graph, const Match& match) {
  for (const ir::NodeId id : match.nodes) {
    const auto range = range_of(graph, id);
    const std::string& name = graph.node(id).name;
    if (!range) return Failure{"C1", fmt::format("'{}' is not f32 or has a bound that is no constant", name)};
    if (!(range->low <= range->high))
      return Failure{"C2", fmt::format("the range of '{}' is [{}, {}]", name, range->low, range->high)};
  }
  const Range range = common_range(graph, match);
  if (range.low <= range.high) return std::nullopt;
  return Failure{"C2",
                 fmt::format("the ranges of '{}' and '{}' leave [{}, {}]", graph.node(match.nodes[0]).name,
                             graph.node(match.nodes[1]).name, range.low, range.high)};
}

std::vector<ir::ValueId> replace(ir::Graph& graph, const Match& match, Journal&) {
  const Range range = common_range(graph, match);
  const ir::ValueId x = graph.node(match.nodes[0]).inputs[0];
  if (range.low == 0 && range.high == k_infinity)
    return {add_activation(graph, match, x, {ir::Op::Relu, 0, 0})};
  return {add_activation(graph, match, x, {ir::Op::Clip, range.low, range.high})};
}

}  // namespace

RewritePattern clip_chain() {
  return {.name = "clip_chain",
          .before_after = "Relu | Clip -> Relu | Clip => Relu | Clip",
          .formula = "the intersection of both ranges",
          .exactness = "bitwise",
          .conditions = k_conditions,
          .match = match,
          .check = check,
          .replace = replace};
}

}  // namespace onepass::patterns
