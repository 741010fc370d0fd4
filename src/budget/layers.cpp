// SPDX-License-Identifier: Apache-2.0
#include "budget/layers.h"

#include <algorithm>

#include "plan/choice.h"
#include "plan/conv_parts.h"
#include "plan/cost.h"
#include "plan/layout.h"

namespace onepass::budget {

namespace {

using plan::Family;

/// The kernel of the node alone under a policy, its source as the plan will have it.
kernels::KernelChoice kernel_of(const ir::Graph& graph, const ProductLayer& layer,
                                const targets::Target& target, Algorithm algorithm) {
  const ir::Node& node = graph.node(layer.node);
  const plan::Group alone{.nodes = {layer.node}, .result = node.outputs.at(0)};
  const ir::TensorType &src = graph.value(node.inputs[0]).type, &dst = graph.value(alone.result).type;
  const kernels::ConvPolicy policy = policy_for(algorithm);
  plan::GroupMaps maps;
  if (layer.family == Family::gemm) {
    maps.src = plan::matrix_of(src);
    maps.dst = plan::matrix_of(dst);
  } else {
    const plan::Form native = graph.value(node.inputs[0]).is_input ? plan::Form::plain : plan::Form::blocked;
    const plan::Reading reading =
        plan::source_reading(graph, layer.node, layer.family, native, target, policy);
    maps.src = plan::map_of(src, reading.form, reading.halo, target);
    maps.dst = plan::map_of(dst, plan::Form::blocked, {}, target);
  }
  return plan::choose_kernel(graph, alone, layer.family, maps, target, policy);
}

void add_kernel(ProductLayer& layer, kernels::KernelChoice kernel, const targets::Target& target) {
  const Algorithm algorithm = algorithm_of(kernel);
  for (const kernels::KernelChoice& other : layer.kernels)
    if (algorithm_of(other) == algorithm) return;
  layer.predicted_ns.push_back(plan::predict_ns(kernels::estimate(kernel, target), target));
  layer.errors.push_back(declared_error(algorithm, layer.reduction));
  layer.sampled.push_back(false);
  layer.kernels.push_back(std::move(kernel));
}

/// Products in one sum; the most of the phases of a ConvTranspose.
int64_t reduction_of(const ir::Graph& graph, ir::NodeId id, Family family) {
  if (family == Family::gemm) {
    const int64_t outputs = graph.value(graph.node(id).outputs.at(0)).type.dims.back();
    return graph.constant_input(id, 1)->size() / std::max<int64_t>(1, outputs);
  }
  int64_t most = 1;
  for (const kernels::ConvSpec& part : plan::conv_parts(graph, id))
    most = std::max(most, part.src.c / part.groups * part.kernel_h * part.kernel_w);
  return most;
}

}  // namespace

std::vector<ProductLayer> product_layers(const ir::Graph& graph, const targets::Target& target, bool bf16) {
  std::vector<ProductLayer> layers;
  for (ir::NodeId id : graph.topological_order()) {
    const Family family = plan::family_of(graph, id, target);
    if (family != Family::conv && family != Family::gemm) continue;
    ProductLayer layer{.node = id, .family = family};
    layer.reduction = reduction_of(graph, id, family);
    for (Algorithm algorithm : k_algorithms)
      if (algorithm != Algorithm::bf16 || bf16)
        add_kernel(layer, kernel_of(graph, layer, target, algorithm), target);
    layers.push_back(std::move(layer));
  }
  return layers;
}

bool gains_from_loose(const ProductLayer& layer) {
  const size_t fastest = static_cast<size_t>(
      std::min_element(layer.predicted_ns.begin(), layer.predicted_ns.end()) - layer.predicted_ns.begin());
  return is_loose(algorithm_of(layer.kernels.at(fastest)));
}

Layer to_layer(const ir::Graph& graph, const ProductLayer& layer, double sensitivity) {
  Layer result{.name = graph.node(layer.node).name, .sensitivity = sensitivity};
  for (size_t k = 0; k < layer.kernels.size(); ++k)
    result.candidates.push_back({static_cast<int>(k), layer.predicted_ns[k], layer.errors[k]});
  return result;
}

}  // namespace onepass::budget
