// SPDX-License-Identifier: Apache-2.0
#include "patterns/batchnorm.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace onepass::patterns {

namespace {

constexpr const char* k_parameters[] = {"scale", "bias", "mean", "variance"};
constexpr double k_large_gain = 10;
constexpr double k_cancelling_ratio = 1000;

/// The checked parameters as double.
struct Statistics {
  std::vector<double> scale, bias, mean, variance;
  double epsilon;
};

Statistics statistics(const ir::Graph& graph, ir::NodeId bn) {
  const ir::Node& node = graph.node(bn);
  const auto values = [&](size_t input) {
    const ir::Tensor* constant = known_constant(graph, node.inputs[input]);
    require(constant != nullptr, "statistics were checked to be constant");
    return constant->to_doubles();
  };
  return {values(1), values(2), values(3), values(4), node.attributes.get_float("epsilon", 1e-5)};
}

void warn(const ir::Graph& graph, ir::NodeId bn, Journal& journal, const char* code, std::string message) {
  Diagnostic warning = ir::diagnostic_at(graph.node(bn), code, std::move(message));
  warning.severity = Severity::warning;
  journal.warnings.push_back(std::move(warning));
}

/// The channel with the largest measure above the limit, and how many there are.
struct Extreme {
  size_t channel = 0, count = 0;
  double measure = 0;
};

template <class Measure>
Extreme find_extreme(size_t channels, double limit, Measure measure) {
  Extreme extreme;
  for (size_t c = 0; c < channels; ++c) {
    const double m = measure(c);
    if (!(m > limit)) continue;
    ++extreme.count;
    if (m > extreme.measure) extreme = {c, extreme.count, m};
  }
  return extreme;
}

bool all_equal(const std::vector<double>& values, double expected) {
  return std::all_of(values.begin(), values.end(), [&](double v) { return v == expected; });
}

}  // namespace

std::optional<Failure> batchnorm_failure(const ir::Graph& graph, ir::NodeId bn,
                                         const BatchNormConditions& ids) {
  const ir::Node& node = graph.node(bn);
  if (node.attributes.get_int("training_mode", 0) != 0)
    return Failure{ids.inference,
                   fmt::format("'{}' has training_mode=1: it uses the statistics of the batch", node.name)};
  const auto outputs =
      std::count_if(node.outputs.begin(), node.outputs.end(), [](ir::ValueId v) { return v.valid(); });
  if (outputs > 1)
    return Failure{ids.inference,
                   fmt::format("'{}' has {} outputs: it is in training mode", node.name, outputs)};
  if (node.attributes.get_int("spatial", 1) == 0)
    return Failure{ids.spatial, fmt::format("'{}' has spatial=0: one statistic for each element", node.name)};
  for (size_t i = 0; i < 4; ++i)
    if (auto failure = constant_failure(graph, bn, i + 1, k_parameters[i], ids.constant)) return failure;
  return std::nullopt;
}

std::optional<Failure> batchnorm_length_failure(const ir::Graph& graph, ir::NodeId bn, int64_t channels,
                                                const char* condition) {
  const ir::Node& node = graph.node(bn);
  for (size_t i = 0; i < 4; ++i) {
    const ir::Shape& shape = known_constant(graph, node.inputs[i + 1])->shape();
    if (shape != ir::Shape{channels})
      return Failure{condition, fmt::format("{} of '{}' is {} for {} channels", k_parameters[i], node.name,
                                            ir::to_string(shape), channels)};
  }
  return std::nullopt;
}

ChannelAffine batchnorm_affine(const ir::Graph& graph, ir::NodeId bn) {
  const Statistics s = statistics(graph, bn);
  ChannelAffine affine;
  for (size_t c = 0; c < s.scale.size(); ++c) {
    const double gain = s.scale[c] / std::sqrt(s.variance[c] + s.epsilon);
    affine.scale.push_back(gain);
    affine.shift.push_back(s.bias[c] - s.mean[c] * gain);
  }
  return affine;
}

void warn_about_statistics(const ir::Graph& graph, ir::NodeId bn, Journal& journal) {
  const Statistics s = statistics(graph, bn);
  const size_t channels = s.scale.size();
  const auto deviation = [&](size_t c) { return std::sqrt(s.variance[c] + s.epsilon); };
  const Extreme gain =
      find_extreme(channels, k_large_gain, [&](size_t c) { return std::abs(s.scale[c]) / deviation(c); });
  if (gain.count > 0)
    warn(graph, bn, journal, "large_gain",
         fmt::format(
             "{} of {} channels are scaled by more than {}, channel {} by {:.1f}: rounding errors of the "
             "convolution grow alike, folded or not",
             gain.count, channels, k_large_gain, gain.channel, gain.measure));
  const Extreme negative = find_extreme(channels, 0, [&](size_t c) { return -(s.variance[c] + s.epsilon); });
  if (negative.count > 0)
    warn(graph, bn, journal, "negative_variance",
         fmt::format(
             "variance + epsilon is negative in {} of {} channels ({} in channel {}): these channels are NaN",
             negative.count, channels, -negative.measure, negative.channel));
  const Extreme far = find_extreme(channels, k_cancelling_ratio,
                                   [&](size_t c) { return std::abs(s.mean[c]) / deviation(c); });
  if (far.count > 0)
    warn(graph, bn, journal, "cancellation",
         fmt::format("the mean of channel {} is {:.0f} standard deviations from zero ({} of {} channels "
                     "above {}): the "
                     "result is a small difference of large numbers, folded or not",
                     far.channel, far.measure, far.count, channels, k_cancelling_ratio));
  if (channels > 0 && all_equal(s.mean, 0) && all_equal(s.variance, 1))
    warn(graph, bn, journal, "placeholder_statistics",
         "all means are 0 and all variances 1: the running statistics look untrained. They are used as they "
         "are; a framework in training mode uses those of the batch instead and gives other results");
}

}  // namespace onepass::patterns
