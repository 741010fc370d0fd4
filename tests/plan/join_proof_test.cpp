// SPDX-License-Identifier: Apache-2.0
//
// The proof of a residual join must be able to fail.
#include "plan/join_proof.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plan/support.h"

namespace onepass::test {
namespace {

using kernels::EpilogueStep;
using kernels::StepOperand;
using patterns::Step;

struct Residual {
  ir::Graph graph;
  plan::Group group;
  Step step;
};

/// r = Conv(x) beside c = Conv(x), and d = `op` of both.
Residual residual(const std::string& operation, ir::Op op, bool accumulator_left) {
  Residual made{.graph = typed_graph("x = input f32[1,12,7,7]\n"
                                     "w = constant f32[20,12,3,3] random(seed=1)\n"
                                     "v = constant f32[20,12,3,3] random(seed=2)\n"
                                     "r = Conv(x, v) {pads=[1,1,1,1]}\n"
                                     "c = Conv(x, w) {pads=[1,1,1,1]}\n"
                                     "d = " +
                                     operation + "\noutput d\n")};
  made.group = {.nodes = {node_named(made.graph, "c")}, .result = value_named(made.graph, "c"), .name = "c"};
  made.step = {.kind = Step::Kind::binary,
               .node = node_named(made.graph, "d"),
               .op = op,
               .operand = value_named(made.graph, "r"),
               .accumulator_left = accumulator_left};
  return made;
}

plan::JoinProof prove(const Residual& r) {
  return plan::prove_join(r.graph, r.group, plan::Family::conv, r.step, plan_target());
}

TEST(JoinProof, HoldsInTheGraphsOperandOrder) {
  for (const Residual& r :
       {residual("Sub(c, r)", ir::Op::Sub, true), residual("Sub(r, c)", ir::Op::Sub, false),
        residual("Add(r, c)", ir::Op::Add, false), residual("Div(r, c)", ir::Op::Div, false),
        residual("Max(c, r)", ir::Op::Max, true)}) {
    const plan::JoinProof proof = prove(r);
    EXPECT_TRUE(proof.holds) << proof.text;
    EXPECT_THAT(proof.text, testing::HasSubstr("values bitwise equal"));
  }
}

TEST(JoinProof, KeepsAMapOfOneRowAndOneBlockAMap) {
  Residual r{.graph = typed_graph(R"(
    x = input f32[1,8,1,2]
    w = constant f32[8,8,3,3] random(seed=1)
    s = input f32[1,8,1,2]
    c = Conv(x, w) {pads=[1,1,1,1]}
    d = Add(c, s)
    output d
)")};
  r.group = {.nodes = {node_named(r.graph, "c")}, .result = value_named(r.graph, "c")};
  r.step = {.kind = Step::Kind::binary,
            .node = node_named(r.graph, "d"),
            .op = ir::Op::Add,
            .operand = value_named(r.graph, "s")};
  EXPECT_TRUE(prove(r).holds);
}

TEST(JoinProof, FailsInAnotherOperandOrder) {
  for (const Residual& r :
       {residual("Sub(c, r)", ir::Op::Sub, false), residual("Sub(r, c)", ir::Op::Sub, true),
        residual("Div(c, r)", ir::Op::Div, false)}) {
    const plan::JoinProof proof = prove(r);
    EXPECT_FALSE(proof.holds);
    EXPECT_THAT(proof.text, testing::HasSubstr("differ at element"));
  }
}

TEST(JoinProof, FailsForAnotherOperator) {
  EXPECT_FALSE(prove(residual("Add(c, r)", ir::Op::Sub, true)).holds);
}

TEST(JoinProof, FailsForAKernelThatSumsDifferently) {
  const kernels::FeatureMap map = kernels::blocked_map(1, 8, 2, 5, plan_target().vector_lanes);
  EpilogueStep scale{.kind = EpilogueStep::Kind::binary, .op = ir::Op::Mul};
  scale.operand = {.kind = StepOperand::Kind::scalar, .value = 3};
  EpilogueStep add{.kind = EpilogueStep::Kind::binary, .op = ir::Op::Add};
  add.operand = {.kind = StepOperand::Kind::map, .map = map};
  const kernels::ElementwiseSpec first{map, map, {{scale}}}, joined{map, map, {{scale, add}}},
      reordered{map, map, {{add, scale}}};
  const plan::SeparateStep separate{.spec = {map, map, {{add}}}};
  EXPECT_TRUE(plan::compare_bitwise(joined, first, separate, plan_target()).holds);
  EXPECT_FALSE(plan::compare_bitwise(reordered, first, separate, plan_target()).holds);
}

}  // namespace
}  // namespace onepass::test
