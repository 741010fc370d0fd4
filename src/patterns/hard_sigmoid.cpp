// SPDX-License-Identifier: Apache-2.0
//
// Clip(x + a, 0, h) / h => HardSigmoid(x)
//
// The usual exporter's form has a = 3 and h = 6. Exactness: rounding. Pays always: one step in place of
// three.
#include <fmt/format.h>

#include "patterns/patterns.h"
#include "patterns/spelling.h"

namespace onepass::patterns {

namespace {

constexpr Condition k_conditions[] = {
    {"C1", "x is of type f32"},
    {"C2", "the bounds are constants and the lower one is 0"},
    {"C3", "the factor behind is 1 / h for the upper bound h > 0, up to its rounding to f32"}};

struct Parts {
  Match match;
  Shifted sum;
  double factor;
};

std::optional<Parts> parts(const ir::Graph& graph, ir::NodeId root) {
  const ir::Node& node = graph.node(root);
  if (node.op != ir::Op::Mul && node.op != ir::Op::Div) return std::nullopt;
  const Scaled outer = scaled(graph, node.outputs[0]);
  if (!outer.node.valid()) return std::nullopt;
  const ir::NodeId clip = graph.producer(outer.base);
  if (!clip.valid() || graph.node(clip).op != ir::Op::Clip) return std::nullopt;
  const auto sum = shifted(graph, graph.node(clip).inputs[0]);
  if (!sum) return std::nullopt;
  return Parts{{{sum->node, clip, root}}, *sum, outer.factor};
}

std::optional<Match> match(const ir::Graph& graph, ir::NodeId root) {
  const auto found = parts(graph, root);
  return found ? std::optional(found->match) : std::nullopt;
}

std::optional<Failure> check(const ir::Graph& graph, const Match& match) {
  const Parts found = *parts(graph, match.nodes.back());
  if (auto failure = f32_failure(graph, found.sum.base, "C1")) return failure;
  const std::string& name = graph.node(match.nodes[1]).name;
  const auto clip = ir::activation_of(graph, match.nodes[1]);
  if (!clip) return Failure{"C2", fmt::format("'{}' has bounds that are not constant", name)};
  if (clip->alpha != 0) return Failure{"C2", fmt::format("'{}' has the lower bound {}", name, clip->alpha)};
  if (clip->beta > 0 && nearly(found.factor, 1 / clip->beta)) return std::nullopt;
  return Failure{"C3", fmt::format("'{}' has the upper bound {}, the factor behind is {}", name, clip->beta,
                                   found.factor)};
}

std::vector<ir::ValueId> replace(ir::Graph& graph, const Match& match, Journal&) {
  const Parts found = *parts(graph, match.nodes.back());
  const double h = ir::activation_of(graph, match.nodes[1])->beta;
  return {add_activation(graph, match, found.sum.base, {ir::Op::HardSigmoid, 1 / h, found.sum.addend / h})};
}

}  // namespace

RewritePattern hard_sigmoid() {
  return {.name = "hard_sigmoid",
          .before_after = "Clip(x + a, 0, h) / h => HardSigmoid(x)",
          .formula = "alpha = 1 / h, beta = a / h",
          .exactness = "rounding",
          .conditions = k_conditions,
          .match = match,
          .check = check,
          .replace = replace};
}

}  // namespace onepass::patterns
