// SPDX-License-Identifier: Apache-2.0
#include "plan/choice.h"

#include "plan/conv_parts.h"
#include "plan/layout.h"

namespace onepass::plan {

namespace {

using kernels::EpilogueStep;
using kernels::StepOperand;
using patterns::Step;

bool reads_map(StepOperand::Kind kind) {
  return kind == StepOperand::Kind::map || kind == StepOperand::Kind::gate;
}

kernels::PoolSpec pool_spec(const ir::Graph& graph, ir::NodeId id, const GroupMaps& maps) {
  const ir::Node& node = graph.node(id);
  const Window window = window_of(graph, id);
  const bool max = node.op == ir::Op::MaxPool || node.op == ir::Op::GlobalMaxPool;
  return {.kind = max ? kernels::PoolSpec::Kind::max : kernels::PoolSpec::Kind::average,
          .src = maps.src,
          .dst = maps.dst,
          .kernel_h = window.kernel_h,
          .kernel_w = window.kernel_w,
          .stride_h = window.stride_h,
          .stride_w = window.stride_w,
          .dilation_h = window.dilation_h,
          .dilation_w = window.dilation_w,
          .pad_top = window.pad_top,
          .pad_left = window.pad_left,
          .pad_bottom = window.pad_bottom,
          .pad_right = window.pad_right,
          .count_include_pad = node.attributes.get_int("count_include_pad", 0) != 0,
          .epilogue = {}};
}

kernels::ConvSpec gemm_spec(const ir::Graph& graph, ir::NodeId id, const GroupMaps& maps) {
  const ir::Node& node = graph.node(id);
  kernels::ConvSpec spec{.src = maps.src, .dst = maps.dst};
  spec.bias = node.op == ir::Op::Gemm && node.inputs.size() > 2 && node.inputs[2].valid();
  return spec;
}

}  // namespace

std::vector<Step> kernel_steps(const ir::Graph& graph, const Group& group, Family family) {
  std::vector<Step> steps;
  if (family == Family::elementwise) steps.push_back(start_of(graph, group.nodes.front()).value().step);
  steps.insert(steps.end(), group.steps.begin(), group.steps.end());
  return steps;
}

std::vector<ir::ValueId> map_operands(const ir::Graph& graph, const std::vector<Step>& steps, Family family,
                                      const ir::TensorType& result) {
  std::vector<ir::ValueId> operands;
  for (const Step& step : steps)
    if (step.kind == Step::Kind::binary &&
        reads_map(operand_kind(graph, step.operand, result, channel_axis(family, result))))
      operands.push_back(step.operand);
  return operands;
}

kernels::Epilogue epilogue_for(const ir::Graph& graph, const std::vector<Step>& steps, Family family,
                               const ir::TensorType& result,
                               const std::vector<kernels::FeatureMap>& operand_maps) {
  kernels::Epilogue epilogue;
  size_t next_map = 0;
  for (const Step& step : steps) {
    EpilogueStep out;
    out.activation = step.activation;
    out.op = step.op;
    out.accumulator_left = step.accumulator_left;
    if (step.kind == Step::Kind::affine) out.kind = EpilogueStep::Kind::affine;
    if (step.kind == Step::Kind::binary) {
      out.kind = EpilogueStep::Kind::binary;
      out.operand.kind = operand_kind(graph, step.operand, result, channel_axis(family, result));
      require(out.operand.kind != StepOperand::Kind::none, "a joined step has a readable operand");
      if (out.operand.kind == StepOperand::Kind::scalar)
        out.operand.value = graph.value(step.operand).constant.to_doubles()[0];
      if (reads_map(out.operand.kind)) out.operand.map = operand_maps.at(next_map++);
    }
    epilogue.steps.push_back(out);
  }
  return epilogue;
}

kernels::KernelChoice choose_kernel(const ir::Graph& graph, const Group& group, Family family,
                                    const GroupMaps& maps, const targets::Target& target,
                                    const kernels::ConvPolicy& policy) {
  const ir::NodeId anchor = group.nodes.front();
  const ir::TensorType& result = graph.value(group.result).type;
  kernels::Epilogue epilogue =
      epilogue_for(graph, kernel_steps(graph, group, family), family, result, maps.operands);
  if (family == Family::elementwise) return kernels::ElementwiseSpec{maps.src, maps.dst, std::move(epilogue)};
  if (family == Family::pool) {
    kernels::PoolSpec spec = pool_spec(graph, anchor, maps);
    spec.epilogue = std::move(epilogue);
    return spec;
  }
  kernels::ConvSpec spec =
      family == Family::gemm ? gemm_spec(graph, anchor, maps) : conv_parts(graph, anchor).at(maps.part);
  spec.src = maps.src;
  kernels::set_destination(spec, maps.dst);
  spec.epilogue = std::move(epilogue);
  return kernels::choose_conv(spec, target, policy);
}

kernels::KernelChoice nominal_kernel(const ir::Graph& graph, const Group& group, Family family,
                                     const targets::Target& target, const kernels::ConvPolicy& policy) {
  const ir::NodeId anchor = group.nodes.front();
  const ir::TensorType& result = graph.value(group.result).type;
  const ir::TensorType& src = graph.value(graph.node(anchor).inputs.at(0)).type;
  const std::vector<ir::ValueId> operands =
      map_operands(graph, kernel_steps(graph, group, family), family, result);
  GroupMaps maps;
  const auto map = [&](const ir::TensorType& type) {
    if (family == Family::gemm) return matrix_of(type);
    const bool flat = family == Family::elementwise && !needs_channels(graph, group) && type.dims.size() != 4;
    return flat ? flat_map(type) : map_of(type, Form::blocked, {}, target);
  };
  maps.dst = map(result);
  maps.src = maps.dst;
  if (family == Family::conv || family == Family::pool) {
    const Reading reading = source_reading(graph, anchor, family, Form::blocked, target, policy);
    maps.src = map_of(src, reading.form, reading.halo, target);
  } else if (family == Family::gemm) {
    maps.src = matrix_of(src);
  }
  for (ir::ValueId operand : operands) maps.operands.push_back(map(graph.value(operand).type));
  return choose_kernel(graph, group, family, maps, target, policy);
}

}  // namespace onepass::plan
