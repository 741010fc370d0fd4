// SPDX-License-Identifier: Apache-2.0
#include "plan/plain_result.h"

#include <algorithm>

#include "plan/channel_rows.h"
#include "plan/choice.h"
#include "plan/conv_parts.h"
#include "plan/cost.h"
#include "plan/transpose_axes.h"

namespace onepass::plan {

PlainResults::PlainResults(const ir::Graph& graph, const std::vector<Group>& groups,
                           const targets::Target& target, const PlanOptions& options)
    : graph_(graph), groups_(groups), target_(target), options_(options) {
  for (int32_t g = 0; g < static_cast<int32_t>(groups.size()); ++g)
    for (const ir::NodeId node : groups[g].nodes) {
      if (node.index >= group_of_.size()) group_of_.resize(node.index + 1, -1);
      group_of_[node.index] = g;
    }
}

/// A graph output is plain, and a value that nobody reads may be.
bool PlainResults::read_plain(ir::ValueId value) const {
  const auto& uses = graph_.value(value).uses;
  return std::all_of(uses.begin(), uses.end(),
                     [&](const ir::Use& use) { return reads_plain(use.node, value); });
}

bool PlainResults::reads_plain(ir::NodeId reader, ir::ValueId value) const {
  if (reader.index >= group_of_.size() || group_of_[reader.index] < 0) return false;
  const Group& group = groups_[group_of_[reader.index]];
  const ir::NodeId anchor = group.nodes.front();
  switch (family_of(graph_, anchor, target_)) {
    case Family::gemm:
    case Family::product:
    case Family::softmax:
    case Family::transpose:
    case Family::view:
    case Family::routine:
      return true;
    case Family::elementwise: {
      // It works on what its source is, unless its own readers want blocks; other maps would be converted.
      const ir::TensorType& type = graph_.value(group.result).type;
      const bool alone =
          map_operands(graph_, kernel_steps(graph_, group, Family::elementwise), Family::elementwise, type)
              .empty();
      return alone && start_of(graph_, anchor).value().src == value && !needs_channels(graph_, group) &&
             read_plain(group.result);
    }
    default:
      return false;
  }
}

/// What the group takes when its result lies as `dst`; nothing when no kernel writes it so.
std::optional<double> PlainResults::kernel_ns(const Group& group, Form native,
                                              const kernels::FeatureMap& dst) const {
  const ir::NodeId anchor = group.nodes.front();
  const kernels::ConvPolicy& policy = options_.policy_for(graph_, anchor);
  const Reading reading = source_reading(graph_, anchor, Family::conv, native, target_, policy);
  const ir::TensorType& src = graph_.value(graph_.node(anchor).inputs[0]).type;
  const GroupMaps maps{
      .src = map_of(src, reading.form, reading.halo, target_, options_.storage), .dst = dst, .operands = {}};
  kernels::ConvSpec spec = conv_parts(graph_, anchor).front();
  spec.src = maps.src;
  spec.dst = maps.dst;
  if (!kernels::conv_direct_supports(spec, target_) && !kernels::conv_depthwise_supports(spec, target_))
    return std::nullopt;
  const kernels::KernelChoice kernel = choose_kernel(graph_, group, Family::conv, maps, target_, policy);
  return predict_ns(kernels::estimate(kernel, target_), target_);
}

Form PlainResults::form_of(const Group& group, Form native) const {
  const ir::TensorType& type = graph_.value(group.result).type;
  const std::vector<kernels::ConvSpec> parts = conv_parts(graph_, group.nodes.front());
  const bool one_part = parts.size() == 1 && !parts.front().phases;
  if (!one_part || !map_operands(graph_, group.steps, Family::conv, type).empty() ||
      !read_plain(group.result))
    return Form::blocked;
  const kernels::FeatureMap blocked = map_of(type, Form::blocked, {}, target_, options_.storage);
  const kernels::FeatureMap plain = map_of(type, Form::plain, {}, target_);
  const std::optional<double> blocked_ns = kernel_ns(group, native, blocked);
  const std::optional<double> plain_ns = kernel_ns(group, native, plain);
  if (!blocked_ns) return Form::blocked;
  const double converted_ns =
      *blocked_ns + predict_ns(kernels::estimate(kernels::LayoutSpec{blocked, plain}, target_), target_);
  if (const auto rows = options_.joins ? channel_rows(graph_, group.result) : std::nullopt) {
    const auto transpose = transpose_spec_of(graph_, rows->transpose).value();
    const double after_ns = predict_ns(kernels::estimate(transpose, target_), target_);
    const std::optional<double> rows_ns = kernel_ns(group, native, rows->map);
    if (rows_ns && *rows_ns <= std::min(converted_ns, plain_ns.value_or(converted_ns)) + after_ns)
      return Form::rows;
  }
  return plain_ns && *plain_ns <= converted_ns ? Form::plain : Form::blocked;
}

}  // namespace onepass::plan
