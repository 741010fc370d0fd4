// SPDX-License-Identifier: Apache-2.0
//
// Pad -> AveragePool | MaxPool => AveragePool | MaxPool
//
// Padding of an AveragePool counts only with count_include_pad=1, which the rewrite sets; padding of a
// MaxPool acts as -infinity, so a Pad with zeros stays. Exactness: bitwise. Pays always: a copy of the
// feature map disappears.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "patterns/pads.h"
#include "patterns/patterns.h"

namespace onepass::patterns {

namespace {

constexpr Condition k_conditions[] = {
    {"C1", "the Pad has mode constant"},
    {"C2", "its amounts, value and axes are constants that fit its rank"},
    {"C3", "its value is 0 before an AveragePool, -infinity before a MaxPool"},
    {"C4", "it pads neither frames nor channels"},
    {"C5", "it does not crop: no amount is negative"},
    {"C6", "the pool has auto_pad NOTSET or VALID"},
    {"C7", "an AveragePool that pads by itself has count_include_pad=1"},
    {"C8", "the pool has ceil_mode 0, one output, and stays wider than its padding on each side"}};

std::optional<Match> match(const ir::Graph& graph, ir::NodeId node) {
  const ir::Op op = graph.node(node).op;
  return op == ir::Op::AveragePool || op == ir::Op::MaxPool ? match_pad(graph, node) : std::nullopt;
}

std::optional<Failure> pool_failure(const ir::Graph& graph, const Match& match) {
  const ir::Node& pool = graph.node(match.nodes[1]);
  const std::vector<int64_t> own = pool.attributes.get_ints("pads");
  const bool own_pads = std::any_of(own.begin(), own.end(), [](int64_t amount) { return amount != 0; });
  const bool counted = pool.attributes.get_int("count_include_pad", 0) != 0;
  if (pool.op == ir::Op::AveragePool && own_pads && !counted)
    return Failure{"C7", fmt::format("'{}' has pads of its own, which it does not count", pool.name)};
  if (pool.attributes.get_int("ceil_mode", 0) != 0)
    return Failure{"C8", fmt::format("'{}' has ceil_mode 1", pool.name)};
  if (pool.outputs.size() > 1 && pool.outputs[1].valid())
    return Failure{"C8", fmt::format("'{}' also returns indices", pool.name)};
  const std::vector<int64_t> kernel = pool.attributes.get_ints("kernel_shape");
  const std::vector<int64_t> pads = summed_pads(graph, match);
  for (size_t i = 0; i < pads.size() && !kernel.empty(); ++i)
    if (pads[i] >= kernel[i % kernel.size()])
      return Failure{"C8", fmt::format("'{}' would pad by {} for a kernel extent of {}", pool.name, pads[i],
                                       kernel[i % kernel.size()])};
  return std::nullopt;
}

std::optional<Failure> check(const ir::Graph& graph, const Match& match) {
  const PadConditions ids{.mode = "C1", .known = "C2", .spatial = "C4", .positive = "C5", .auto_pad = "C6"};
  if (auto failure = pad_failure(graph, match, ids)) return failure;
  const bool is_max = graph.node(match.nodes[1]).op == ir::Op::MaxPool;
  const double neutral = is_max ? -std::numeric_limits<double>::infinity() : 0.0;
  const double value = pad_value(graph, match.nodes[0]);
  if (value != neutral)
    return Failure{"C3", fmt::format("'{}' pads with {}, the pool would with {}",
                                     graph.node(match.nodes[0]).name, value, neutral)};
  return pool_failure(graph, match);
}

std::vector<ir::ValueId> replace(ir::Graph& graph, const Match& match, Journal&) {
  ir::Attributes attributes = graph.node(match.nodes[1]).attributes;
  if (graph.node(match.nodes[1]).op == ir::Op::AveragePool) attributes.set("count_include_pad", int64_t{1});
  std::vector<ir::ValueId> values(graph.node(match.nodes[1]).outputs.size());
  values[0] = rebuild_window(graph, match, std::move(attributes));
  return values;
}

}  // namespace

RewritePattern pad_pool() {
  return {.name = "pad_pool",
          .before_after = "Pad -> AveragePool | MaxPool => AveragePool | MaxPool",
          .formula = "pads' = pads + amounts of the Pad; AveragePool: count_include_pad = 1",
          .exactness = "bitwise",
          .conditions = k_conditions,
          .match = match,
          .check = check,
          .replace = replace};
}

}  // namespace onepass::patterns
