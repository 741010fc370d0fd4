// SPDX-License-Identifier: Apache-2.0
#include "verify/check.h"

#include <algorithm>
#include <limits>

#include "verify/reference_run.h"
#include "verify/selection.h"

namespace onepass::verify {

namespace {

std::vector<ir::NodeId> downstream_of_selections(const ir::Graph& graph) {
  std::vector<bool> depends(graph.value_capacity(), false);
  std::vector<ir::NodeId> result;
  for (const ir::NodeId id : graph.topological_order()) {
    const ir::Node& node = graph.node(id);
    const auto reads_one = [&](ir::ValueId input) { return input.valid() && depends[input.index]; };
    if (!is_selection(node.op) && std::none_of(node.inputs.begin(), node.inputs.end(), reads_one)) continue;
    result.push_back(id);
    for (const ir::ValueId output : node.outputs)
      if (output.valid()) depends[output.index] = true;
  }
  return result;
}

Compared compare(const ir::Tensor& fused, const ir::Tensor& reference, const ir::Tensor& referee,
                 const Segments& segments) {
  return {{error(fused, reference, segments), error(fused, referee, segments),
           error(reference, referee, segments)},
          fused.size()};
}

bool all_hold(const std::vector<Compared>& compared, double tolerance) {
  return std::all_of(compared.begin(), compared.end(),
                     [&](const Compared& c) { return verify::holds(c.errors, tolerance); });
}

}  // namespace

bool FrameResult::holds(double tolerance) const {
  // Groups are not asked: they only say where a difference begins.
  return broken.empty() && all_hold(outputs, tolerance) && all_hold(inputs, tolerance);
}

Checker::Checker(const Subject& subject, double tolerance) : subject_(subject), tolerance_(tolerance) {
  const ir::Graph& graph = *subject.reference;
  for (const ir::GraphOutput& output : graph.outputs())
    output_segments_.push_back(segments_of(graph, output.value));
  for (const Selection& selection : subject.selections)
    for (const Probe& input : selection.inputs) input_segments_.push_back(segments_of(graph, input.value));
  for (const Probe& group : subject.groups) group_segments_.push_back(segments_of(graph, group.value));
  downstream_ = downstream_of_selections(graph);
  kept_.resize(graph.value_capacity(), false);
  for (const ir::NodeId id : downstream_) {
    for (const ir::ValueId input : graph.node(id).inputs)
      if (input.valid()) kept_[input.index] = true;
    for (const ir::ValueId output : graph.node(id).outputs)
      if (output.valid()) kept_[output.index] = true;
  }
}

FrameResult Checker::check(runtime::Session& session, const std::vector<ir::Tensor>& inputs,
                           bool with_groups) const {
  const FusedRun fused = run_fused(subject_, session, inputs, with_groups);
  const ReferencePlan plan{subject_, downstream_, kept_, tolerance_};
  FrameResult result;
  ReferenceRun reference(plan, inputs, ops::Precision::f32);
  ReferenceRun referee(plan, inputs, ops::Precision::f64);
  const auto group_values = [&](ReferenceRun& run) {
    if (with_groups) run.keep_groups();
  };
  group_values(reference);
  group_values(referee);
  reference.run();
  referee.run();
  Choices referee_choices;
  Choices choices;
  reference.follow(fused.choices, choices);
  referee.follow(fused.choices, referee_choices);
  result.ties = std::move(choices.ties);
  result.broken = std::move(choices.wrong);

  for (size_t o = 0; o < fused.outputs.size(); ++o)
    result.outputs.push_back(
        compare(fused.outputs[o], reference.output(o), referee.output(o), output_segments_[o]));
  size_t number = 0;
  for (size_t s = 0; s < subject_.selections.size(); ++s)
    for (size_t i = 0; i < subject_.selections[s].inputs.size(); ++i) {
      const ir::ValueId value = subject_.selections[s].inputs[i].value;
      result.inputs.push_back(compare(fused.selection_inputs[s][i], reference.value(value),
                                      referee.value(value), input_segments_[number++]));
    }
  for (size_t g = 0; g < fused.groups.size(); ++g) {
    const ir::ValueId value = subject_.groups[g].value;
    result.groups.push_back(
        compare(fused.groups[g], reference.value(value), referee.value(value), group_segments_[g]));
  }
  return result;
}

}  // namespace onepass::verify
