// SPDX-License-Identifier: Apache-2.0
//
// The cases of src/patterns/*.graph and tests/cases/graphs/*.graph with `join` lines: the verdict is the
// expected one, the graph stays as it is, and the steps of a legal group compute what its nodes compute.
#include <gtest/gtest.h>

#include <map>

#include "ir/parser.h"
#include "ir/printer.h"
#include "passes/infer_shapes.h"
#include "patterns/case_file.h"
#include "patterns/catalogue.h"
#include "patterns/compare.h"

namespace onepass::test {

namespace {

using patterns::GroupDraft;
using patterns::JoinVerdict;
using patterns::Step;

ir::NodeId find_node(const ir::Graph& graph, const std::string& name) {
  for (const ir::NodeId id : graph.topological_order())
    if (graph.node(id).name == name) return id;
  ADD_FAILURE() << "no node '" << name << "'";
  return {};
}

patterns::JoinOptions options_of(const Case& text_case) {
  patterns::JoinOptions options;
  for (const auto& words : text_case.options) {
    if (words[0] == "max_steps") options.max_steps = std::stoi(words.at(1));
    if (words[0] == "residual" && words.at(1) == "split") options.residual = patterns::ResidualMode::split;
  }
  return options;
}

bool reads(const ir::Graph& graph, ir::NodeId node, ir::ValueId value) {
  const auto& inputs = graph.node(node).inputs;
  return std::find(inputs.begin(), inputs.end(), value) != inputs.end();
}

void extend(const ir::Graph& graph, GroupDraft& draft, const Step& step) {
  draft.nodes.push_back(step.node);
  draft.steps.push_back(step);
  draft.result = graph.node(step.node).outputs[0];
}

/// The group from `anchor` up to the node that `next` reads.
GroupDraft grow(const ir::Graph& graph, ir::NodeId anchor, ir::NodeId next,
                const patterns::JoinOptions& options) {
  GroupDraft draft{{anchor}, {}, graph.node(anchor).outputs[0]};
  while (!reads(graph, next, draft.result)) {
    const ir::NodeId reader = graph.only_consumer(draft.result);
    require(reader.valid(), "the path to the next node is straight");
    const JoinVerdict verdict = legal_join(graph, draft, reader, options);
    const Step* step = std::get_if<Step>(&verdict.outcome);
    require(step != nullptr, "the nodes before the next one join");
    extend(graph, draft, *step);
  }
  return draft;
}

using Values = std::map<int32_t, ir::Tensor>;

Values run(const ir::Graph& graph) {
  Values values;
  const std::vector<ir::Tensor> inputs = random_inputs(graph, 7);
  for (size_t i = 0; i < inputs.size(); ++i) values[graph.inputs()[i].index] = inputs[i].cast(ir::DType::f64);
  ops::InterpretOptions options{.precision = ops::Precision::f64};
  options.on_value = [&](ir::ValueId id, const ir::Tensor& tensor) { values[id.index] = tensor; };
  ops::interpret(graph, inputs, options);
  return values;
}

ir::Tensor operand_of(const ir::Graph& graph, const Values& values, ir::ValueId id) {
  return graph.is_constant(id) ? graph.value(id).constant.cast(ir::DType::f64) : values.at(id.index);
}

ir::Tensor affine(const ir::Tensor& acc, const Step& step) {
  ir::Tensor result(ir::DType::f64, acc.shape());
  const std::vector<double> scale = step.scale.to_doubles(), shift = step.shift.to_doubles();
  const int64_t channels = acc.shape().at(1), inner = ir::row_major_strides(acc.shape()).at(1);
  for (int64_t i = 0; i < acc.size(); ++i) {
    const int64_t c = i / inner % channels;
    result.data<double>()[i] = acc.to_doubles()[i] * scale[c] + shift[c];
  }
  return result;
}

ir::Tensor apply_step(const ir::Graph& graph, const Values& values, const ir::Tensor& acc, const Step& step) {
  if (step.kind == Step::Kind::affine) return affine(acc, step);
  if (step.kind == Step::Kind::activation) {
    const ir::Node& node = graph.node(step.node);
    std::vector<ir::Tensor> bounds;
    for (size_t i = 1; i < node.inputs.size(); ++i)
      bounds.push_back(node.inputs[i].valid() ? operand_of(graph, values, node.inputs[i]) : ir::Tensor());
    std::vector<const ir::Tensor*> inputs = {&acc};
    for (const ir::Tensor& bound : bounds) inputs.push_back(bound.empty() ? nullptr : &bound);
    return ops::evaluate(node, inputs, ops::Precision::f64)[0];
  }
  const ir::Tensor operand = operand_of(graph, values, step.operand);
  const ir::Node node{.op = step.op, .name = "step", .outputs = {ir::ValueId{0}}};
  if (step.accumulator_left) return ops::evaluate(node, {&acc, &operand}, ops::Precision::f64)[0];
  return ops::evaluate(node, {&operand, &acc}, ops::Precision::f64)[0];
}

void expect_steps_compute(const ir::Graph& graph, const GroupDraft& draft) {
  const Values values = run(graph);
  ir::Tensor acc = values.at(graph.node(draft.nodes[0]).outputs[0].index);
  for (const Step& step : draft.steps) acc = apply_step(graph, values, acc, step);
  EXPECT_EQ(difference(values.at(draft.result.index), acc, 1e-6), "");
}

void expect_join(const ir::Graph& graph, const Case& text_case, const JoinLine& line) {
  const patterns::JoinOptions options = options_of(text_case);
  const ir::NodeId next = find_node(graph, line.next);
  GroupDraft draft = grow(graph, find_node(graph, line.anchor), next, options);
  const JoinVerdict verdict = legal_join(graph, draft, next, options);
  const auto* refusal = std::get_if<patterns::Refusal>(&verdict.outcome);
  const std::string why = refusal == nullptr ? "" : refusal->condition + ": " + refusal->reason;
  EXPECT_EQ(verdict.pattern == nullptr ? "-" : verdict.pattern->name, line.rule) << why;
  ASSERT_EQ(refusal == nullptr ? "legal" : "refused", line.verdict) << why;
  if (refusal != nullptr) {
    EXPECT_EQ(refusal->condition, line.condition) << why;
    EXPECT_FALSE(refusal->reason.empty());
    EXPECT_EQ(refusal->nodes.back(), line.next);
    return;
  }
  extend(graph, draft, std::get<Step>(verdict.outcome));
  if (!text_case.untyped) expect_steps_compute(graph, draft);
}

class Joins : public testing::TestWithParam<Case> {};

TEST_P(Joins, GivesTheVerdict) {
  const Case& text_case = GetParam();
  ir::Graph graph = ir::parse(text_case.graph);
  if (!text_case.untyped) passes::infer_shapes(graph);
  const std::string before = ir::print(graph);
  for (const JoinLine& line : text_case.joins) expect_join(graph, text_case, line);
  EXPECT_EQ(ir::print(graph), before);
}

std::vector<Case> join_cases() {
  std::vector<Case> all;
  for (const char* folder : {"src/patterns", "tests/cases/graphs"})
    for (Case& text_case : load_cases(folder))
      if (!text_case.joins.empty()) all.push_back(std::move(text_case));
  return all;
}

INSTANTIATE_TEST_SUITE_P(Graphs, Joins, testing::ValuesIn(join_cases()),
                         [](const auto& info) { return info.param.name; });

}  // namespace

}  // namespace onepass::test
