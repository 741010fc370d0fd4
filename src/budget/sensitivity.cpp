// SPDX-License-Identifier: Apache-2.0
#include "budget/sensitivity.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "budget/parallel.h"
#include "ops/interpreter.h"

namespace onepass::budget {

namespace {

using ir::Graph;
using ir::NodeId;
using ir::Tensor;
using ir::ValueId;

constexpr int k_most_draws = 4;
constexpr double k_frames = 200;  // of a verification

/// Operators whose integer results pick among their inputs: verify compares what enters them.
bool selects(ir::Op op) {
  return op == ir::Op::NonMaxSuppression || op == ir::Op::TopK || op == ir::Op::ArgMax;
}

bool moves_elements(ir::Op op) {
  using ir::Op;
  constexpr Op k_ops[] = {Op::Transpose, Op::Slice,   Op::Split,     Op::Reshape,
                          Op::Flatten,   Op::Squeeze, Op::Unsqueeze, Op::Identity};
  return std::find(std::begin(k_ops), std::end(k_ops), op) != std::end(k_ops);
}

/// The greatest difference; infinite when one of them is no number.
double greatest_distance(const Tensor& a, const Tensor& b) {
  const std::span<const float> left = a.data<float>(), right = b.data<float>();
  double greatest = 0;
  for (size_t i = 0; i < left.size(); ++i) {
    if (left[i] == right[i]) continue;
    const double distance = std::abs(static_cast<double>(left[i]) - right[i]);
    greatest =
        std::max(greatest, std::isfinite(distance) ? distance : std::numeric_limits<double>::infinity());
  }
  return greatest;
}

uint64_t mixed(uint64_t state) {
  state = (state ^ state >> 30U) * 0xbf58476d1ce4e5b9U;
  state = (state ^ state >> 27U) * 0x94d049bb133111ebU;
  return state ^ state >> 31U;
}

/// Every element times 1 + rms * n, n independent, of mean 0 and variance 1.
Tensor noisy(const Tensor& tensor, double rms, uint64_t seed) {
  if (tensor.dtype() != ir::DType::f32) return tensor;
  const std::span<const float> from = tensor.data<float>();
  Tensor result(tensor.dtype(), tensor.shape());
  const std::span<float> to = result.data<float>();
  const auto width = static_cast<float>(2 * std::sqrt(3.0) * rms);
  for (size_t i = 0; i < from.size(); ++i) {
    const auto uniform = static_cast<float>(mixed(seed + i * 0x9e3779b97f4a7c15U) >> 40U) * 0x1p-24F - 0.5F;
    to[i] = from[i] + from[i] * (width * uniform);
  }
  return result;
}

double flops_of(const Graph& graph, NodeId id) {
  const ir::Node& node = graph.node(id);
  const auto elements = static_cast<double>(ir::element_count(graph.value(node.outputs.at(0)).type.dims));
  const Tensor* weights = graph.constant_input(id, 1);
  const bool products = ir::info(node.op).kind == ir::OpKind::anchor && weights != nullptr &&
                        weights->dtype() == ir::DType::f32 && weights->shape().size() >= 2;
  if (!products) return elements;
  const int64_t channels = std::max<int64_t>(1, weights->shape()[node.op == ir::Op::MatMul ? 1 : 0]);
  return 2 * elements * static_cast<double>(weights->size() / channels);
}

/// Neighbours that are probed together: [begin, end) into the layers.
struct Probe {
  size_t begin = 0, end = 0;
};

std::vector<Probe> equal_probes(size_t layers, size_t count) {
  std::vector<Probe> probes;
  for (size_t p = 0; p < count; ++p) probes.push_back({p * layers / count, (p + 1) * layers / count});
  return probes;
}

/// What running the probe again costs: its layers and all that follows from them.
double flops_behind(const Graph& graph, const std::vector<NodeId>& layers, const Probe& probe) {
  std::vector<bool> changed(graph.value_capacity(), false);
  double flops = 0;
  for (NodeId id : graph.topological_order()) {
    const ir::Node& node = graph.node(id);
    const auto begin = layers.begin() + static_cast<std::ptrdiff_t>(probe.begin);
    const auto end = layers.begin() + static_cast<std::ptrdiff_t>(probe.end);
    const bool again = std::find(begin, end, id) != end ||
                       std::any_of(node.inputs.begin(), node.inputs.end(),
                                   [&](ValueId v) { return v.valid() && changed[v.index]; });
    if (!again) continue;
    flops += flops_of(graph, id);
    for (ValueId output : node.outputs)
      if (output.valid()) changed[output.index] = true;
  }
  return flops;
}

double flops_of(const Graph& graph, const std::vector<NodeId>& layers, const std::vector<Probe>& probes) {
  double flops = 0;
  for (const Probe& probe : probes) flops += flops_behind(graph, layers, probe);
  return flops;
}

/// The most probes, of equally many layers, that cost no more than `most_flops`; a few in any case.
std::vector<Probe> affordable_probes(const Graph& graph, const std::vector<NodeId>& layers,
                                     double most_flops) {
  constexpr size_t k_fewest = 4;
  size_t count = layers.size();
  while (count > k_fewest && flops_of(graph, layers, equal_probes(layers.size(), count)) > most_flops)
    count = std::max(k_fewest, count * 3 / 4);
  return equal_probes(layers.size(), count);
}

/// The median of the greatest of `count` absolute values of normal deviates.
double greatest_normal(double count) {
  double low = 0, high = 40;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    const double below = count * std::log1p(-std::erfc(middle / std::sqrt(2.0)));
    (below < -std::log(2.0) ? low : high) = middle;
  }
  return low;
}

}  // namespace

double rounded_up(double value) {
  if (!(value > 0) || !std::isfinite(value)) return value;
  return std::exp2(std::ceil(8 * std::log2(value) - 1e-6) / 8);
}

double run_flops(const Graph& graph) {
  double flops = 0;
  for (NodeId id : graph.topological_order()) flops += flops_of(graph, id);
  return flops;
}

double frames_factor(int64_t count) {
  const auto elements = static_cast<double>(std::max<int64_t>(1, count));
  return greatest_normal(k_frames * elements) / greatest_normal(elements);
}

Reference::Reference(const Graph& graph, const std::vector<Tensor>& frame, double contrast)
    : graph_(graph), contrast_(contrast), order_(graph.topological_order()), values_(graph.value_capacity()) {
  for (int32_t v = 0; v < static_cast<int32_t>(values_.size()); ++v)
    if (graph.is_constant({v})) values_[v] = graph.value({v}).constant;
  for (size_t i = 0; i < frame.size(); ++i) values_[graph.inputs().at(i).index] = frame[i];
  ops::interpret(graph, frame,
                 {.on_value = [&](ValueId id, const Tensor& value) { values_[id.index] = value; }});
  std::vector<bool> chosen(values_.size(), false);  // follows from a selection
  for (NodeId id : order_) {
    const ir::Node& node = graph.node(id);
    const bool behind = std::any_of(node.inputs.begin(), node.inputs.end(),
                                    [&](ValueId v) { return v.valid() && chosen[v.index]; });
    if (selects(node.op))
      for (ValueId input : node.inputs) watch(input, chosen);
    if (!behind && !selects(node.op)) continue;
    for (ValueId output : node.outputs)
      if (output.valid()) chosen[output.index] = true;
  }
  for (const ir::GraphOutput& output : graph.outputs()) watch(output.value, chosen);
}

void Reference::watch(ValueId value, const std::vector<bool>& chosen) {
  if (!value.valid() || chosen[value.index] || graph_.is_constant(value)) return;
  if (graph_.value(value).type.dtype != ir::DType::f32) return;
  watched_.push_back({value, verify::segments_of(graph_, value)});
  watch_scores(value);
}

void Reference::watch_scores(ValueId value) {
  const NodeId producer = graph_.producer(value);
  if (!producer.valid()) return;
  const ir::Node& node = graph_.node(producer);
  if (node.op == ir::Op::Softmax) undecided_.push_back({node.inputs[0], std::sqrt(2.0) / 4});
  if (node.op == ir::Op::Sigmoid) undecided_.push_back({node.inputs[0], 1.0 / 4});
  if (node.op == ir::Op::Concat || moves_elements(node.op))
    for (ValueId input : node.inputs)
      if (input.valid() && !graph_.is_constant(input)) watch_scores(input);
}

/// The results of `node`, its first two operands noisy where it has an error.
std::vector<Tensor> Reference::evaluated(NodeId id, const std::vector<Tensor>& changed, double error,
                                         uint64_t seed) const {
  const ir::Node& node = graph_.node(id);
  std::vector<Tensor> operands(node.inputs.size());
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const ValueId input = node.inputs[i];
    if (!input.valid()) continue;
    operands[i] = changed[input.index].empty() ? values_[input.index] : changed[input.index];
    if (error > 0 && i < 2)
      operands[i] = noisy(operands[i], error / std::sqrt(2.0),
                          mixed(seed * 2 + i + 1) + static_cast<uint64_t>(id.index) * 0xd1342543de82ef95U);
  }
  std::vector<const Tensor*> inputs;
  for (const Tensor& operand : operands) inputs.push_back(operand.empty() ? nullptr : &operand);
  return ops::evaluate(node, inputs);
}

double Reference::effect(const std::map<NodeId, double>& error_of, uint64_t seed) const {
  std::vector<Tensor> changed(values_.size());
  for (NodeId id : order_) {
    const ir::Node& node = graph_.node(id);
    const auto error = error_of.find(id);
    const bool noisy = error != error_of.end();
    const bool again = noisy || std::any_of(node.inputs.begin(), node.inputs.end(), [&](ValueId v) {
                         return v.valid() && !changed[v.index].empty();
                       });
    if (!again) continue;
    std::vector<Tensor> outputs = evaluated(id, changed, noisy ? error->second : 0, seed);
    for (size_t o = 0; o < outputs.size(); ++o)
      if (node.outputs[o].valid()) changed[node.outputs[o].index] = std::move(outputs[o]);
  }
  return distance(changed);
}

double Reference::distance(const std::vector<Tensor>& changed) const {
  double worst = 0;
  for (const Watched& w : watched_) {
    const Tensor &now = changed[w.value.index], &before = values_[w.value.index];
    if (!now.empty())
      worst = std::max(worst, frames_factor(before.size()) * verify::error(now, before, w.segments));
  }
  for (const Undecided& u : undecided_) {
    const Tensor &now = changed[u.value.index], &before = values_[u.value.index];
    if (now.empty()) continue;
    worst =
        std::max(worst, contrast_ * u.slope * frames_factor(before.size()) * greatest_distance(now, before));
  }
  return worst;
}

std::vector<double> sensitivities(const Graph& graph, const Reference& reference,
                                  const std::vector<NodeId>& layers, const SensitivityOptions& options) {
  const std::vector<Probe> probes = affordable_probes(graph, layers, options.probe_flops);
  const double flops = std::max(1.0, flops_of(graph, layers, probes));
  const int draws = static_cast<int>(std::clamp(options.probe_flops / flops, 1.0, double{k_most_draws}));
  std::vector<double> effects(probes.size() * static_cast<size_t>(draws));
  in_parallel(static_cast<int>(effects.size()), options.threads, [&](int i) {
    const Probe& probe = probes[static_cast<size_t>(i / draws)];
    std::map<NodeId, double> error_of;
    for (size_t layer = probe.begin; layer < probe.end; ++layer) error_of[layers[layer]] = k_probe_error;
    effects[static_cast<size_t>(i)] = reference.effect(error_of, static_cast<uint64_t>(i % draws) + 1);
  });
  std::vector<double> result(layers.size());
  for (size_t p = 0; p < probes.size(); ++p) {
    double sum = 0;
    for (int draw = 0; draw < draws; ++draw) sum += effects[p * static_cast<size_t>(draws) + draw];
    const auto members = static_cast<double>(probes[p].end - probes[p].begin);
    for (size_t layer = probes[p].begin; layer < probes[p].end; ++layer)
      result[layer] = rounded_up(sum / draws / k_probe_error / std::sqrt(members));
  }
  return result;
}

}  // namespace onepass::budget
