// SPDX-License-Identifier: Apache-2.0
#include "ir/verifier.h"

#include <gtest/gtest.h>

#include "ir/parser.h"

namespace onepass::ir {
namespace {

Graph two_nodes() {
  return parse("graph g { x = input f32[4] a: f32[4] = Relu(x) b: f32[4] = Add(a, x) output b }");
}

std::string fault_of(const Graph& graph) {
  try {
    verify(graph);
  } catch (const InternalError& error) {
    return error.what();
  }
  return "no fault";
}

ValueId value_named(const Graph& graph, const std::string& name) {
  for (int32_t i = 0; i < static_cast<int32_t>(graph.value_capacity()); ++i)
    if (graph.value({i}).name == name) return {i};
  return {};
}

TEST(Verifier, AcceptsASoundGraph) {
  EXPECT_EQ(fault_of(two_nodes()), "no fault");
}

TEST(Verifier, AcceptsAGraphAfterEdits) {
  Graph graph = two_nodes();
  graph.replace_uses(value_named(graph, "a"), value_named(graph, "x"));
  graph.remove_node({0});
  EXPECT_EQ(fault_of(graph), "no fault");
}

TEST(Verifier, FindsDanglingIds) {
  Graph graph = two_nodes();
  graph.node({1}).inputs[0] = {99};
  EXPECT_EQ(fault_of(graph), "verifier: node 'Add_b' (Add) reads a value that does not exist");
}

TEST(Verifier, FindsMissingUses) {
  Graph graph = two_nodes();
  graph.value(value_named(graph, "a")).uses.clear();
  EXPECT_EQ(fault_of(graph), "verifier: node 'Add_b' (Add) is not once in the use list of value 1 'a'");
}

TEST(Verifier, FindsStaleUses) {
  Graph graph = two_nodes();
  graph.value(value_named(graph, "a")).uses.push_back({{0}, 0});
  EXPECT_EQ(fault_of(graph), "verifier: value 1 'a' lists a reader that does not read it");
}

TEST(Verifier, FindsWrongProducers) {
  Graph graph = two_nodes();
  graph.value(value_named(graph, "a")).producer = {1};
  EXPECT_EQ(fault_of(graph), "verifier: node 'Relu_a' (Relu) is not the producer of its own value 1 'a'");
}

TEST(Verifier, FindsValuesThatNobodyComputes) {
  Graph graph = two_nodes();
  graph.set_input({1}, 0, graph.add_value("lost", {DType::f32, {4}}));
  EXPECT_EQ(fault_of(graph), "verifier: node 'Add_b' (Add) reads value 3 'lost', which nobody computes");
}

TEST(Verifier, FindsWrongOperandCounts) {
  Graph graph = two_nodes();
  graph.set_input({1}, 1, {});
  EXPECT_EQ(fault_of(graph), "verifier: node 'Add_b' (Add) lacks input 1");
  graph.node({1}).inputs.pop_back();
  EXPECT_EQ(fault_of(graph), "verifier: node 'Add_b' (Add) has 1 inputs");
}

TEST(Verifier, FindsMissingTypes) {
  Graph graph = two_nodes();
  graph.value(value_named(graph, "a")).type = {};
  EXPECT_EQ(fault_of(graph), "verifier: value 1 'a' has no type");
}

TEST(Verifier, FindsCycles) {
  Graph graph = two_nodes();
  graph.set_input({0}, 0, value_named(graph, "b"));
  EXPECT_NE(fault_of(graph).find("cycle"), std::string::npos);
}

}  // namespace
}  // namespace onepass::ir
