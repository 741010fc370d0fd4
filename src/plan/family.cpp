// SPDX-License-Identifier: Apache-2.0
#include "plan/family.h"

#include <algorithm>
#include <cmath>

#include "plan/conv_parts.h"
#include "plan/grouping.h"
#include "plan/routine_call_resize_axis.h"
#include "plan/slices.h"
#include "plan/transpose_axes.h"

namespace onepass::plan {

namespace {

using ir::DType;
using ir::Graph;
using ir::NodeId;
using ir::Op;

const ir::TensorType& input_type(const Graph& graph, NodeId node, size_t input) {
  return graph.value(graph.node(node).inputs.at(input)).type;
}

const ir::TensorType& output_type(const Graph& graph, NodeId node) {
  return graph.value(graph.node(node).outputs.at(0)).type;
}

bool plain_map_type(const ir::TensorType& type) {
  return type.dtype == DType::f32 && type.counted_axis < 0 &&
         (type.dims.size() == 4 || type.dims.size() == 3);
}

bool conv_has_kernel(const Graph& graph, NodeId node, const targets::Target& target) {
  if (!plain_map_type(input_type(graph, node, 0)) || graph.constant_input(node, 1) == nullptr) return false;
  const ir::Node& conv = graph.node(node);
  if (conv.inputs.size() > 2 && conv.inputs[2].valid() && graph.constant_input(node, 2) == nullptr)
    return false;
  std::vector<kernels::ConvSpec> parts = blocked_conv_parts(graph, node, target);
  return !parts.empty() && std::all_of(parts.begin(), parts.end(), [&](kernels::ConvSpec& part) {
    if (kernels::conv_depthwise_supports(part, target) || kernels::conv_direct_supports(part, target))
      return true;
    part.src.block = 1;
    return kernels::conv_direct_supports(part, target);
  });
}

bool gemm_has_kernel(const Graph& graph, NodeId node) {
  const ir::Node& gemm = graph.node(node);
  const ir::Tensor* weights = graph.constant_input(node, 1);
  const ir::TensorType& a = input_type(graph, node, 0);
  if (weights == nullptr || weights->shape().size() != 2 || a.dtype != DType::f32 || a.counted_axis >= 0)
    return false;
  if (gemm.op == Op::MatMul) return a.dims.size() >= 2;
  const bool plain = gemm.attributes.get_int("transA", 0) == 0 &&
                     gemm.attributes.get_float("alpha", 1) == 1 && gemm.attributes.get_float("beta", 1) == 1;
  if (!plain) return false;
  if (gemm.inputs.size() < 3 || !gemm.inputs[2].valid()) return true;
  const ir::Tensor* bias = graph.constant_input(node, 2);
  return bias != nullptr && (bias->size() == 1 || (bias->size() == output_type(graph, node).dims[1] &&
                                                   bias->shape().back() == output_type(graph, node).dims[1]));
}

bool pool_has_kernel(const Graph& graph, NodeId node) {
  const ir::Node& pool = graph.node(node);
  const bool one_output = pool.outputs.size() == 1 || !pool.outputs[1].valid();
  return one_output && plain_map_type(input_type(graph, node, 0));
}

bool whole_factor_nearest(const Graph& graph, NodeId node) {
  const ir::Attributes& a = graph.node(node).attributes;
  const ir::TensorType &in = input_type(graph, node, 0), &out = output_type(graph, node);
  if (in.dtype != DType::f32 || in.dims.size() != 4 || a.get_string("mode", "nearest") != "nearest")
    return false;
  if (in.dims[0] != out.dims[0] || in.dims[1] != out.dims[1]) return false;
  if (out.dims[2] % in.dims[2] != 0 || out.dims[3] % in.dims[3] != 0) return false;
  const std::string coordinates = a.get_string("coordinate_transformation_mode", "half_pixel");
  const std::string rounding = a.get_string("nearest_mode", "round_prefer_floor");
  if (const ir::Tensor* scales = graph.constant_input(node, 2); scales != nullptr && scales->size() == 4) {
    const std::vector<double> s = scales->to_doubles();
    if (s[2] != static_cast<double>(out.dims[2] / in.dims[2]) ||
        s[3] != static_cast<double>(out.dims[3] / in.dims[3]))
      return false;
  }
  // Half-pixel centres under a whole factor never fall on a tie, so that rounding gives floor(x / factor).
  if (coordinates == "asymmetric") return rounding == "floor";
  return (coordinates == "half_pixel" || coordinates == "pytorch_half_pixel") &&
         rounding.starts_with("round_prefer");
}

/// Lanes behind the last channel are resized, and take memory, in vain.
bool linear_has_kernel(const Graph& graph, NodeId node, const targets::Target& target) {
  const ir::TensorType &in = input_type(graph, node, 0), &out = output_type(graph, node);
  if (!plain_map_type(in) || in.dims.size() != 4 || ir::element_count(out.dims) == 0) return false;
  const int64_t lanes = target.vector_lanes, channels = in.dims[1];
  constexpr int64_t k_most_waste = 6;  // measured: the routine is that much slower for each value
  if ((channels + lanes - 1) / lanes * lanes > k_most_waste * channels) return false;
  return routines::linear_axes({graph, node}).has_value();
}

bool whole_block_concat(const Graph& graph, NodeId node, const targets::Target& target) {
  const ir::TensorType& out = output_type(graph, node);
  const int64_t axis = graph.node(node).attributes.get_int("axis", 0);
  if (out.dtype != DType::f32 || out.dims.size() != 4 || (axis != 1 && axis != -3) || out.counted_axis >= 0)
    return false;
  const auto& inputs = graph.node(node).inputs;
  return std::all_of(inputs.begin(), inputs.end() - 1, [&](ir::ValueId input) {
    return graph.value(input).type.dims[1] % target.vector_lanes == 0;
  });
}

bool softmax_has_kernel(const Graph& graph, NodeId node) {
  const ir::TensorType& type = output_type(graph, node);
  return type.dtype == DType::f32 && type.counted_axis < 0 && ir::element_count(type.dims) > 0;
}

bool elementwise_has_kernel(const Graph& graph, NodeId node) {
  const ir::TensorType& out = output_type(graph, node);
  if (out.dtype != DType::f32 || ir::element_count(out.dims) == 0) return false;
  const auto start = start_of(graph, node);
  if (!start) return false;
  const auto kind = start->step.operand.valid() ? operand_kind(graph, start->step.operand, out, 1)
                                                : kernels::StepOperand::Kind::scalar;
  if (kind == kernels::StepOperand::Kind::none) return false;
  const bool blocked_only = start->step.kind == patterns::Step::Kind::affine ||
                            kind == kernels::StepOperand::Kind::per_channel ||
                            kind == kernels::StepOperand::Kind::gate;
  return !blocked_only || extents_of(out).has_value();
}

}  // namespace

const char* name(Family family) {
  constexpr const char* k_names[] = {"conv",    "gemm",      "product", "pool",  "elementwise", "upsample",
                                     "softmax", "transpose", "concat",  "split", "view",        "routine"};
  return k_names[static_cast<size_t>(family)];
}

Family family_of(const Graph& graph, NodeId node, const targets::Target& target) {
  if (is_view(graph, node)) return Family::view;
  const Op op = graph.node(node).op;
  switch (op) {
    case Op::Conv:
    case Op::ConvTranspose:
      return conv_has_kernel(graph, node, target) ? Family::conv : Family::routine;
    case Op::Gemm:
    case Op::MatMul:
      if (gemm_has_kernel(graph, node)) return Family::gemm;
      return product_spec_of(graph, node) ? Family::product : Family::routine;
    case Op::MaxPool:
    case Op::AveragePool:
    case Op::GlobalAveragePool:
    case Op::GlobalMaxPool:
      return pool_has_kernel(graph, node) ? Family::pool : Family::routine;
    case Op::Resize:
      return whole_factor_nearest(graph, node) || linear_has_kernel(graph, node, target) ? Family::upsample
                                                                                         : Family::routine;
    case Op::Softmax:
    case Op::LogSoftmax:
      return softmax_has_kernel(graph, node) ? Family::softmax : Family::routine;
    case Op::Transpose:
      return transpose_spec_of(graph, node) ? Family::transpose : Family::routine;
    case Op::Concat:
      return whole_block_concat(graph, node, target) ? Family::concat : Family::routine;
    case Op::Split:
    case Op::Slice:
      return cuts_between_blocks(graph, node, target) ? Family::split : Family::routine;
    default:
      return elementwise_has_kernel(graph, node) ? Family::elementwise : Family::routine;
  }
}

bool takes_steps(Family family) {
  return family == Family::conv || family == Family::gemm || family == Family::product ||
         family == Family::pool || family == Family::elementwise;
}

std::optional<Extents> extents_of(const ir::TensorType& type) {
  const ir::Shape& d = type.dims;
  if (type.dtype != DType::f32 || type.counted_axis >= 0) return std::nullopt;
  if (d.size() == 4) return Extents{d[0], d[1], d[2], d[3]};
  if (d.size() == 3) return Extents{d[0], d[1], 1, d[2]};
  if (d.size() == 2) return Extents{d[0], d[1], 1, 1};
  return std::nullopt;
}

size_t channel_axis(Family family, const ir::TensorType& result) {
  return family == Family::gemm || family == Family::product ? result.dims.size() - 1 : 1;
}

kernels::StepOperand::Kind operand_kind(const Graph& graph, ir::ValueId operand, const ir::TensorType& result,
                                        size_t channel_axis) {
  using Kind = kernels::StepOperand::Kind;
  const ir::Value& value = graph.value(operand);
  if (value.type.dtype != DType::f32 || value.type.counted_axis >= 0) return Kind::none;
  const bool constant = graph.is_constant(operand);
  if (constant && value.constant.size() == 1) return Kind::scalar;
  if (value.type.dims == result.dims) return Kind::map;
  ir::Shape dims = value.type.dims;
  if (dims.size() > result.dims.size()) return Kind::none;
  dims.insert(dims.begin(), result.dims.size() - dims.size(), 1);
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    if (axis == channel_axis ? dims[axis] != result.dims[axis] : dims[axis] != 1 && (constant || axis != 0))
      return Kind::none;
  }
  if (constant) return Kind::per_channel;
  const bool gate =
      channel_axis == 1 && value.type.dims.size() == result.dims.size() && dims[0] == result.dims[0];
  return gate ? Kind::gate : Kind::none;
}

kernels::ConvSpec conv_spec_of(const Graph& graph, NodeId node) {
  const Extents in = extents_of(input_type(graph, node, 0)).value();
  const Extents out = extents_of(output_type(graph, node)).value();
  const Window window = window_of(graph, node);
  const ir::Node& conv = graph.node(node);
  kernels::ConvSpec spec;
  spec.src = kernels::plain_map(in.n, in.c, in.h, in.w);
  spec.dst = kernels::plain_map(out.n, out.c, out.h, out.w);
  spec.kernel_h = window.kernel_h;
  spec.kernel_w = window.kernel_w;
  spec.stride_h = window.stride_h;
  spec.stride_w = window.stride_w;
  spec.dilation_h = window.dilation_h;
  spec.dilation_w = window.dilation_w;
  spec.pad_top = window.pad_top;
  spec.pad_left = window.pad_left;
  spec.groups = conv.attributes.get_int("group", 1);
  spec.bias = conv.inputs.size() > 2 && conv.inputs[2].valid();
  return spec;
}

std::optional<kernels::MatrixProductSpec> product_spec_of(const Graph& graph, NodeId node) {
  if (graph.node(node).op != Op::MatMul) return std::nullopt;
  const ir::TensorType &a = input_type(graph, node, 0), &b = input_type(graph, node, 1);
  const ir::TensorType& out = output_type(graph, node);
  const bool matrices = a.dtype == DType::f32 && b.dtype == DType::f32 && a.counted_axis < 0 &&
                        b.counted_axis < 0 && a.dims.size() >= 2 && b.dims.size() >= 2;
  if (!matrices || ir::element_count(out.dims) == 0 || a.dims.back() == 0) return std::nullopt;
  kernels::MatrixProductExtents e{
      .matrices = 1, .rows = *(out.dims.end() - 2), .inner = a.dims.back(), .columns = out.dims.back()};
  const int64_t count = ir::element_count(out.dims) / (e.rows * e.columns);
  const int64_t lefts = ir::element_count(a.dims) / (e.rows * e.inner);
  const int64_t rights = ir::element_count(b.dims) / (e.inner * e.columns);
  if (lefts != count || (rights != count && rights != 1)) return std::nullopt;
  rights == count ? e.matrices = count : e.rows *= count;
  return kernels::matrix_product_spec(e);
}

kernels::SoftmaxSpec softmax_spec_of(const Graph& graph, NodeId node) {
  const ir::Shape& dims = output_type(graph, node).dims;
  const auto rank = static_cast<int64_t>(dims.size());
  const int64_t axis = (graph.node(node).attributes.get_int("axis", -1) + rank) % rank;
  const int64_t outer = ir::element_count({dims.begin(), dims.begin() + axis});
  const int64_t inner = ir::element_count({dims.begin() + axis + 1, dims.end()});
  const kernels::FeatureMap map = kernels::plain_map(outer, dims[axis], 1, inner);
  return {map, map, graph.node(node).op == Op::LogSoftmax};
}

}  // namespace onepass::plan
