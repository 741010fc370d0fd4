// SPDX-License-Identifier: Apache-2.0
#include "plan/lowering.h"

#include <fmt/format.h>

#include <algorithm>

namespace onepass::plan {

using ir::NodeId;
using ir::ValueId;
using kernels::FeatureMap;

Lowering::Lowering(const ir::Graph& graph, const targets::Target& target, std::vector<Group> groups,
                   const PlanOptions& options)
    : graph_(graph), target_(target), options_(options) {
  plan_.target = &target;
  plan_.groups = std::move(groups);
  forms_ = native_forms(graph, plan_.groups, target);
  halos_.resize(graph.value_capacity());
  buffers_.resize(graph.value_capacity(), {-1, -1, -1});
  counts_.resize(graph.value_capacity(), -1);
  output_of_.resize(graph.value_capacity(), -1);
}

Plan Lowering::run() {
  for (int32_t o = static_cast<int32_t>(graph_.outputs().size()); o-- > 0;)
    output_of_[graph_.outputs()[o].value.index] = o;
  for (int32_t i = 0; i < static_cast<int32_t>(graph_.inputs().size()); ++i) {
    const ir::Value& input = graph_.value(graph_.inputs()[i]);
    buffers_[graph_.inputs()[i].index][0] =
        add_buffer({.name = input.name,
                    .space = BufferSpace::input,
                    .index = i,
                    .size_bytes = ir::element_count(input.type.dims) * ir::size_bytes(input.type.dtype),
                    .value = graph_.inputs()[i]});
  }
  collect_halos();
  for (int32_t g = 0; g < static_cast<int32_t>(plan_.groups.size()); ++g) lower(g);
  if (!refused_.empty()) throw Error(refused_);
  bind_outputs();
  set_lifetimes();
  return std::move(plan_);
}

void Lowering::collect_halos() {
  for (const Group& group : plan_.groups) {
    const NodeId anchor = group.nodes.front();
    const Family family = family_of(graph_, anchor, target_);
    if (family != Family::conv) continue;
    const ValueId src = graph_.node(anchor).inputs[0];
    const Reading reading = source_reading(graph_, anchor, family, forms_[src.index], target_,
                                           options_.policy_for(graph_, anchor));
    kernels::Halo& halo = halos_[src.index][static_cast<int>(reading.form)];
    halo = kernels::widest(halo, reading.halo);
  }
}

void Lowering::lower(int32_t group) {
  const NodeId anchor = plan_.groups[group].nodes.front();
  const Family family = family_of(graph_, anchor, target_);
  if (!refused_.empty() && family != Family::routine) return;
  switch (family) {
    case Family::conv:
    case Family::pool:
    case Family::elementwise:
      return lower_kernel(group, family);
    case Family::gemm:
      return lower_gemm(group);
    case Family::upsample:
      return lower_upsample(group);
    case Family::softmax:
      return lower_softmax(group);
    case Family::concat:
      if (forms_[plan_.groups[group].result.index] == Form::blocked) return lower_concat(group);
      return lower_routine(group);
    case Family::view:
      return lower_view(anchor);
    case Family::routine:
      return lower_routine(group);
  }
}

void Lowering::lower_kernel(int32_t index, Family family) {
  const Group& group = plan_.groups[index];
  const NodeId anchor = group.nodes.front();
  const ir::TensorType& type = graph_.value(group.result).type;
  const Form form = forms_[group.result.index];
  const bool elementwise = family == Family::elementwise;
  const ValueId src = elementwise ? start_of(graph_, anchor).value().src : graph_.node(anchor).inputs[0];
  const kernels::ConvPolicy& policy = options_.policy_for(graph_, anchor);
  const Form src_form =
      elementwise ? form : source_reading(graph_, anchor, family, forms_[src.index], target_, policy).form;
  const bool flat = elementwise && form == Form::plain;
  const auto layout = [&](ValueId value, Form f) {
    return flat ? flat_map(graph_.value(value).type) : map(value, f);
  };

  GroupMaps maps{.src = layout(src, src_form), .dst = layout(group.result, form), .operands = {}};
  std::vector<int32_t> reads = {read(src, src_form)};
  std::vector<int32_t> may_take_over;
  for (ValueId operand : map_operands(graph_, kernel_steps(graph_, group, family), family, type)) {
    maps.operands.push_back(layout(operand, form));
    const int32_t buffer = read(operand, form);
    if (maps.operands.back() == maps.dst) may_take_over.push_back(buffer);
  }
  if (elementwise && maps.src == maps.dst) may_take_over.push_back(reads[0]);
  const kernels::KernelChoice choice = kernel_of(group, family, maps);
  if (family == Family::conv) append_weights(anchor, choice, family, reads);
  append_operands(group, family, type, form, maps.dst, reads);
  launch(index, group.name, choice, std::move(reads), write(group.result, form), std::move(may_take_over));
}

void Lowering::lower_gemm(int32_t index) {
  const Group& group = plan_.groups[index];
  const NodeId anchor = group.nodes.front();
  const ir::TensorType& type = graph_.value(group.result).type;
  const ValueId src = graph_.node(anchor).inputs[0];
  GroupMaps maps{.src = matrix_of(graph_.value(src).type), .dst = matrix_of(type), .operands = {}};
  for (ValueId operand : map_operands(graph_, group.steps, Family::gemm, type))
    maps.operands.push_back(matrix_of(graph_.value(operand).type));
  const kernels::KernelChoice choice = kernel_of(group, Family::gemm, maps);
  std::vector<int32_t> reads = {read(src, Form::plain)};
  append_weights(anchor, choice, Family::gemm, reads);
  append_operands(group, Family::gemm, type, Form::plain, maps.dst, reads);
  launch(index, group.name, choice, std::move(reads), write(group.result, Form::plain));
}

void Lowering::lower_upsample(int32_t index) {
  const Group& group = plan_.groups[index];
  const ValueId src = graph_.node(group.nodes.front()).inputs[0];
  const FeatureMap from = map(src, Form::blocked), to = map(group.result, Form::blocked);
  const kernels::UpsampleSpec spec{from, to, to.h / from.h, to.w / from.w};
  const int32_t source = read(src, Form::blocked);
  launch(index, group.name, spec, {source}, write(group.result, Form::blocked));
}

void Lowering::lower_softmax(int32_t index) {
  const Group& group = plan_.groups[index];
  const NodeId anchor = group.nodes.front();
  const int32_t src = read(graph_.node(anchor).inputs[0], Form::plain);
  launch(index, group.name, softmax_spec_of(graph_, anchor), {src}, write(group.result, Form::plain), {src});
}

void Lowering::lower_concat(int32_t index) {
  const Group& group = plan_.groups[index];
  const std::vector<ValueId> inputs = graph_.node(group.nodes.front()).inputs;
  const FeatureMap whole = map(group.result, Form::blocked);
  std::vector<int32_t> sources;
  for (ValueId input : inputs) sources.push_back(read(input, Form::blocked));
  const int32_t dst = write(group.result, Form::blocked);
  int64_t first = 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const FeatureMap from = map(inputs[i], Form::blocked);
    const kernels::LayoutSpec spec{from, kernels::channel_slice(whole, first, from.c)};
    launch(index, fmt::format("{} [{}]", group.name, i), spec, {sources[i]}, dst);
    first += from.c;
  }
}

void Lowering::lower_view(NodeId id) {
  const ir::Node& node = graph_.node(id);
  const ValueId src = node.inputs[0], result = node.outputs[0];
  buffers_[result.index][0] = read(src, Form::plain);
  counts_[result.index] = counts_[src.index];
}

void Lowering::lower_routine(int32_t index) {
  const Group& group = plan_.groups[index];
  const NodeId anchor = group.nodes.front();
  const ir::Node& node = graph_.node(anchor);
  const auto call = routine_call(graph_, anchor);
  if (!call) {
    Diagnostic d = ir::diagnostic_at(node, "no_kernel",
                                     fmt::format("no kernel and no routine computes {}",
                                                 ir::to_string(graph_.value(node.outputs[0]).type)));
    d.accepted = "operands that a pass can fold to constants where the operator's shape depends on them";
    refused_.push_back(std::move(d));
  }
  if (!refused_.empty()) return;  // what follows would read values that nothing writes
  Launch launch{.symbol = call->symbol,
                .name = group.name,
                .family = "routine",
                .group = index,
                .params = call->params,
                .slices = call->slices};
  plan_.scratch_bytes = std::max(plan_.scratch_bytes, call->scratch_bytes);
  for (ValueId input : call->inputs) {
    launch.reads.push_back(read(input, Form::plain));
    launch.estimate.bytes_read += plan_.buffers[launch.reads.back()].size_bytes;
  }
  for (ValueId output : call->outputs) {
    launch.writes.push_back(write(output, Form::plain));
    launch.estimate.bytes_written += plan_.buffers[launch.writes.back()].size_bytes;
    for (ValueId input : node.inputs)
      if (input.valid() && graph_.value(output).type.counted_axis >= 0 && counts_[input.index] >= 0)
        counts_[output.index] = counts_[input.index];
  }
  launch.operands = launch.reads;
  launch.operands.insert(launch.operands.end(), launch.writes.begin(), launch.writes.end());
  if (call->writes_count) {
    const int32_t slot = add_buffer({.name = node.name + " count", .size_bytes = 8});
    counts_[call->outputs[0].index] = slot;
    launch.writes.push_back(slot);
    launch.operands.push_back(slot);
  }
  constexpr double k_routine_share = 0.02;  // of peak, for loops that move or compare elements
  launch.estimate.executed_flops = launch.estimate.flops =
      static_cast<double>(launch.estimate.bytes_written) / 4;
  launch.estimate.efficiency = k_routine_share;
  push(std::move(launch));
}

void Lowering::bind_outputs() {
  for (int32_t o = 0; o < static_cast<int32_t>(graph_.outputs().size()); ++o) {
    const ValueId value = graph_.outputs()[o].value;
    const int32_t source = read(value, Form::plain);
    Buffer& buffer = plan_.buffers[source];
    if (counts_[value.index] >= 0) plan_.counts.push_back({o, counts_[value.index]});
    if (buffer.space == BufferSpace::output && buffer.index == o) continue;
    if (buffer.space == BufferSpace::arena) {
      buffer.space = BufferSpace::output;
      buffer.index = o;
      continue;
    }
    const int64_t size_bytes = buffer.size_bytes;
    const int32_t copy = add_buffer({.name = graph_.outputs()[o].name,
                                     .space = BufferSpace::output,
                                     .index = o,
                                     .size_bytes = size_bytes,
                                     .value = value});
    push({.symbol = "onepass_copy_1",
          .name = "output '" + graph_.outputs()[o].name + "'",
          .family = "routine",
          .reads = {source},
          .writes = {copy},
          .operands = {source, copy},
          .params = {size_bytes, size_bytes, 0, 1, size_bytes, 1},  // one slice, offset 0, one axis
          .estimate = {.bytes_read = size_bytes, .bytes_written = size_bytes}});
  }
}

void Lowering::set_lifetimes() {
  const auto touch = [&](int32_t buffer, int32_t launch) {
    Buffer& b = plan_.buffers[buffer];
    if (b.first_launch < 0) b.first_launch = launch;
    b.last_launch = launch;
  };
  for (int32_t l = 0; l < static_cast<int32_t>(plan_.launches.size()); ++l) {
    for (int32_t buffer : plan_.launches[l].reads) touch(buffer, l);
    for (int32_t buffer : plan_.launches[l].writes) touch(buffer, l);
  }
  for (const Count& count : plan_.counts)
    plan_.buffers[count.buffer].last_launch = static_cast<int32_t>(plan_.launches.size());
}

}  // namespace onepass::plan
