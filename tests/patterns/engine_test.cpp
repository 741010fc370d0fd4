// SPDX-License-Identifier: Apache-2.0
//
// The engine's own rules, with patterns and matches made for the purpose.
#include "patterns/engine.h"

#include <gtest/gtest.h>

#include "ir/parser.h"
#include "ir/printer.h"
#include "passes/infer_shapes.h"
#include "patterns/catalogue.h"

namespace onepass::test {

namespace {

using patterns::Journal;
using patterns::Match;

constexpr const char* k_chain = R"(graph g {
  x = input f32[2,3]
  a = Relu(x) @"first"
  b = Tanh(a) @"second"
  y = Sigmoid(b) @"third"
  output "result" = y
})";

ir::Graph typed(const char* text) {
  ir::Graph graph = ir::parse(text);
  passes::infer_shapes(graph);
  return graph;
}

ir::NodeId node(const ir::Graph& graph, const std::string& name) {
  for (const ir::NodeId id : graph.topological_order())
    if (graph.node(id).name == name) return id;
  ADD_FAILURE() << "no node " << name;
  return {};
}

patterns::RewritePattern pattern_with(std::vector<ir::ValueId> (*replace)(ir::Graph&, const Match&,
                                                                          Journal&)) {
  return {.name = "made_up", .before_after = "", .formula = "", .exactness = "", .replace = replace};
}

std::vector<ir::ValueId> with_one_elu(ir::Graph& graph, const Match& match, Journal&) {
  const ir::ValueId x = graph.node(match.nodes.front()).inputs[0];
  return {graph.add_node(ir::Op::Elu, "second", {x}, graph.value(x).type)};
}

std::vector<ir::ValueId> with_another_shape(ir::Graph& graph, const Match& match, Journal& journal) {
  journal.warnings.push_back({.code = "to_be_dropped"});
  const ir::ValueId x = graph.node(match.nodes.front()).inputs[0];
  return {graph.add_node(ir::Op::Flatten, "flat", {x}, {ir::DType::f32, {1, 6}})};
}

TEST(Engine, HandsOnOriginsNamesAndOutputs) {
  ir::Graph graph = typed(k_chain);
  Journal journal;
  const Match match{{node(graph, "first"), node(graph, "second"), node(graph, "third")}};
  EXPECT_FALSE(patterns::apply(graph, pattern_with(with_one_elu), match, journal));
  ASSERT_EQ(graph.live_node_count(), 1u);
  const ir::NodeId made = graph.topological_order()[0];
  EXPECT_EQ(graph.node(made).origins, (std::vector<std::string>{"second", "first", "third"}));
  EXPECT_EQ(graph.node(made).opset, 0);
  EXPECT_EQ(graph.outputs()[0].name, "result");
  EXPECT_EQ(graph.outputs()[0].value, graph.node(made).outputs[0]);
  EXPECT_EQ(graph.value(graph.outputs()[0].value).name, "y");
  ASSERT_EQ(journal.applied.size(), 1u);
  EXPECT_EQ(journal.applied[0].nodes, (std::vector<std::string>{"first", "second", "third"}));
}

TEST(Engine, U1SecondReaderOfAnInteriorValue) {
  const ir::Graph graph = typed(k_chain);
  const Match match{{node(graph, "first"), node(graph, "third")}};
  const auto failure = patterns::universal_failure(graph, match);
  ASSERT_TRUE(failure);
  EXPECT_STREQ(failure->condition, "U1");
  EXPECT_EQ(failure->reason, "value 'a' is also read by 'second' (Tanh)");
}

TEST(Engine, U3PathThatLeavesAndComesBack) {
  const ir::Graph graph = typed(k_chain);
  const Match match{{node(graph, "third"), node(graph, "first")}};  // the root is not the only exit
  const auto failure = patterns::universal_failure(graph, match);
  ASSERT_TRUE(failure);
  EXPECT_STREQ(failure->condition, "U2");  // 'y' is a graph output
  ir::Graph open = graph;
  open.replace_uses(graph.outputs()[0].value, graph.inputs()[0]);
  const auto leaves = patterns::universal_failure(open, match);
  ASSERT_TRUE(leaves);
  EXPECT_STREQ(leaves->condition, "U3");
}

TEST(Engine, U4ReplacementOfAnotherShapeLeavesTheGraphAsItWas) {
  ir::Graph graph = typed(k_chain);
  const std::string before = ir::print(graph);
  Journal journal;
  const Match match{{node(graph, "second")}};
  const auto failure = patterns::apply(graph, pattern_with(with_another_shape), match, journal);
  ASSERT_TRUE(failure);
  EXPECT_STREQ(failure->condition, "U4");
  EXPECT_EQ(failure->reason, "output 'b' is f32[2,3], the replacement f32[1,6]");
  EXPECT_EQ(ir::print(graph), before);
  EXPECT_TRUE(journal.applied.empty());
  EXPECT_TRUE(journal.warnings.empty());
}

constexpr const char* k_three_factors = R"(graph g {
  x = input f32[1,2,5,5]
  w = constant f32[2,2,3,3] random(seed=1)
  k = constant f32[] {2}
  a = Conv(x, w)
  b = Mul(a, k)
  c = Mul(b, k)
  d = Mul(c, k)
  output d
})";

TEST(Engine, StopsAfterN) {
  for (int64_t limit = 0; limit <= 4; ++limit) {
    ir::Graph graph = typed(k_three_factors);
    Journal journal;
    patterns::apply_rewrites(graph, journal, {.stop_after = limit});
    EXPECT_EQ(journal.applied.size(), static_cast<size_t>(std::min<int64_t>(limit, 3)));
    EXPECT_EQ(graph.live_node_count(), 4u - journal.applied.size());
  }
}

TEST(Engine, SecondRunChangesNothingAndRefreshesRefusals) {
  ir::Graph graph = typed(R"(graph g {
    x = input f32[1,2,5,5]
    w = constant f32[2,2,3,3] random(seed=1)
    s = constant f32[2] {1, 2}
    n = BatchNormalization(x, s, s, s, s)
    y = Conv(n, w) {pads=[1,1,1,1]}
    output y
  })");
  Journal journal;
  patterns::apply_rewrites(graph, journal);
  const std::string before = ir::print(graph);
  patterns::apply_rewrites(graph, journal);
  EXPECT_EQ(ir::print(graph), before);
  ASSERT_EQ(journal.refused.size(), 1u);
  EXPECT_EQ(journal.refused[0].pattern, "batchnorm_conv");
  EXPECT_EQ(journal.refused[0].nodes.size(), 2u);
}

TEST(Engine, TheSameInputsGiveTheSameGraph) {
  ir::Graph first = typed(k_three_factors), second = typed(k_three_factors);
  Journal journal;
  patterns::apply_rewrites(first, journal);
  patterns::apply_rewrites(second, journal);
  EXPECT_EQ(ir::print(first), ir::print(second));
}

}  // namespace

}  // namespace onepass::test
