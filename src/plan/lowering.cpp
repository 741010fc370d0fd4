// SPDX-License-Identifier: Apache-2.0
#include "plan/lowering.h"

#include <fmt/format.h>

#include <algorithm>

#include "plan/channel_rows.h"
#include "plan/conv_parts.h"
#include "plan/routine_call_resize_axis.h"
#include "plan/stripes.h"
#include "plan/transpose_axes.h"

namespace onepass::plan {

using ir::NodeId;
using ir::ValueId;
using kernels::FeatureMap;

Lowering::Lowering(const ir::Graph& graph, const targets::Target& target, std::vector<Group> groups,
                   const PlanOptions& options)
    : graph_(graph), target_(target), options_(options) {
  plan_.target = &target;
  plan_.groups = std::move(groups);
  forms_ = native_forms(graph, plan_.groups, target, options_);
  halos_.resize(graph.value_capacity());
  buffers_.resize(graph.value_capacity(), {-1, -1, -1, -1});
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
  place_slices();
  pass_over_transposes();
  place_plain();
  for (int32_t g = 0; g < static_cast<int32_t>(plan_.groups.size()); ++g) lower(g);
  if (!refused_.empty()) throw Error(refused_);
  bind_outputs();
  if (options_.stripes) run_in_stripes(plan_, kernels_);
  kernels_.move_used_to(plan_);
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
  if (const auto done = passed_over_.find(group); done != passed_over_.end()) {
    if (family == Family::transpose)
      buffers_[plan_.groups[group].result.index][static_cast<int>(Form::plain)] =
          read(done->second, Form::rows);
    return;
  }
  switch (family) {
    case Family::conv:
    case Family::pool:
    case Family::elementwise:
      return lower_kernel(group, family);
    case Family::gemm:
      return lower_gemm(group);
    case Family::product:
      return lower_product(group);
    case Family::upsample:
      return lower_upsample(group);
    case Family::softmax:
      return lower_softmax(group);
    case Family::transpose:
      return lower_transpose(group);
    case Family::concat:
      if (forms_[plan_.groups[group].result.index] == Form::blocked) return lower_concat(group);
      return lower_routine(group);
    case Family::split:
      if (forms_[plan_.groups[group].result.index] == Form::blocked) return lower_split(group);
      return lower_routine(group);
    case Family::view:
      return lower_view(anchor);
    case Family::routine:
      return lower_routine(group);
  }
}

ValueId Lowering::source_of(const Group& group, Family family) const {
  const NodeId anchor = group.nodes.front();
  return family == Family::elementwise ? start_of(graph_, anchor).value().src : graph_.node(anchor).inputs[0];
}

Form Lowering::source_form(const Group& group, Family family) const {
  if (family == Family::elementwise) return forms_[group.result.index];
  const NodeId anchor = group.nodes.front();
  return source_reading(graph_, anchor, family, forms_[graph_.node(anchor).inputs[0].index], target_,
                        options_.policy_for(graph_, anchor))
      .form;
}

GroupMaps Lowering::maps_of(const Group& group, Family family) const {
  const Form form = forms_[group.result.index];
  const bool flat = family == Family::elementwise && form == Form::plain;
  const auto layout = [&](ValueId value, Form f) {
    return flat ? flat_map(graph_.value(value).type) : map(value, f);
  };
  GroupMaps maps{.src = layout(source_of(group, family), source_form(group, family)),
                 .dst = layout(group.result, form),
                 .operands = {}};
  const ir::TensorType& type = graph_.value(group.result).type;
  for (ValueId operand : map_operands(graph_, kernel_steps(graph_, group, family), family, type))
    maps.operands.push_back(layout(operand, form));
  return maps;
}

void Lowering::lower_kernel(int32_t index, Family family) {
  const Group& group = plan_.groups[index];
  const NodeId anchor = group.nodes.front();
  const ir::TensorType& type = graph_.value(group.result).type;
  const Form form = forms_[group.result.index];
  GroupMaps maps = maps_of(group, family);
  std::vector<int32_t> reads = {read(source_of(group, family), source_form(group, family))};
  std::vector<int32_t> may_take_over;
  size_t next_map = 0;
  for (ValueId operand : map_operands(graph_, kernel_steps(graph_, group, family), family, type)) {
    const int32_t buffer = read(operand, form);
    if (maps.operands[next_map++] == maps.dst) may_take_over.push_back(buffer);
  }
  if (family == Family::elementwise && maps.src == maps.dst) may_take_over.push_back(reads[0]);
  int32_t dst = -1;
  const size_t parts = family == Family::conv ? conv_parts(graph_, anchor).size() : 1;
  if (parts > 1) may_take_over.clear();  // the operand is read by every part, after the first has written
  for (; maps.part < parts; ++maps.part) {
    const kernels::KernelChoice choice = kernel_of(group, family, maps);
    std::vector<int32_t> part_reads = reads;
    if (family == Family::conv) append_weights(anchor, choice, family, part_reads);
    append_operands(group, family, type, form, maps.dst, part_reads);
    if (maps.part == 0) dst = write(group.result, form);
    const std::string name = parts == 1 ? group.name : fmt::format("{} [{}]", group.name, maps.part);
    launch(index, name, choice, std::move(part_reads), dst, may_take_over);
  }
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

void Lowering::lower_product(int32_t index) {
  const Group& group = plan_.groups[index];
  const NodeId anchor = group.nodes.front();
  const ir::TensorType& type = graph_.value(group.result).type;
  kernels::MatrixProductSpec spec = product_spec_of(graph_, anchor).value();
  spec.epilogue = epilogue_for(graph_, group.steps, Family::product, type, {});
  std::vector<int32_t> reads;
  for (const ValueId operand : graph_.node(anchor).inputs) reads.push_back(read(operand, Form::plain));
  append_operands(group, Family::product, type, Form::plain, spec.dst, reads);
  launch(index, group.name, spec, std::move(reads), write(group.result, Form::plain));
}

void Lowering::lower_upsample(int32_t index) {
  const Group& group = plan_.groups[index];
  const ValueId src = graph_.node(group.nodes.front()).inputs[0];
  const FeatureMap from = map(src, Form::blocked), to = map(group.result, Form::blocked);
  std::vector<int32_t> reads = {read(src, Form::blocked)};
  kernels::KernelChoice choice = kernels::UpsampleSpec{from, to, to.h / from.h, to.w / from.w};
  if (const auto axes = routines::linear_axes({graph_, group.nodes.front()})) {
    choice = kernels::LinearResizeSpec{from, to, axes->rows, axes->columns};
    reads.push_back(add_weights(group.name + " rows",
                                std::span<const float>(kernels::linear_weights(axes->rows, from.h, to.h))));
    reads.push_back(add_weights(group.name + " columns", std::span<const float>(kernels::linear_weights(
                                                             axes->columns, from.w, to.w))));
  }
  launch(index, group.name, choice, std::move(reads), write(group.result, Form::blocked));
}

void Lowering::lower_softmax(int32_t index) {
  const Group& group = plan_.groups[index];
  const NodeId anchor = group.nodes.front();
  const int32_t src = read(graph_.node(anchor).inputs[0], Form::plain);
  launch(index, group.name, softmax_spec_of(graph_, anchor), {src}, write(group.result, Form::plain), {src});
}

void Lowering::lower_transpose(int32_t index) {
  const Group& group = plan_.groups[index];
  const NodeId anchor = group.nodes.front();
  const int32_t src = read(graph_.node(anchor).inputs[0], Form::plain);
  launch(index, group.name, transpose_spec_of(graph_, anchor).value(), {src},
         write(group.result, Form::plain));
}

/// A convolution whose result is rows of channels stands for the Transpose behind it.
void Lowering::pass_over_transposes() {
  std::map<NodeId, int32_t> group_of;
  for (int32_t g = 0; g < static_cast<int32_t>(plan_.groups.size()); ++g)
    group_of[plan_.groups[g].nodes.front()] = g;
  for (Group& group : plan_.groups) {
    if (forms_[group.result.index] != Form::rows) continue;
    const ChannelRows rows = channel_rows(graph_, group.result).value();
    for (const NodeId view : rows.views) passed_over_[group_of.at(view)] = group.result;
    const int32_t transpose = group_of.at(rows.transpose);
    passed_over_[transpose] = group.result;
    rows_of_[rows.transpose] = group.result;
    group.name += " + " + plan_.groups[transpose].name;
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
  if (refused_.empty() && lower_plain_parts(index)) return;
  const auto call = routine_call(graph_, anchor);
  if (!call) {
    Diagnostic d = ir::diagnostic_at(node, "no_kernel",
                                     fmt::format("no kernel and no routine computes {}",
                                                 ir::to_string(graph_.value(node.outputs[0]).type)));
    d.accepted = "operands that a pass can fold to constants where the operator's shape depends on them";
    refused_.push_back(std::move(d));
  }
  if (!refused_.empty()) return;  // what follows would read values that nothing writes
  std::vector<int32_t> reads, writes;
  for (ValueId input : call->inputs) reads.push_back(read(input, Form::plain));
  for (ValueId output : call->outputs) {
    writes.push_back(write(output, Form::plain));
    for (ValueId input : node.inputs)
      if (input.valid() && graph_.value(output).type.counted_axis >= 0 && counts_[input.index] >= 0)
        counts_[output.index] = counts_[input.index];
  }
  push_routine(index, *call, std::move(reads), std::move(writes));
}

void Lowering::push_routine(int32_t group, const RoutineCall& call, std::vector<int32_t> reads,
                            std::vector<int32_t> writes) {
  Launch launch{.symbol = call.symbol,
                .name = plan_.groups[group].name,
                .family = "routine",
                .group = group,
                .reads = std::move(reads),
                .writes = std::move(writes),
                .params = call.params,
                .slices = call.slices};
  plan_.scratch_bytes = std::max(plan_.scratch_bytes, call.scratch_bytes);
  for (const int32_t buffer : launch.reads) launch.estimate.bytes_read += plan_.buffers[buffer].size_bytes;
  for (const int32_t buffer : launch.writes)
    launch.estimate.bytes_written += plan_.buffers[buffer].size_bytes;
  launch.operands = launch.reads;
  launch.operands.insert(launch.operands.end(), launch.writes.begin(), launch.writes.end());
  if (call.writes_count) {
    const int32_t slot = add_buffer({.name = plan_.groups[group].name + " count", .size_bytes = 8});
    counts_[call.outputs[0].index] = slot;
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
    const bool there = buffer.space == BufferSpace::output && buffer.index == o;
    plan_.outputs.push_back(source);
    if (there && (buffer.inside < 0 || buffer.size_bytes == plan_.buffers[buffer.inside].size_bytes))
      continue;
    if (buffer.space == BufferSpace::arena && buffer.inside < 0) {
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
    plan_.outputs.back() = copy;
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

}  // namespace onepass::plan
