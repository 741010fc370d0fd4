// SPDX-License-Identifier: Apache-2.0
#include "patterns/spelling.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "patterns/fold.h"

namespace onepass::patterns {

namespace {

using ir::Op;

constexpr size_t k_max_factors = 8;
constexpr double k_infinity = std::numeric_limits<double>::infinity();

/// The number of the input that is a scalar constant, when just one is.
std::optional<size_t> scalar_input(const ir::Graph& graph, const ir::Node& node) {
  if (node.inputs.size() != 2) return std::nullopt;
  const bool left = scalar_constant(graph, node.inputs[0]).has_value();
  const bool right = scalar_constant(graph, node.inputs[1]).has_value();
  if (left == right) return std::nullopt;
  return left ? 0 : 1;
}

void collect_factors(const ir::Graph& graph, ir::ValueId value, Product& into);

void collect_node(const ir::Graph& graph, ir::NodeId id, Product& into) {
  const ir::Node& node = graph.node(id);
  collect_factors(graph, node.inputs[0], into);
  if (node.op == Op::Div)
    into.constant /= *scalar_constant(graph, node.inputs[1]);
  else
    collect_factors(graph, node.inputs[1], into);
  into.nodes.push_back(id);
}

bool is_product(const ir::Graph& graph, ir::NodeId id) {
  if (!id.valid()) return false;
  const ir::Node& node = graph.node(id);
  return node.op == Op::Mul || (node.op == Op::Div && scalar_constant(graph, node.inputs[1]).has_value());
}

void collect_factors(const ir::Graph& graph, ir::ValueId value, Product& into) {
  const ir::NodeId producer = graph.producer(value);
  const auto constant = scalar_constant(graph, value);
  if (constant)
    into.constant *= *constant;
  else if (is_product(graph, producer) && graph.only_consumer(value).valid() &&
           into.factors.size() < k_max_factors)
    collect_node(graph, producer, into);
  else
    into.factors.push_back(value);
}

std::vector<ir::ValueId> clip_inputs(ir::Graph& graph, const std::string& name, ir::ValueId x,
                                     const ir::Activation& clip) {
  const auto bound = [&](const char* suffix, double value, double absent) {
    if (value == absent) return ir::ValueId{};
    return graph.add_constant(graph.unique_name(name + suffix),
                              ir::Tensor::scalar(static_cast<float>(value)));
  };
  std::vector<ir::ValueId> inputs = {x, bound(".min", clip.alpha, -k_infinity),
                                     bound(".max", clip.beta, k_infinity)};
  while (!inputs.back().valid()) inputs.pop_back();
  return inputs;
}

}  // namespace

std::optional<double> scalar_constant(const ir::Graph& graph, ir::ValueId value) {
  const ir::Tensor* constant = value.valid() ? known_constant(graph, value) : nullptr;
  const bool fits = constant != nullptr && constant->size() == 1 && constant->dtype() != ir::DType::boolean;
  return fits ? std::optional(constant->to_doubles()[0]) : std::nullopt;
}

bool nearly(double value, double expected) {
  return std::abs(value - expected) <= 1e-6 * std::abs(expected);
}

Scaled scaled(const ir::Graph& graph, ir::ValueId value) {
  const Scaled plain{value, 1, {}};
  const ir::NodeId producer = graph.producer(value);
  if (!producer.valid()) return plain;
  const ir::Node& node = graph.node(producer);
  const auto constant = scalar_input(graph, node);
  if (!constant) return plain;
  const double factor = *scalar_constant(graph, node.inputs[*constant]);
  if (node.op == Op::Mul) return {node.inputs[1 - *constant], factor, producer};
  if (node.op == Op::Div && *constant == 1) return {node.inputs[0], 1 / factor, producer};
  return plain;
}

std::optional<Shifted> shifted(const ir::Graph& graph, ir::ValueId value) {
  const ir::NodeId producer = graph.producer(value);
  if (!producer.valid() || graph.node(producer).op != Op::Add) return std::nullopt;
  const ir::Node& node = graph.node(producer);
  const auto constant = scalar_input(graph, node);
  if (!constant) return std::nullopt;
  return Shifted{node.inputs[1 - *constant], *scalar_constant(graph, node.inputs[*constant]), producer};
}

Product product(const ir::Graph& graph, ir::NodeId root) {
  Product result;
  if (is_product(graph, root)) collect_node(graph, root, result);
  return result;
}

std::vector<Gated> gated_products(const ir::Graph& graph, ir::NodeId root, Op op) {
  std::vector<Gated> found;
  const Product whole = product(graph, root);
  if (whole.factors.size() != 2) return found;
  for (size_t i = 0; i < 2; ++i) {
    const ir::NodeId gate = graph.producer(whole.factors[i]);
    if (gate.valid() && graph.node(gate).op == op) found.push_back({whole, whole.factors[1 - i], gate});
  }
  return found;
}

std::optional<Failure> f32_failure(const ir::Graph& graph, ir::ValueId id, const char* condition) {
  const ir::Value& value = graph.value(id);
  if (value.type.dtype == ir::DType::f32) return std::nullopt;
  return Failure{condition, fmt::format("'{}' is {}", value.name, ir::to_string(value.type))};
}

ir::ValueId add_activation(ir::Graph& graph, const Match& match, ir::ValueId x,
                           const ir::Activation& activation) {
  const std::string name = graph.node(match.nodes.back()).name;
  const ir::TensorType type = graph.value(x).type;
  if (activation.op == Op::Clip)
    return graph.add_node(Op::Clip, name, clip_inputs(graph, name, x, activation), type);
  ir::Attributes attributes;
  const ir::ActivationInfo& row = ir::activation_info(activation.op);
  if (*row.alpha_name != '\0') attributes.set(row.alpha_name, activation.alpha);
  if (*row.beta_name != '\0') attributes.set(row.beta_name, activation.beta);
  return graph.add_node(activation.op, name, {x}, type, attributes);
}

}  // namespace onepass::patterns
