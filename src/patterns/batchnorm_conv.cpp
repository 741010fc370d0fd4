// SPDX-License-Identifier: Apache-2.0
//
// BatchNormalization | Mul | Add | Sub | Div by a constant -> Conv => Conv
//
// The scale goes into the weights of the input channels, the shift into the bias. Padding adds zeros behind
// the shift, so a folded shift would be wrong at the borders: it folds only where nothing is padded.
// Exactness: rounding (computed in double, rounded once to f32). Pays always: one pass over the feature map
// disappears.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "patterns/affine.h"
#include "patterns/batchnorm.h"
#include "patterns/patterns.h"

namespace onepass::patterns {

namespace {

constexpr Condition k_conditions[] = {
    {"C1",
     "the node in front is an inference BatchNormalization, or a division has the constant as its divisor"},
    {"C2", "a BatchNormalization has one statistic for each channel (spatial is not 0)"},
    {"C3", "the parameters in front are constants of type f32; a graph input is none"},
    {"C4", "weights and bias of the convolution are constants of type f32; a graph input is none"},
    {"C5", "weights and bias have the shapes of the standard"},
    {"C6", "the parameters in front are scalar or have one value for each input channel"},
    {"C7", "a shift other than 0 meets no padding: pads are 0, auto_pad is NOTSET or VALID"},
    {"C8", "all gains and shifts are finite and no finite weight leaves the range of f32"}};

bool is_batchnorm(const ir::Graph& graph, ir::NodeId node) {
  return graph.node(node).op == ir::Op::BatchNormalization;
}

std::optional<Match> match(const ir::Graph& graph, ir::NodeId conv) {
  if (graph.node(conv).op != ir::Op::Conv) return std::nullopt;
  const ir::NodeId front = graph.producer(graph.node(conv).inputs[0]);
  if (!front.valid()) return std::nullopt;
  if (!is_batchnorm(graph, front) && !affine_node(graph, front)) return std::nullopt;
  return Match{{front, conv}};
}

int variable_of(const ir::Graph& graph, ir::NodeId front) {
  return is_batchnorm(graph, front) ? 0 : affine_node(graph, front)->variable;
}

std::optional<Failure> front_failure(const ir::Graph& graph, ir::NodeId front) {
  if (is_batchnorm(graph, front))
    return batchnorm_failure(graph, front, {.inference = "C1", .spatial = "C2", .constant = "C3"});
  const AffineNode operands = *affine_node(graph, front);
  const ir::Node& node = graph.node(front);
  if (node.op == ir::Op::Div && operands.variable != 0)
    return Failure{"C1", fmt::format("'{}' divides by its variable operand", node.name)};
  return constant_failure(graph, front, operands.constant, "operand", "C3");
}

/// The front node as an affine map of the convolution's input channels; the front is checked up to C5.
std::optional<ChannelAffine> affine_in_front(const ir::Graph& graph, const Match& match) {
  const ir::NodeId front = match.nodes[0], conv = match.nodes[1];
  const int64_t channels = input_channels(graph, conv);
  if (is_batchnorm(graph, front)) {
    if (batchnorm_length_failure(graph, front, channels, "C6")) return std::nullopt;
    return batchnorm_affine(graph, front);
  }
  const ir::Node& node = graph.node(front);
  const AffineNode operands = *affine_node(graph, front);
  const size_t rank = known_constant(graph, graph.node(conv).inputs[1])->shape().size();
  const auto values = per_channel(*known_constant(graph, node.inputs[operands.constant]), rank, channels);
  return values ? affine_of(node.op, operands.variable == 0, *values) : std::nullopt;
}

bool pads(const ir::Node& conv) {
  const std::string auto_pad = conv.attributes.get_string("auto_pad", "NOTSET");
  if (auto_pad != "NOTSET") return auto_pad != "VALID";
  const std::vector<int64_t> amounts = conv.attributes.get_ints("pads");
  return std::any_of(amounts.begin(), amounts.end(), [](int64_t amount) { return amount != 0; });
}

/// C7 and C8.
std::optional<Failure> value_failure(const ir::Graph& graph, const Match& match,
                                     const ChannelAffine& affine) {
  const ir::NodeId conv = match.nodes[1];
  for (size_t c = 0; c < affine.scale.size(); ++c) {
    if (affine.shift[c] != 0 && pads(graph.node(conv)))
      return Failure{"C7",
                     fmt::format("'{}' pads with zeros, which the shift {} of channel {} does not reach",
                                 graph.node(conv).name, affine.shift[c], c)};
    if (!std::isfinite(affine.scale[c]) || !std::isfinite(affine.shift[c]))
      return Failure{"C8",
                     fmt::format("channel {} has gain {} and shift {}", c, affine.scale[c], affine.shift[c])};
  }
  return overflow_failure(graph, conv, affine, fold_in_front(graph, conv, affine), "C8");
}

std::optional<Failure> check(const ir::Graph& graph, const Match& match) {
  const ir::NodeId front = match.nodes[0], conv = match.nodes[1];
  if (auto failure = front_failure(graph, front)) return failure;
  if (auto failure = linear_failure(graph, conv, {.constant = "C4", .shape = "C5"})) return failure;
  const auto affine = affine_in_front(graph, match);
  if (!affine)
    return Failure{"C6", fmt::format("the parameters of '{}' do not fit {} input channels",
                                     graph.node(front).name, input_channels(graph, conv))};
  return value_failure(graph, match, *affine);
}

std::vector<ir::ValueId> replace(ir::Graph& graph, const Match& match, Journal& journal) {
  const ir::NodeId front = match.nodes[0], conv = match.nodes[1];
  if (is_batchnorm(graph, front)) warn_about_statistics(graph, front, journal);
  const FoldedWeights folded = fold_in_front(graph, conv, *affine_in_front(graph, match));
  const ir::ValueId x = graph.node(front).inputs[variable_of(graph, front)];
  return {rebuild_linear(graph, conv, x, folded, graph.value(graph.node(conv).outputs[0]).type)};
}

}  // namespace

RewritePattern batchnorm_conv() {
  return {
      .name = "batchnorm_conv",
      .before_after = "BatchNormalization | Mul | Add | Sub | Div by a constant -> Conv => Conv",
      .formula =
          "w'[o,c] = w[o,c] * s[c], b'[o] = b[o] + sum over c, kh, kw of w[o,c,kh,kw] * t[c] for x * s + t",
      .exactness = "rounding",
      .conditions = k_conditions,
      .match = match,
      .check = check,
      .replace = replace};
}

}  // namespace onepass::patterns
