// SPDX-License-Identifier: Apache-2.0
//
// Nodes that no routine does: the planner has to refuse them by name.
#include <gtest/gtest.h>

#include "plan/routine_call.h"
#include "runtime/model_builder.h"
#include "runtime/routine_cases.h"

namespace onepass::test {
namespace {

/// Whether the node that computes the first output of the graph has a routine.
bool has_routine(const std::string& body) {
  const ir::Graph graph = typed_graph(body);
  return plan::routine_call(graph, graph.producer(graph.outputs()[0].value)).has_value();
}

TEST(Refusals, OperandsThatAreNotConstant) {
  const std::string most = "m = constant i64[] {3}";
  EXPECT_FALSE(
      has_routine(one_node("f32[1,9,4] f32[1,1,9] f32[]", "NonMaxSuppression(x0, x1, m, x2)", most)));
  EXPECT_TRUE(has_routine(one_node("f32[1,9,4] f32[1,1,9]", "NonMaxSuppression(x0, x1, m)", most)));
}

TEST(Refusals, TypesWithoutARoutine) {
  EXPECT_FALSE(has_routine(one_node("f32[4] i64[4]", "Pow(x0, x1)")));
  EXPECT_FALSE(has_routine(
      one_node("f64[2,3] f64[3] f64[3] f64[3] f64[3]", "BatchNormalization(x0, x1, x2, x3, x4)")));
  EXPECT_FALSE(has_routine(one_node("f64[1,2,4,4] f64[2,2,3,3]", "Conv(x0, x1)")));
  EXPECT_FALSE(has_routine(one_node("u8[4,4]", "ReduceSum(x0)")));
}

TEST(Refusals, WhatAPassDoes) {
  EXPECT_FALSE(has_routine("x = input f32[4]\ny, m = Dropout(x)\noutput y\noutput m\n"));
  EXPECT_TRUE(has_routine("x = input f32[4]\ny, m = Dropout(x)\noutput y\n"));
}

/// `rest` follows r, the rows of a NonMaxSuppression: i64[<=5,3].
std::string behind_rows(const std::string& rest) {
  return "b = input f32[1,9,4]\ns = input f32[1,1,9]\nm = constant i64[] {5}\nr = NonMaxSuppression(b, s, "
         "m)\n" +
         rest + "\noutput y\n";
}

TEST(Refusals, MixingRowsBehindTheCount) {
  EXPECT_FALSE(has_routine(behind_rows("a = constant i64[1] {0}\ny = ReduceMax(r, a)")));
  EXPECT_TRUE(has_routine(behind_rows("a = constant i64[1] {1}\ny = ReduceMax(r, a)")));
  EXPECT_FALSE(has_routine(behind_rows("f = Cast(r) {to=1}\ny = Softmax(f) {axis=0}")));
  EXPECT_TRUE(has_routine(behind_rows("f = Cast(r) {to=1}\ny = Softmax(f) {axis=1}")));
  EXPECT_FALSE(has_routine(behind_rows("y = ArgMax(r) {axis=0}")));
  const std::string two = "o = constant i64[1] {0}\ne = constant i64[1] {2}\n";
  EXPECT_FALSE(has_routine(behind_rows(two + "y = Slice(r, o, e, o)")));
  EXPECT_TRUE(has_routine(behind_rows(two + "a = constant i64[1] {1}\ny = Slice(r, o, e, a)")));
}

}  // namespace
}  // namespace onepass::test
