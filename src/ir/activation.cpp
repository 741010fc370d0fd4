// SPDX-License-Identifier: Apache-2.0
#include "ir/activation.h"

#include <limits>

namespace onepass::ir {

namespace {

constexpr ActivationInfo k_activations[] = {
#define ONEPASS_ACTIVATION(op, formula, alpha, alpha_default, beta, beta_default, keeps_zero, ulp) \
  {Op::op, alpha, alpha_default, beta, beta_default, keeps_zero, ulp},
#include "ir/activations.def"
#undef ONEPASS_ACTIVATION
};

const ActivationInfo* find(Op op) {
  for (const ActivationInfo& row : k_activations)
    if (row.op == op) return &row;
  return nullptr;
}

/// A Clip bound: the constant behind `input`, `absent` when there is none, nothing when it is not constant.
std::optional<double> clip_bound(const Graph& graph, NodeId node, size_t input, double absent) {
  const Node& clip = graph.node(node);
  if (input >= clip.inputs.size() || !clip.inputs[input].valid()) return absent;
  const Tensor* bound = graph.constant_input(node, input);
  if (bound == nullptr || bound->size() != 1) return std::nullopt;
  return bound->to_doubles()[0];
}

std::optional<Activation> clip_of(const Graph& graph, NodeId node) {
  constexpr double k_infinity = std::numeric_limits<double>::infinity();
  const auto low = clip_bound(graph, node, 1, -k_infinity);
  const auto high = clip_bound(graph, node, 2, k_infinity);
  if (!low || !high) return std::nullopt;
  return Activation{Op::Clip, *low, *high};
}

}  // namespace

bool is_activation(Op op) {
  return find(op) != nullptr;
}

const ActivationInfo& activation_info(Op op) {
  const ActivationInfo* row = find(op);
  require(row != nullptr, "the operator is an activation");
  return *row;
}

std::optional<Activation> activation_of_any_float(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  if (!is_activation(node.op)) return std::nullopt;
  if (node.op == Op::Clip) return clip_of(graph, id);
  if (node.op == Op::Gelu)
    return Activation{node.op, node.attributes.get_string("approximate", "none") == "tanh" ? 1.0 : 0.0, 0};
  const ActivationInfo& row = activation_info(node.op);
  return Activation{node.op, node.attributes.get_float(row.alpha_name, row.alpha_default),
                    node.attributes.get_float(row.beta_name, row.beta_default)};
}

std::optional<Activation> activation_of(const Graph& graph, NodeId id) {
  if (graph.value(graph.node(id).inputs.at(0)).type.dtype != DType::f32) return std::nullopt;
  return activation_of_any_float(graph, id);
}

bool keeps_zero(const Activation& activation) {
  if (activation.op == Op::Clip) return activation.alpha <= 0 && activation.beta >= 0;
  return activation_info(activation.op).keeps_zero;
}

}  // namespace onepass::ir
