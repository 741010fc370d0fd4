// SPDX-License-Identifier: Apache-2.0
//
// Pad with zeros -> Conv => Conv
//
// Exactness: bitwise (the same products in the same order, those with padding are zeros either way). Pays
// always: a copy of the feature map disappears.
#include <fmt/format.h>

#include "patterns/pads.h"
#include "patterns/patterns.h"

namespace onepass::patterns {

namespace {

constexpr Condition k_conditions[] = {{"C1", "the Pad has mode constant"},
                                      {"C2", "its amounts, value and axes are constants that fit its rank"},
                                      {"C3", "its value is 0"},
                                      {"C4", "it pads neither frames nor channels"},
                                      {"C5", "it does not crop: no amount is negative"},
                                      {"C6", "the convolution has auto_pad NOTSET or VALID"}};

std::optional<Match> match(const ir::Graph& graph, ir::NodeId node) {
  return graph.node(node).op == ir::Op::Conv ? match_pad(graph, node) : std::nullopt;
}

std::optional<Failure> check(const ir::Graph& graph, const Match& match) {
  const PadConditions ids{.mode = "C1", .known = "C2", .spatial = "C4", .positive = "C5", .auto_pad = "C6"};
  if (auto failure = pad_failure(graph, match, ids)) return failure;
  const double value = pad_value(graph, match.nodes[0]);
  if (value == 0) return std::nullopt;
  return Failure{"C3", fmt::format("'{}' pads with {}", graph.node(match.nodes[0]).name, value)};
}

std::vector<ir::ValueId> replace(ir::Graph& graph, const Match& match, Journal&) {
  return {rebuild_window(graph, match, graph.node(match.nodes[1]).attributes)};
}

}  // namespace

RewritePattern pad_conv() {
  return {.name = "pad_conv",
          .before_after = "Pad with zeros -> Conv => Conv",
          .formula = "pads' = pads + amounts of the Pad",
          .exactness = "bitwise",
          .conditions = k_conditions,
          .match = match,
          .check = check,
          .replace = replace};
}

}  // namespace onepass::patterns
