// SPDX-License-Identifier: Apache-2.0
#include "patterns/fold.h"

#include <fmt/format.h>

#include <cmath>

namespace onepass::patterns {

namespace {

using ir::Op;

/// A weight tensor as [rows][columns][taps].
struct WeightView {
  int64_t rows, columns, taps;
};

WeightView view(const ir::Tensor& weights) {
  const ir::Shape& shape = weights.shape();
  return {shape[0], shape[1], weights.size() / std::max<int64_t>(1, shape[0] * shape[1])};
}

int64_t group_of(const ir::Node& node) {
  return node.attributes.get_int("group", 1);
}

bool transposed_weights(const ir::Node& gemm) {
  return gemm.attributes.get_int("transB", 0) != 0;
}

/// The output channel that weight [row][column] adds to.
int64_t output_channel(const ir::Node& node, const WeightView& w, int64_t row, int64_t column) {
  if (node.op == Op::Conv) return row;
  if (node.op == Op::Gemm) return transposed_weights(node) ? row : column;
  const int64_t rows_per_group = w.rows / group_of(node);
  return row / rows_per_group * w.columns + column;
}

/// The input channel that weight [row][column] of a Conv reads.
int64_t input_channel(const ir::Node& conv, const WeightView& w, int64_t row, int64_t column) {
  const int64_t rows_per_group = w.rows / group_of(conv);
  return row / rows_per_group * w.columns + column;
}

const ir::Tensor& weights_of(const ir::Graph& graph, ir::NodeId linear) {
  const ir::Tensor* weights = known_constant(graph, graph.node(linear).inputs[1]);
  require(weights != nullptr, "weights were checked to be constant");
  return *weights;
}

bool has_bias(const ir::Node& linear) {
  return linear.inputs.size() > 2 && linear.inputs[2].valid();
}

/// The bias as it is added, one entry for each channel: zeros when absent, times beta for Gemm.
std::vector<double> effective_bias(const ir::Graph& graph, ir::NodeId id, int64_t channels) {
  const ir::Node& node = graph.node(id);
  std::vector<double> bias(channels, 0.0);
  if (!has_bias(node)) return bias;
  const ir::Tensor* constant = known_constant(graph, node.inputs[2]);
  require(constant != nullptr, "bias was checked to be constant");
  const std::vector<double> values = constant->to_doubles();
  const double beta = node.op == Op::Gemm ? node.attributes.get_float("beta", 1.0) : 1.0;
  for (int64_t c = 0; c < channels; ++c) bias[c] = beta * values[values.size() == 1 ? 0 : c];
  return bias;
}

ir::Tensor rounded(const std::vector<double>& values) {
  ir::Tensor tensor(ir::DType::f32, {static_cast<int64_t>(values.size())});
  for (size_t i = 0; i < values.size(); ++i) tensor.data<float>()[i] = static_cast<float>(values[i]);
  return tensor;
}

/// Calls visit(row, column, first element) for every run of taps.
template <class Visit>
void for_each_run(const WeightView& w, Visit visit) {
  for (int64_t row = 0; row < w.rows; ++row)
    for (int64_t column = 0; column < w.columns; ++column)
      visit(row, column, (row * w.columns + column) * w.taps);
}

bool bias_fits(const ir::Node& node, const ir::Tensor& bias, int64_t channels) {
  if (node.op != Op::Gemm) return bias.shape() == ir::Shape{channels};
  const bool row = !bias.shape().empty() && bias.shape().back() == channels && bias.size() == channels;
  return bias.size() == 1 || row;
}

bool weights_fit(const ir::Node& node, const ir::Tensor& weights) {
  const size_t rank = weights.shape().size();
  if (node.op == Op::Gemm) return rank == 2;
  const int64_t group = group_of(node);
  return rank >= 3 && group > 0 && weights.size() > 0 && weights.shape()[0] % group == 0;
}

}  // namespace

const ir::Tensor* known_constant(const ir::Graph& graph, ir::ValueId value) {
  while (value.valid() && graph.producer(value).valid() &&
         graph.node(graph.producer(value)).op == Op::Identity)
    value = graph.node(graph.producer(value)).inputs[0];
  return graph.is_constant(value) ? &graph.value(value).constant : nullptr;
}

std::optional<Failure> constant_failure(const ir::Graph& graph, ir::NodeId id, size_t input, const char* what,
                                        const char* condition) {
  const ir::Node& node = graph.node(id);
  const bool present = input < node.inputs.size() && node.inputs[input].valid();
  if (!present) return Failure{condition, fmt::format("'{}' has no {}", node.name, what)};
  const ir::Value& value = graph.value(node.inputs[input]);
  const auto because = [&](const std::string& words) {
    return Failure{condition, fmt::format("{} '{}' of '{}' {}", what, value.name, node.name, words)};
  };
  if (value.is_input)
    return because("is a graph input (an overridable initializer or run-time value), not a constant");
  const ir::Tensor* constant = known_constant(graph, node.inputs[input]);
  if (constant == nullptr) {
    const ir::NodeId producer = graph.producer(node.inputs[input]);
    return because(
        fmt::format("is computed at run time by '{}'", producer.valid() ? graph.node(producer).name : "?"));
  }
  if (constant->dtype() == ir::DType::f32) return std::nullopt;
  return because(fmt::format("is {}, not f32", ir::name(constant->dtype())));
}

std::optional<Failure> linear_failure(const ir::Graph& graph, ir::NodeId id, const LinearConditions& ids) {
  const ir::Node& node = graph.node(id);
  if (auto failure = constant_failure(graph, id, 1, "weights", ids.constant)) return failure;
  if (has_bias(node))
    if (auto failure = constant_failure(graph, id, 2, "bias", ids.constant)) return failure;
  const ir::Tensor& weights = weights_of(graph, id);
  if (!weights_fit(node, weights))
    return Failure{ids.shape, fmt::format("weights of '{}' are {} with group {}", node.name,
                                          ir::to_string(weights.shape()), group_of(node))};
  if (!has_bias(node)) return std::nullopt;
  const ir::Tensor& bias = *known_constant(graph, node.inputs[2]);
  if (bias_fits(node, bias, output_channels(graph, id))) return std::nullopt;
  return Failure{ids.shape, fmt::format("bias of '{}' is {} for {} output channels", node.name,
                                        ir::to_string(bias.shape()), output_channels(graph, id))};
}

int64_t output_channels(const ir::Graph& graph, ir::NodeId id) {
  const ir::Node& node = graph.node(id);
  const ir::Shape& shape = weights_of(graph, id).shape();
  if (node.op == Op::Conv) return shape[0];
  if (node.op == Op::Gemm) return shape[transposed_weights(node) ? 0 : 1];
  return shape[1] * group_of(node);
}

int64_t input_channels(const ir::Graph& graph, ir::NodeId conv) {
  return weights_of(graph, conv).shape()[1] * group_of(graph.node(conv));
}

FoldedWeights fold_behind(const ir::Graph& graph, ir::NodeId id, const ChannelAffine& affine) {
  const ir::Node& node = graph.node(id);
  const ir::Tensor& weights = weights_of(graph, id);
  const WeightView w = view(weights);
  const std::span<const float> src = weights.data<float>();
  ir::Tensor scaled(ir::DType::f32, weights.shape());
  const std::span<float> dst = scaled.data<float>();
  for_each_run(w, [&](int64_t row, int64_t column, int64_t first) {
    const double scale = affine.scale[output_channel(node, w, row, column)];
    for (int64_t i = first; i < first + w.taps; ++i) dst[i] = static_cast<float>(src[i] * scale);
  });
  std::vector<double> bias = effective_bias(graph, id, output_channels(graph, id));
  for (size_t c = 0; c < bias.size(); ++c) bias[c] = bias[c] * affine.scale[c] + affine.shift[c];
  return {scaled, rounded(bias)};
}

FoldedWeights fold_in_front(const ir::Graph& graph, ir::NodeId id, const ChannelAffine& affine) {
  const ir::Node& conv = graph.node(id);
  const ir::Tensor& weights = weights_of(graph, id);
  const WeightView w = view(weights);
  const std::span<const float> src = weights.data<float>();
  ir::Tensor scaled(ir::DType::f32, weights.shape());
  const std::span<float> dst = scaled.data<float>();
  std::vector<double> bias = effective_bias(graph, id, w.rows);
  for_each_run(w, [&](int64_t row, int64_t column, int64_t first) {
    const int64_t channel = input_channel(conv, w, row, column);
    for (int64_t i = first; i < first + w.taps; ++i) {
      dst[i] = static_cast<float>(src[i] * affine.scale[channel]);
      bias[row] += src[i] * affine.shift[channel];
    }
  });
  return {scaled, rounded(bias)};
}

namespace {

/// An infinite bias or shift of the user's stays what it is.
std::optional<Failure> bias_overflow_failure(const ir::Graph& graph, ir::NodeId linear,
                                             const ChannelAffine& affine, const FoldedWeights& folded,
                                             const char* condition) {
  const std::span<const float> after = folded.bias.data<float>();
  const std::vector<double> before = effective_bias(graph, linear, static_cast<int64_t>(after.size()));
  for (size_t c = 0; c < after.size(); ++c) {
    const bool given = std::isinf(before[c]) || (c < affine.shift.size() && std::isinf(affine.shift[c]));
    if (std::isinf(after[c]) && !given)
      return Failure{condition, fmt::format("the bias of channel {} leaves the range of f32", c)};
  }
  return std::nullopt;
}

}  // namespace

std::optional<Failure> overflow_failure(const ir::Graph& graph, ir::NodeId linear,
                                        const ChannelAffine& affine, const FoldedWeights& folded,
                                        const char* condition) {
  for (size_t c = 0; c < affine.scale.size(); ++c)
    if (std::isinf(affine.scale[c]))
      return Failure{condition, fmt::format("channel {} has an infinite gain", c)};
  const std::span<const float> before = weights_of(graph, linear).data<float>();
  const std::span<const float> after = folded.weights.data<float>();
  for (size_t i = 0; i < before.size(); ++i)
    if (std::isinf(after[i]) && !std::isinf(before[i]))
      return Failure{condition, fmt::format("weight {} = {} leaves the range of f32", i, before[i])};
  return bias_overflow_failure(graph, linear, affine, folded, condition);
}

ir::ValueId rebuild_linear(ir::Graph& graph, ir::NodeId id, ir::ValueId x, const FoldedWeights& folded,
                           ir::TensorType type) {
  const ir::Node old = graph.node(id);
  const auto named = [&](size_t input, const char* suffix) {
    const bool present = input < old.inputs.size() && old.inputs[input].valid();
    return graph.unique_name(present ? graph.value(old.inputs[input]).name : old.name + suffix);
  };
  const ir::ValueId weights = graph.add_constant(named(1, ".weight"), folded.weights);
  const ir::ValueId bias = graph.add_constant(named(2, ".bias"), folded.bias);
  ir::Attributes attributes = old.attributes;
  if (old.op == Op::Gemm) attributes.set("beta", 1.0);
  return graph.add_node(old.op, old.name, {x, weights, bias}, std::move(type), attributes);
}

}  // namespace onepass::patterns
