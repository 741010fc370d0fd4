// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "plan/conv_parts.h"
#include "plan/cost.h"
#include "plan/join_proof.h"
#include "plan/lowering.h"

namespace onepass::plan {

namespace {

/// [rows, columns] -> [columns, rows].
std::vector<float> transposed(std::span<const float> values, int64_t rows, int64_t columns) {
  std::vector<float> result(values.size());
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < columns; ++c) result[c * rows + r] = values[r * columns + c];
  return result;
}

/// Gemm and MatMul weights as [outputs, inputs].
std::vector<float> matrix_weights(const ir::Node& node, const ir::Tensor& weights) {
  const std::span<const float> values = weights.data<float>();
  if (node.op == ir::Op::Gemm && node.attributes.get_int("transB", 0) != 0)
    return {values.begin(), values.end()};
  return transposed(values, weights.shape()[0], weights.shape()[1]);
}

}  // namespace

kernels::KernelChoice Lowering::kernel_of(const Group& group, Family family, const GroupMaps& maps) const {
  const kernels::ConvPolicy& policy = options_.policy_for(graph_, group.nodes.front());
  kernels::KernelChoice choice = choose_kernel(graph_, group, family, maps, target_, policy);
  const kernels::ConvSpec* spec = conv_spec_in(choice);
  if (spec == nullptr || options_.tiles.empty()) return choice;
  const std::string key = tile_key(*spec, policy, target_);
  const auto named = options_.tiles.find(key);
  if (named == options_.tiles.end() || named->second == tile_choice_of(choice)) return choice;
  kernels::KernelChoice other = kernel_for({key, std::move(choice), policy}, named->second, target_);
  require_joins(graph_, group, family, other, target_);
  return other;
}

void Lowering::launch(int32_t group, const std::string& name, const kernels::KernelChoice& choice,
                      std::vector<int32_t> reads, int32_t dst, std::vector<int32_t> may_take_over) {
  Launch launch{.name = name, .family = kernels::family_name(choice), .group = group};
  const KernelTable::Entry& kernel = kernels_.entry(choice, target_);
  launch.symbol = kernel.symbol;
  launch.slices = kernel.slices;
  launch.operands = reads;
  launch.operands.push_back(dst);
  launch.reads = std::move(reads);
  launch.writes = {dst};
  launch.may_take_over = std::move(may_take_over);
  launch.estimate = kernels::estimate(choice, target_);
  launch.choice = choice;
  if (const kernels::ConvSpec* spec = conv_spec_in(choice)) {
    const kernels::ConvPolicy& policy = options_.policy_for(graph_, plan_.groups.at(group).nodes.front());
    launch.tile = TileQuestion{tile_key(*spec, policy, target_), choice, policy};
  }
  push(std::move(launch));
}

void Lowering::push(Launch launch) {
  launch.predicted_ns = predict_ns(launch.estimate, target_);
  plan_.launches.push_back(std::move(launch));
}

void Lowering::append_weights(ir::NodeId anchor, const kernels::KernelChoice& choice, Family family,
                              std::vector<int32_t>& reads) {
  const ir::Node& node = graph_.node(anchor);
  const ir::Tensor& weights = *graph_.constant_input(anchor, 1);
  const std::string& name = graph_.value(node.inputs[1]).name;
  if (family == Family::gemm) {
    reads.push_back(add_weights(name, kernels::pack_weights(choice, target_, matrix_weights(node, weights))));
  } else {
    reads.push_back(add_weights(
        name, kernels::pack_weights(choice, target_, conv_weights(graph_, anchor, *conv_spec_in(choice)))));
  }
  const ir::Tensor* bias = node.op == ir::Op::MatMul ? nullptr : graph_.constant_input(anchor, 2);
  if (bias == nullptr) return;
  std::vector<float> values(bias->data<float>().begin(), bias->data<float>().end());
  if (values.size() == 1) values.assign(kernels::dst_of(choice).c, values[0]);
  reads.push_back(add_weights(graph_.value(node.inputs[2]).name,
                              kernels::pad_channels(values, kernels::dst_of(choice), target_)));
}

void Lowering::append_operands(const Group& group, Family family, const ir::TensorType& type, Form form,
                               const kernels::FeatureMap& dst, std::vector<int32_t>& reads) {
  using Kind = kernels::StepOperand::Kind;
  const auto packed = [&](const std::string& name, const ir::Tensor& values) {
    reads.push_back(add_weights(name, kernels::pad_channels(values.data<float>(), dst, target_)));
  };
  for (const patterns::Step& step : kernel_steps(graph_, group, family)) {
    const std::string& node = graph_.node(step.node).name;
    if (step.kind == patterns::Step::Kind::affine) {
      packed(node + " scale", step.scale);
      packed(node + " shift", step.shift);
    }
    if (step.kind != patterns::Step::Kind::binary) continue;
    const Kind kind = operand_kind(graph_, step.operand, type, channel_axis(family, type));
    if (kind == Kind::per_channel)
      packed(graph_.value(step.operand).name, graph_.value(step.operand).constant);
    if (kind == Kind::map || kind == Kind::gate) reads.push_back(read(step.operand, form));
  }
}

}  // namespace onepass::plan
