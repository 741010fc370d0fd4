// SPDX-License-Identifier: Apache-2.0
#include "verify/reference_run.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/diagnostic.h"
#include "verify/selection.h"

namespace onepass::verify {

ReferenceRun::ReferenceRun(const ReferencePlan& plan, const std::vector<ir::Tensor>& inputs,
                           ops::Precision precision)
    : plan_(plan),
      graph_(*plan.subject.reference),
      inputs_(inputs),
      precision_(precision),
      kept_(plan.kept),
      values_(graph_.value_capacity()),
      changed_(graph_.value_capacity(), false) {}

void ReferenceRun::keep_groups() {
  for (const Probe& group : plan_.subject.groups) kept_[group.value.index] = true;
}

void ReferenceRun::run() {
  for (size_t i = 0; i < inputs_.size(); ++i) values_[graph_.inputs()[i].index] = inputs_[i];
  const auto keep = [&](ir::ValueId value, const ir::Tensor& tensor) {
    if (kept_[value.index]) values_[value.index] = tensor;
  };
  outputs_ = ops::interpret(graph_, inputs_, {.precision = precision_, .on_value = keep});
}

const ir::Tensor& ReferenceRun::value(ir::ValueId value) const {
  const ir::Tensor& tensor = graph_.is_constant(value) ? graph_.value(value).constant : values_[value.index];
  require(!tensor.empty() || tensor.size() == 0, "a value that is compared was kept");
  return tensor;
}

std::vector<const ir::Tensor*> ReferenceRun::operands(const ir::Node& node) const {
  std::vector<const ir::Tensor*> result;
  for (const ir::ValueId input : node.inputs) result.push_back(input.valid() ? &value(input) : nullptr);
  return result;
}

void ReferenceRun::replace(const ir::Node& node, std::vector<ir::Tensor> outputs) {
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    const ir::ValueId output = node.outputs[i];
    if (!output.valid()) continue;
    for (size_t o = 0; o < graph_.outputs().size(); ++o)
      if (graph_.outputs()[o].value == output) outputs_[o] = outputs[i];
    changed_[output.index] = true;
    values_[output.index] = std::move(outputs[i]);
  }
}

void ReferenceRun::choose(const Selection& selection, const ir::Tensor& choice, Choices& result) {
  const ir::Node& node = graph_.node(selection.node);
  const ir::Tensor& own = value(node.outputs[static_cast<size_t>(choice_output(node.op))]);
  if (own.shape() == choice.shape() && own.to_ints() == choice.to_ints()) return;
  const std::vector<const ir::Tensor*> inputs = operands(node);
  const std::string wrong = wrong_choice(node, inputs, choice, plan_.tolerance);
  if (!wrong.empty()) {
    result.wrong.push_back(fmt::format("'{}' ({}): {}", node.name, ir::name(node.op), wrong));
    return;
  }
  result.ties.push_back(
      fmt::format("'{}' ({}) chooses otherwise between equals", node.name, ir::name(node.op)));
  replace(node, outputs_for(node, inputs, choice));
}

void ReferenceRun::follow(const std::vector<ir::Tensor>& choices, Choices& result) {
  for (const ir::NodeId id : plan_.downstream) {
    const ir::Node& node = graph_.node(id);
    const auto changed = [&](ir::ValueId input) { return input.valid() && changed_[input.index]; };
    if (std::any_of(node.inputs.begin(), node.inputs.end(), changed))
      replace(node, ops::evaluate(node, operands(node), precision_));
    const auto& selections = plan_.subject.selections;
    const auto found =
        std::find_if(selections.begin(), selections.end(), [&](const Selection& s) { return s.node == id; });
    if (found != selections.end())
      choose(*found, choices[static_cast<size_t>(found - selections.begin())], result);
  }
}

}  // namespace onepass::verify
