// SPDX-License-Identifier: Apache-2.0
#include "plan/layout.h"

#include <algorithm>

#include "plan/choice.h"
#include "plan/conv_parts.h"
#include "plan/plain_result.h"

namespace onepass::plan {

namespace {

using ir::Graph;
using ir::NodeId;
using ir::ValueId;

/// A reader that works on blocked maps and would convert a plain one.
bool prefers_blocked(const Graph& graph, NodeId reader, const targets::Target& target) {
  const Family family = family_of(graph, reader, target);
  return family == Family::conv || family == Family::pool || family == Family::upsample ||
         family == Family::concat;
}

/// Elementwise groups work on what they are given; operands that need channels force blocks.
Form elementwise_form(const Graph& graph, const Group& group, const std::vector<Form>& forms,
                      const targets::Target& target) {
  const ir::TensorType& type = graph.value(group.result).type;
  if (needs_channels(graph, group)) return Form::blocked;
  if (!extents_of(type) || type.dims.size() < 3) return Form::plain;
  const ValueId src = start_of(graph, group.nodes.front()).value().src;
  if (forms[src.index] == Form::blocked) return Form::blocked;
  for (const ir::Use& use : graph.value(group.result).uses)
    if (prefers_blocked(graph, use.node, target)) return Form::blocked;
  return Form::plain;
}

/// Concat copies blocks when its operands have them already.
Form concat_form(const Graph& graph, NodeId concat, const std::vector<Form>& forms) {
  const auto& inputs = graph.node(concat).inputs;
  const auto blocked =
      std::count_if(inputs.begin(), inputs.end(), [&](ValueId v) { return forms[v.index] == Form::blocked; });
  return 2 * blocked >= static_cast<int64_t>(inputs.size()) ? Form::blocked : Form::plain;
}

/// How one convolution with blocked maps reads its source.
Reading part_reading(const kernels::ConvSpec& spec, Form native, const targets::Target& target,
                     const kernels::ConvPolicy& policy) {
  const kernels::Halo halo = kernels::required_halo(spec);
  const int64_t group_channels = spec.src.c / spec.groups;
  const bool needs_plain =
      !kernels::conv_direct_supports(spec, target) && !kernels::conv_depthwise_supports(spec, target);
  const bool few_channels = spec.groups == 1 && native == Form::plain && group_channels < target.vector_lanes;
  if (!needs_plain && !few_channels) return {Form::blocked, kernels::preferred_halo(spec, target, policy)};
  if (few_channels && !needs_plain) return {Form::plain, {}};
  return {halo.empty() ? Form::plain : Form::padded, halo};
}

}  // namespace

kernels::FeatureMap map_of(const ir::TensorType& type, Form form, const kernels::Halo& halo,
                           const targets::Target& target, loops::Scalar storage) {
  const Extents e = extents_of(type).value();
  if (form == Form::blocked) {
    kernels::FeatureMap map = kernels::blocked_map(e.n, e.c, e.h, e.w, target.vector_lanes, halo);
    map.scalar = storage;
    return map;
  }
  return kernels::plain_map(e.n, e.c, e.h, e.w, form == Form::padded ? halo : kernels::Halo{});
}

kernels::FeatureMap flat_map(const ir::TensorType& type) {
  return kernels::matrix_map(1, ir::element_count(type.dims));
}

kernels::FeatureMap matrix_of(const ir::TensorType& type) {
  const int64_t columns = type.dims.back();
  return kernels::matrix_map(ir::element_count(type.dims) / columns, columns);
}

bool blocked_is_plain(const ir::TensorType& type, const targets::Target& target) {
  const auto e = extents_of(type);
  return e && e->h * e->w == 1 && e->c % target.vector_lanes == 0;
}

bool needs_channels(const Graph& graph, const Group& group) {
  const ir::TensorType& type = graph.value(group.result).type;
  const std::vector<patterns::Step> steps = kernel_steps(graph, group, Family::elementwise);
  return std::any_of(steps.begin(), steps.end(), [&](const patterns::Step& step) {
    if (step.kind == patterns::Step::Kind::affine) return true;
    if (!step.operand.valid()) return false;
    const auto kind = operand_kind(graph, step.operand, type, 1);
    return kind == kernels::StepOperand::Kind::per_channel || kind == kernels::StepOperand::Kind::gate;
  });
}

std::vector<Form> native_forms(const Graph& graph, const std::vector<Group>& groups,
                               const targets::Target& target, const PlanOptions& options) {
  std::vector<Form> forms(graph.value_capacity(), Form::plain);
  const PlainResults plain(graph, groups, target, options);
  for (const Group& group : groups) {
    Form form = Form::plain;
    switch (family_of(graph, group.nodes.front(), target)) {
      case Family::conv: {
        const Form native = forms[graph.node(group.nodes.front()).inputs[0].index];
        form = plain.form_of(group, native);
        break;
      }
      case Family::pool:
      case Family::upsample:
        form = Form::blocked;
        break;
      case Family::elementwise:
        form = elementwise_form(graph, group, forms, target);
        break;
      case Family::concat:
        form = concat_form(graph, group.nodes.front(), forms);
        break;
      case Family::split:
        if (!options.concat_slices) break;
        form = forms[graph.node(group.nodes.front()).inputs[0].index];
        for (ValueId part : graph.node(group.nodes.front()).outputs) forms[part.index] = form;
        break;
      case Family::gemm:
      case Family::product:
      case Family::softmax:
      case Family::transpose:
      case Family::view:
      case Family::routine:
        break;
    }
    forms[group.result.index] = form;
  }
  return forms;
}

Reading source_reading(const Graph& graph, NodeId anchor, Family family, Form native,
                       const targets::Target& target, const kernels::ConvPolicy& policy) {
  if (family != Family::conv) return {Form::blocked, {}};
  Reading reading;
  for (const kernels::ConvSpec& part : blocked_conv_parts(graph, anchor, target)) {
    const Reading own = part_reading(part, native, target, policy);
    reading.form = own.form;  // depends on the channels alone
    reading.halo = kernels::widest(reading.halo, own.halo);
  }
  return reading;
}

}  // namespace onepass::plan
