// SPDX-License-Identifier: Apache-2.0
#include "plan/grouping.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "plan/support.h"

namespace onepass::test {
namespace {

using plan::Decision;
using plan::Plan;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> group_names(const Plan& plan) {
  std::vector<std::string> names;
  for (const plan::Group& group : plan.groups) names.push_back(group.name);
  return names;
}

Decision only(const std::vector<Decision>& decisions) {
  EXPECT_EQ(decisions.size(), 1U);
  return decisions.empty() ? Decision{} : decisions.front();
}

constexpr const char* k_two_convolutions_meet = R"(
    x = input f32[1,8,6,6]
    w = constant f32[8,8,3,3] random(seed=1)
    v = constant f32[8,8,3,3] random(seed=2)
    a = Conv(x, w) {pads=[1,1,1,1]}
    b = Conv(x, v) {pads=[1,1,1,1]}
    s = Add(a, b)
    y = Relu(s)
    output y
)";

TEST(Grouping, AChainIsOneGroup) {
  const Plan plan = plan_of(R"(
    x = input f32[1,8,6,6]
    w = constant f32[8,8,3,3] random(seed=1)
    k = constant f32[8,1,1] random(seed=2)
    a = Conv(x, w)
    b = Mul(a, k)
    c = Relu(b)
    d = Tanh(c)
    output d
)");
  EXPECT_THAT(group_names(plan), ElementsAre("a + b + c + d"));
  EXPECT_THAT(plan.groups[0].joined_by,
              ElementsAre("conv_residual_activation", "conv_activation", "conv_activation"));
  for (const Decision& decision : plan.decisions) {
    EXPECT_TRUE(decision.fused) << decision.reason;
    EXPECT_FALSE(decision.branched);
    EXPECT_GT(decision.fused_ns, 0);
    EXPECT_GT(decision.split_ns, decision.fused_ns);
  }
}

TEST(Grouping, TheLaterConvolutionTakesTheAdd) {
  const Plan plan = plan_of(k_two_convolutions_meet);
  EXPECT_THAT(group_names(plan), ElementsAre("a", "b + s + y"));
  const Decision refused = only(decisions_between(plan, "a", "s"));
  EXPECT_FALSE(refused.fused);
  EXPECT_TRUE(refused.branched);
  EXPECT_EQ(refused.condition, "taken");
  EXPECT_THAT(refused.reason, HasSubstr("'s' already belongs to the kernel of 'b'"));
}

TEST(Grouping, AResidualIsJoinedWithItsProof) {
  const Plan plan = plan_of(k_two_convolutions_meet);
  const Decision joined = only(decisions_between(plan, "b", "s"));
  EXPECT_TRUE(joined.fused);
  EXPECT_TRUE(joined.branched);
  EXPECT_EQ(joined.condition, "");
  EXPECT_THAT(joined.reason, HasSubstr("bitwise equal"));
  EXPECT_THAT(joined.reason, HasSubstr("loop interpreter"));
  EXPECT_GT(joined.split_ns, joined.fused_ns);
}

TEST(Grouping, ResidualSplitKeepsEveryBranchedBlockApart) {
  const Plan plan = plan_of(k_two_convolutions_meet, {.join = {.residual = patterns::ResidualMode::split}});
  EXPECT_THAT(group_names(plan), ElementsAre("a", "b", "s + y"));
  const Decision refused = only(decisions_between(plan, "b", "s"));
  EXPECT_FALSE(refused.fused);
  EXPECT_TRUE(refused.branched);
  EXPECT_EQ(refused.condition, "C4");
  EXPECT_FALSE(refused.reason.empty());
}

TEST(Grouping, WithoutJoinsEveryNodeIsAGroup) {
  const Plan plan = plan_of(k_two_convolutions_meet, {.joins = false});
  EXPECT_THAT(group_names(plan), ElementsAre("a", "b", "s", "y"));
  EXPECT_TRUE(plan.decisions.empty());
}

TEST(Grouping, ASharedValueIsToldWhyItDoesNotJoin) {
  const Plan plan = plan_of(R"(
    x = input f32[1,8,6,6]
    w = constant f32[8,8,3,3] random(seed=1)
    a = Conv(x, w)
    b = Relu(a)
    c = Tanh(a)
    output b
    output c
)");
  for (const char* reader : {"b", "c"}) {
    const Decision refused = only(decisions_between(plan, "a", reader));
    EXPECT_FALSE(refused.fused);
    EXPECT_EQ(refused.condition, "U1");
    EXPECT_THAT(refused.reason, HasSubstr("'a'"));
  }
}

TEST(Grouping, AGraphOutputIsNotJoinedOver) {
  const Plan plan = plan_of(R"(
    x = input f32[1,8,6,6]
    w = constant f32[8,8,3,3] random(seed=1)
    a = Conv(x, w)
    b = Relu(a)
    output a
    output b
)");
  EXPECT_THAT(group_names(plan), ElementsAre("a", "b"));
  EXPECT_EQ(only(decisions_between(plan, "a", "b")).condition, "U1");
}

TEST(Grouping, GroupsHaveACap) {
  const Plan plan = plan_of(R"(
    x = input f32[1,8,6,6]
    w = constant f32[8,8,3,3] random(seed=1)
    a = Conv(x, w)
    b = Relu(a)
    c = Tanh(b)
    d = Abs(c)
    e = Neg(d)
    output e
)",
                            {.join = {.max_steps = 2}});
  EXPECT_THAT(group_names(plan), ElementsAre("a + b + c", "d + e"));
  EXPECT_EQ(only(decisions_between(plan, "a", "d")).condition, "U4");
}

TEST(Grouping, ProducersStandBeforeReaders) {
  const ir::Graph graph = typed_graph(R"(
    x = input f32[1,8,6,6]
    w = constant f32[8,8,1,1] random(seed=1)
    late = Conv(x, w)
    g = GlobalAveragePool(late)
    s = Sigmoid(g)
    m = Mul(late, s)
    n = Conv(m, w)
    y = Add(n, late)
    output y
)");
  const plan::Grouping grouping = plan::group_nodes(graph, plan_target(), {});
  std::map<int32_t, size_t> group_of;
  for (size_t g = 0; g < grouping.groups.size(); ++g)
    for (const ir::NodeId id : grouping.groups[g].nodes) group_of[id.index] = g;
  EXPECT_EQ(group_of.size(), graph.live_node_count());
  for (const ir::NodeId id : graph.topological_order())
    for (const ir::ValueId input : graph.node(id).inputs)
      if (graph.producer(input).valid())
        EXPECT_LE(group_of.at(graph.producer(input).index), group_of.at(id.index));
}

TEST(Grouping, AnOperandThatNoKernelReadsStaysSplit) {
  const Plan plan = plan_of(R"(
    x = input f32[1,8,6,6]
    w = constant f32[8,8,3,3] random(seed=1)
    row = constant f32[1,1,1,4] random(seed=2)
    a = Conv(x, w)
    b = Add(a, row)
    output b
)");
  EXPECT_THAT(group_names(plan), ElementsAre("a", "b"));
  const Decision refused = only(decisions_between(plan, "a", "b"));
  EXPECT_FALSE(refused.fused);
  EXPECT_FALSE(refused.condition.empty());
  EXPECT_THAT(refused.reason, HasSubstr("f32[1,1,1,4]"));
}

/// x = Add(x, Mul(x, c)), so many times (B116).
std::string diamonds(int count) {
  std::string text = "x0 = input f32[1,8,4,4]\nc = constant f32[8,1,1] random(seed=1)\n";
  for (int i = 0; i < count; ++i) {
    const std::string x = "x" + std::to_string(i), next = "x" + std::to_string(i + 1),
                      m = "m" + std::to_string(i);
    text += m + " = Mul(" + x + ", c)\n" + next + " = Add(" + x + ", " + m + ")\n";
  }
  return text + "output x" + std::to_string(count) + "\n";
}

TEST(Grouping, B116ALongRowOfDiamondsGivesAPlanOfItsOwnSize) {
  const Plan few = plan_of(diamonds(100)), many = plan_of(diamonds(400));
  EXPECT_LE(many.decisions.size(), 1200U) << "three for a diamond";
  EXPECT_LE(many.launches.size(), 4 * few.launches.size() + 4);
  EXPECT_LE(many.launches.size(), 801U);
  EXPECT_LE(many.kernels.size(), few.kernels.size());
  EXPECT_EQ(many.arena_bytes, few.arena_bytes);
  for (const plan::Group& group : many.groups) EXPECT_LE(group.steps.size(), 16U);
}

}  // namespace
}  // namespace onepass::test
